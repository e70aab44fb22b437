"""Coarse numbers of components against a plain search, and what they keep from the reader."""

from __future__ import annotations

import numpy as np

from shoal.sparse.coarse import coarse_counts


def test_the_next_lower_number_of_the_grid_is_taken() -> None:
    grid = sorted({0} | {2**i for i in range(14)} | {3 * 2**i for i in range(13)})
    counts = np.arange(5000)
    assert coarse_counts(counts).tolist() == [max(g for g in grid if g <= c) for c in counts.tolist()]


def test_at_most_a_third_is_lost_and_little_is_told() -> None:
    counts = np.arange(1, 4097)
    made = coarse_counts(counts)
    assert ((made > 2 / 3 * counts) & (made <= counts)).all()
    assert len(np.unique(made)) == 24
