"""Compiled loop that makes groups of trajectories whose ways are near one another."""

from __future__ import annotations

import numpy as np

from shoal.arrays import Codes, Floats, Ints
from shoal.kernels.compile import compiled


@compiled
def grow_groups(ways: Floats, near: Ints, seeds: Ints, persons: Codes, k: int, lost: float) -> tuple[Ints, Ints]:
    """Groups of exactly k: a seed, then again and again the one that stretches the hulls of the group least.

    Parameters
    ----------
    ways : float64 array (n, n_stations, 3)
        Where each trajectory is at some stations of its way, and when, in units that are added.
    near : int64 array (n, n_near)
        Those that are tried for each seed.
    seeds : int64 array (n,)
        The order in which groups are begun.
    persons : int32 array (n,)
        Two that are equal here never stand in one group.
    lost : float
        What a station costs at most: beyond it, its points would be left out. None joins who would lose all.

    Returns
    -------
    groups : int64 array (n,)
        From 0 on in the order in which they were made; -1 for those that stand in none.
    begun_by : int64 array (n_groups,)
        The seed of each.
    """
    n, n_stations = ways.shape[0], ways.shape[1]
    groups, begun_by = np.full(n, -1, np.int64), np.empty(n, np.int64)
    members = np.empty(k, np.int64)
    n_groups = 0
    for seed in seeds:
        if groups[seed] >= 0:
            continue
        low, high = ways[seed].copy(), ways[seed].copy()
        members[0], m = seed, 1
        while m < k:
            best, chosen = lost * n_stations, -1
            for other in near[seed]:
                if groups[other] >= 0 or other == seed:
                    continue
                is_known = False
                for i in range(m):
                    is_known |= persons[members[i]] == persons[other]
                if is_known:
                    continue
                cost = 0.0
                for s in range(n_stations):
                    north = max(high[s, 0], ways[other, s, 0]) - min(low[s, 0], ways[other, s, 0])
                    east = max(high[s, 1], ways[other, s, 1]) - min(low[s, 1], ways[other, s, 1])
                    long = max(high[s, 2], ways[other, s, 2]) - min(low[s, 2], ways[other, s, 2])
                    cost += min(0.5 * (max(north, east) + long), lost)
                if cost < best:
                    best, chosen = cost, other
            if chosen < 0:
                break
            low, high = np.minimum(low, ways[chosen]), np.maximum(high, ways[chosen])
            members[m] = chosen
            m += 1
        if m == k:
            for i in range(k):
                groups[members[i]] = n_groups
            begun_by[n_groups] = seed
            n_groups += 1
    return groups, begun_by[:n_groups]
