"""Greedy k-member clusters of a few thousand records, by scans over columns that the processor does eight at a time.

The clusters are those of Byun et al. (DASFAA 2007): one starts at the record farthest from the one that was added last
and takes in, one at a time, the record that widens it least; here only one of a person that it does not hold yet. What
is left when no k persons are left joins the clusters that it adds least to. Columns lie one after the other, in floats
of 32 bits, and records that were taken give their place to the last one, so that every scan runs over plain arrays.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from shoal.arrays import Codes, Singles
from shoal.kernels.compile import compiled

Columns = Singles


@compiled
def _add_widths(column: Columns, n: int, low: Any, high: Any, weight: Any, sums: Columns) -> None:
    """Add to each sum how wide a box is in this column with the record in it, 1 at most."""
    most = np.float32(1)
    for i in range(n):
        value = column[i]
        above = value if value > high else high
        below = value if value < low else low
        width = above - below
        sums[i] += weight * (width if width < most else most)


@compiled
def group_window(columns: Columns, weights: Columns, persons: Codes, k: int, labels: Codes) -> int:
    """Label records by their cluster; return how many clusters there are, 0 where there are no k persons.

    Parameters
    ----------
    columns : float32 array (n_columns, n_records)
        As `shoal.tables.information_loss.width_points` lays records out, one row a column.
    weights : float32 array (n_columns,)
    persons : int32 array (n_records,)
        Whose each record is, from 0.
    labels : int32 array (n_records,)
        What is filled; -1 everywhere where there are no k persons.
    """
    d, n = columns.shape
    alive, ids, whose = columns.copy(), np.arange(n), persons.copy()
    sums = np.zeros(n, np.float32)
    low, high, last = np.zeros(d, np.float32), np.zeros(d, np.float32), columns[:, 0].copy()
    lows, highs = np.zeros((d, n // k + 1), np.float32), np.zeros((d, n // k + 1), np.float32)
    sizes = np.zeros(n // k + 1, np.int64)
    left = np.zeros(persons.max() + 1, np.int64)  # records of each person that are in no cluster yet
    for i in range(n):
        left[persons[i]] += 1
    n_persons = np.count_nonzero(left)
    seen = np.full(len(left), -1, np.int64)
    n_alive, n_groups = n, 0
    labels[:] = -1
    while n_persons >= k:
        for size in range(k):
            sums[:n_alive] = 0
            for j in range(d):
                if size == 0:
                    _add_widths(alive[j], n_alive, last[j], last[j], weights[j], sums)
                else:
                    _add_widths(alive[j], n_alive, low[j], high[j], weights[j], sums)
            best = -1
            if size == 0:
                far = np.float32(-1)
                for i in range(n_alive):
                    if sums[i] > far:
                        best, far = i, sums[i]
            else:
                least = np.float32(np.inf)
                for i in range(n_alive):
                    if sums[i] < least and seen[whose[i]] != n_groups:
                        best, least = i, sums[i]
            for j in range(d):
                value = alive[j, best]
                low[j] = value if size == 0 or value < low[j] else low[j]
                high[j] = value if size == 0 or value > high[j] else high[j]
                last[j] = value
            labels[ids[best]] = n_groups
            seen[whose[best]] = n_groups
            left[whose[best]] -= 1
            n_persons -= left[whose[best]] == 0
            n_alive -= 1
            for j in range(d):
                alive[j, best] = alive[j, n_alive]
            ids[best], whose[best] = ids[n_alive], whose[n_alive]
        lows[:, n_groups], highs[:, n_groups], sizes[n_groups] = low, high, k
        n_groups += 1
    if n_groups > 0:
        for i in range(n_alive):
            best, least = 0, np.inf
            for group in range(n_groups):
                before, after = np.float32(0), np.float32(0)
                for j in range(d):
                    value = alive[j, i]
                    before += weights[j] * min(highs[j, group] - lows[j, group], np.float32(1))
                    wider = max(highs[j, group], value) - min(lows[j, group], value)
                    after += weights[j] * min(wider, np.float32(1))
                cost = after * (sizes[group] + 1) - before * sizes[group]
                if cost < least:
                    best, least = group, cost
            labels[ids[i]] = best
            sizes[best] += 1
            for j in range(d):
                lows[j, best] = min(lows[j, best], alive[j, i])
                highs[j, best] = max(highs[j, best], alive[j, i])
    return n_groups
