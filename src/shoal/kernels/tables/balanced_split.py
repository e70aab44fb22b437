"""Cut a bucket of persons into near groups in which each sensitive value stays as frequent as the others.

As in the splitting step of m-invariance (Xiao and Tao, SIGMOD 2007, section 5.4): the persons of each value are sorted
by an attribute, all lists are cut at the same place, and the attribute is taken whose halves lose least.
"""

from __future__ import annotations

import numpy as np

from shoal.arrays import Floats, Ints
from shoal.kernels.compile import compiled


@compiled
def _loss(points: Floats, weights: Floats, rows: Ints) -> float:
    """The width of a group times its rows, which stand in the rows of an array, one value each."""
    total = 0.0
    for j in range(len(weights)):
        low, high = np.inf, -np.inf
        for v in range(rows.shape[0]):
            for i in range(rows.shape[1]):
                cell = points[rows[v, i], j]
                low, high = min(low, cell), max(high, cell)
        total += weights[j] * min(high - low, 1.0)
    return total * rows.size


@compiled
def _sorted(points: Floats, rows: Ints, j: int) -> Ints:
    """The same rows, those of each value in the order of a column; equal ones as they stood."""
    made = np.empty_like(rows)
    for v in range(rows.shape[0]):
        cells = np.empty(rows.shape[1])
        for i in range(rows.shape[1]):
            cells[i] = points[rows[v, i], j]
        order = np.argsort(cells, kind="mergesort")
        for i in range(rows.shape[1]):
            made[v, i] = rows[v, order[i]]
    return made


@compiled
def split_bucket(points: Floats, weights: Floats, rows: Ints, least: int, first: int, labels: Ints) -> int:
    """Label the rows of a bucket by group, from `first` on; the number after the last.

    Parameters
    ----------
    points, weights
        As `shoal.tables.information_loss.width_points` lays them out.
    rows : int64 array (n_values, n_each)
        The rows of each value; it is sorted in place.
    least : int
        How often each value has to stand in a group at least.
    labels : int64 array (n_rows,)
        Takes the groups.
    """
    n_each = rows.shape[1]
    begins, ends = np.empty(n_each + 1, dtype=np.int64), np.empty(n_each + 1, dtype=np.int64)
    begins[0], ends[0] = 0, n_each
    n_open, label = 1, first
    while n_open:
        n_open -= 1
        begin, end = begins[n_open], ends[n_open]
        here = rows[:, begin:end].copy()
        best, middle = -1, (end - begin) // 2
        lowest = _loss(points, weights, here)
        if middle >= least:
            for j in range(len(weights)):
                tried = _sorted(points, here, j)
                loss = _loss(points, weights, tried[:, :middle].copy())
                loss += _loss(points, weights, tried[:, middle:].copy())
                if loss < lowest:
                    best, lowest = j, loss
        if best < 0:
            for v in range(here.shape[0]):
                for i in range(here.shape[1]):
                    labels[here[v, i]] = label
            label += 1
            continue
        rows[:, begin:end] = _sorted(points, here, best)
        begins[n_open], ends[n_open] = begin, begin + middle
        begins[n_open + 1], ends[n_open + 1] = begin + middle, end
        n_open += 2
    return label
