"""Groups of near records, and pools of neighbouring groups."""

from __future__ import annotations

import numpy as np

from shoal.data.sparse.records import Sparse
from shoal.sparse.near_groups import NearGroups, near_groups, tf_idf_rows


def clustered(n: int = 300) -> Sparse:
    rng = np.random.default_rng(0)
    rows = [[f"c{i % 3}{x}" for x in rng.choice(8, 4, replace=False)] for i in range(n)]
    return Sparse.of(rows, [str(i % 2) for i in range(n)])


def test_groups_have_k_records_of_one_class_and_hold_like_ones() -> None:
    records = clustered()
    found = near_groups(records, 7, np.random.default_rng(1))
    sizes = np.diff(found.starts)
    assert sizes.min() >= 7
    assert sizes.max() < 14
    assert sorted(found.order.tolist()) == list(range(len(records)))
    topic = np.array([int(records.names[records.items[s]][1]) for s in records.starts[:-1]])
    pure = 0
    for low, high in zip(found.starts[:-1], found.starts[1:], strict=True):
        rows = found.order[low:high]
        assert len(set(records.labels[rows].tolist())) == 1
        pure += len(set(topic[rows].tolist())) == 1
    assert pure > 0.7 * found.n_groups


def test_pools_are_runs_of_groups_and_never_cross_classes() -> None:
    found = NearGroups(np.arange(14, dtype=np.int32), np.arange(0, 15, 2), np.array([0, 4, 7]))
    assert found.n_levels == 3
    for level, expected in ((0, [0, 1, 2, 3, 4, 5, 6]), (1, [0, 0, 1, 1, 2, 2, 3]), (2, [0, 0, 0, 0, 1, 1, 1])):
        pool_of, starts = found.pools(level)
        assert pool_of.tolist() == expected
        assert starts.tolist() == [2 * expected.index(p) for p in sorted(set(expected))] + [14]


def test_rows_are_of_length_one_and_rare_items_weigh_more() -> None:
    records = Sparse.of([["common", "rare"], ["common"], ["common", "other"]])
    weights = tf_idf_rows(records)
    assert np.allclose(records.sums(weights.astype(float) ** 2), 1)
    assert weights[1] > weights[0]
