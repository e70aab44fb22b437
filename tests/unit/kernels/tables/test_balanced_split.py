"""Balanced cuts beside a slow twin."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.kernels.compile import interpreted
from shoal.kernels.tables.balanced_split import split_bucket


def loss(points, weights, rows):
    some = points[np.concatenate(rows)]
    return float((np.minimum(some.max(axis=0) - some.min(axis=0), 1.0) * weights).sum()) * len(some)


def slow_split(points, weights, lists, least):
    """The groups of a bucket, cut again and again where the halves lose least."""
    middle = len(lists[0]) // 2
    best, lowest = None, loss(points, weights, lists)
    for j in range(points.shape[1]) if middle >= least else ():
        tried = [sorted(rows, key=lambda r: points[r, j]) for rows in lists]
        halves = [[r[:middle] for r in tried], [r[middle:] for r in tried]]
        total = sum(loss(points, weights, h) for h in halves)
        if total < lowest:
            best, lowest = halves, total
    if best is None:
        return [sorted(r for rows in lists for r in rows)]
    return slow_split(points, weights, best[0], least) + slow_split(points, weights, best[1], least)


@pytest.mark.parametrize("seed", range(6))
def test_it_cuts_as_the_slow_twin_does(seed):
    rng = np.random.default_rng(seed)
    points, weights = rng.integers(0, 8, (30, 3)) / 8, np.array([1.0, 0.5, 1.0])
    rows = rng.permutation(30).reshape(3, 10)
    labels = np.full(30, -1, dtype=np.int64)
    expected = slow_split(points, weights, [list(r) for r in rows.tolist()], 2)
    with interpreted(True):
        n = split_bucket(points, weights, rows.copy(), 2, 4, labels)
    found = [np.flatnonzero(labels == g).tolist() for g in range(4, n)]
    assert sorted(found) == sorted(expected)
