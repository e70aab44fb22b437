"""Groups of near records, and pools of neighbouring groups."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.data.sparse.record_rows import RecordRows
from shoal.data.sparse.records import Sparse
from shoal.errors import Infeasible
from shoal.sparse.near_groups import MOST_CLASSES, NearGroups, class_pulls, near_groups, tf_idf_rows


def tf_idf(records: Sparse) -> np.ndarray:
    return tf_idf_rows(RecordRows.of(records)).part(0, len(records)).values[1]


def clustered(n: int = 300) -> Sparse:
    rng = np.random.default_rng(0)
    rows = [[f"c{i % 3}{x}" for x in rng.choice(8, 4, replace=False)] for i in range(n)]
    return Sparse.of(rows, [str(i % 2) for i in range(n)])


def test_groups_have_k_records_of_one_class_and_hold_like_ones() -> None:
    records = clustered()
    found = near_groups(RecordRows.of(records), 7, np.random.default_rng(1))
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
    weights = tf_idf(records)
    assert np.allclose(records.sums(weights.astype(float) ** 2), 1)
    assert weights[1] > weights[0]


def three_topics(n: int = 240) -> Sparse:
    """Each class has words of its own and, of half of its records each, words of one of the two other classes."""
    rng = np.random.default_rng(3)
    rows, labels = [], []
    for i in range(n):
        own, other = i % 3, (i + 1 + (i // 3) % 2) % 3
        words = [f"w{own}{x}" for x in rng.choice(12, 6, replace=False)]
        rows.append(words + [f"w{other}{x}" for x in rng.choice(12, 3, replace=False)])
        labels.append(str(own))
    return Sparse.of(rows, labels)


def slow_pulls(records: Sparse) -> np.ndarray:
    weights, labels = tf_idf(records), records.labels
    dense = np.zeros((len(records), records.n_items))
    for row in range(len(records)):
        for e in range(records.starts[row], records.starts[row + 1]):
            dense[row, records.items[e]] = weights[e]
    centres = [dense[labels == c].sum(axis=0) for c in range(int(labels.max()) + 1)]
    found = np.array([[row @ c / np.linalg.norm(c) for c in centres] for row in dense])
    for c in range(len(centres)):
        found[labels == c] -= found[labels == c].mean(axis=0)
    return found / np.linalg.norm(found, axis=1, keepdims=True)


def test_pulls_are_products_with_directions_of_classes_beyond_those_of_the_own_class() -> None:
    records = three_topics()
    made = class_pulls(records.starts, records.items, tf_idf(records), records.n_items, records.labels.astype(np.int64))
    assert np.allclose(made, slow_pulls(records), atol=1e-4)


def test_of_many_classes_the_nearest_count() -> None:
    rng = np.random.default_rng(4)
    n_classes = MOST_CLASSES + 8
    rows = [[f"w{(i + x) % n_classes}" for x in rng.choice(4, 2, replace=False)] for i in range(6 * n_classes)]
    records = Sparse.of(rows)
    labels = np.arange(len(records)) % n_classes
    made = class_pulls(records.starts, records.items, tf_idf(records), records.n_items, labels)
    assert made.shape == (len(records), MOST_CLASSES)
    lengths = np.linalg.norm(made, axis=1)
    assert np.allclose(lengths[lengths > 0.5], 1, atol=1e-4)
    assert (lengths > 0.5).mean() > 0.9


def test_groups_by_pulls_are_drawn_towards_one_class() -> None:
    records = three_topics()
    found = near_groups(RecordRows.of(records), 7, np.random.default_rng(1), by_pulls=True)
    assert np.diff(found.starts).min() >= 7
    assert sorted(found.order.tolist()) == list(range(len(records)))
    own = np.array([int(records.classes[label]) for label in records.labels])
    words = np.array([int(name[1]) for name in records.names])
    pure = 0
    for low, high in zip(found.starts[:-1], found.starts[1:], strict=True):
        rows = found.order[low:high]
        assert len(set(records.labels[rows].tolist())) == 1
        towards = set()
        for row in rows:
            held = words[records.items[records.starts[row] : records.starts[row + 1]]]
            towards.add(int(next(w for w in held if w != own[row])))
        pure += len(towards) == 1
    assert pure > 0.9 * found.n_groups


def test_of_two_classes_pulls_say_nothing_and_nearness_decides() -> None:
    records = clustered()
    one, other = (near_groups(RecordRows.of(records), 7, np.random.default_rng(1), by_pulls=by) for by in (False, True))
    assert np.array_equal(one.order, other.order)


def test_a_leaf_that_does_not_fit_is_refused() -> None:
    with pytest.raises(Infeasible, match=r"groups are made among records that hold 1,800 items together"):
        near_groups(RecordRows.of(clustered(900)), 20, np.random.default_rng(1), room=1500)
