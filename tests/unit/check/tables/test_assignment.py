"""Rows that no record is left for, against all ways of assigning them."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from shoal.check.tables.assignment import count_unplaced


def slow_unplaced(fits: np.ndarray) -> int:
    """The fewest rows without a record of their own, of all assignments."""
    n_rows = len(fits)
    padded = np.hstack([fits, np.zeros((n_rows, n_rows), bool)])
    best = max(sum(padded[i, p] for i, p in enumerate(way)) for way in permutations(range(padded.shape[1]), n_rows))
    return n_rows - int(best)


@pytest.mark.parametrize("seed", range(12))
def test_as_many_rows_are_placed_as_can_be(seed: int) -> None:
    rng = np.random.default_rng(seed)
    fits = rng.random((4, int(rng.integers(2, 5)))) < rng.choice([0.2, 0.4, 0.6])
    row, record = np.nonzero(fits)
    ones = [np.ones(n, np.int64) for n in fits.shape]
    assert count_unplaced(row, record, *ones) == slow_unplaced(fits)


def test_many_alike_are_counted_together() -> None:
    """Two kinds of rows, 5 and 3 of them; 4 records fit the first, 2 both."""
    row, record = np.array([0, 0, 1]), np.array([0, 1, 1])
    assert count_unplaced(row, record, np.array([5, 3]), np.array([4, 2])) == 2
