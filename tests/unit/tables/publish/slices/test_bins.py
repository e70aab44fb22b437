"""The tests of `tables/slicing/bins.py`."""

from __future__ import annotations

import numpy as np

from shoal.tables.encoding import Ranked
from shoal.tables.publish.slices.bins import N_BINS, binned


def ranked_of(values, kind="category", has_missing=False):
    distinct, ranks = np.unique(values, return_inverse=True)
    positions = np.arange(len(distinct), dtype=float)
    if has_missing:
        positions[-1] = np.nan
    return Ranked("x", kind, ranks.astype(np.int32), positions, has_missing=has_missing)


def test_bins_of_numbers_hold_neighbours_and_about_equally_many() -> None:
    found = binned(ranked_of(np.arange(1000), "number"))
    assert found.n_bins == N_BINS
    assert (np.diff(found.of_rank) >= 0).all()
    assert np.ptp(np.bincount(found.codes)) <= 2


def test_bins_of_categories_keep_the_frequent_and_missing_has_its_own() -> None:
    values = np.repeat(np.arange(40), np.arange(40, 0, -1))
    found = binned(ranked_of(values, has_missing=True))
    assert found.n_bins == N_BINS + 1
    assert found.of_rank[:15].tolist() == list(range(15))
    assert set(found.of_rank[15:39]) == {15}
    assert found.of_rank[39] == 16
