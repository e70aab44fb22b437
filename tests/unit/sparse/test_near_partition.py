"""The tests of `sparse/near_partition.py`."""

from __future__ import annotations

import numpy as np

from shoal.sparse import near_partition


def test_large_clusters_are_cut_where_equal_records_stay_together():
    rng = np.random.default_rng(0)
    clusters = np.sort(rng.integers(0, 3, 1000)).astype(np.int32)
    rows = rng.permutation(1000).astype(np.int32)
    squares = rng.integers(1, 5, 1000).astype(np.float64)
    order, units = near_partition.cut_units(clusters, rows, squares, 100)
    assert np.bincount(units).max() <= 100
    assert (np.diff(units) >= 0).all()
    assert sorted(order) == list(range(1000))
    for unit in range(units[-1] + 1):
        members = order[units == unit]
        assert len(set(clusters[members])) == 1
        assert (np.diff(squares[members]) >= 0).all()
        same = rows[clusters == clusters[members[0]]]
        between = (same >= rows[members].min()) & (same <= rows[members].max())
        assert between.sum() == len(members)
