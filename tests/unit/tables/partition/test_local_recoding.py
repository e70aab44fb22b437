"""Local recoding: what must hold for every table. The steps are compared with slow twins in the tests of the kernel."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from shoal.data.tables.hierarchy import Hierarchy
from shoal.errors import DataError, Infeasible, PolicyError
from shoal.tables.encoding import Ranked
from shoal.tables.information_loss import information_loss
from shoal.tables.partition import local_recoding
from shoal.tables.partition.full_domain import leaf_counts
from shoal.tables.partition.local_recoding import LocalRecoding, local_recoding_labels
from shoal.tables.partition.mondrian import mondrian_labels


def mixed_table(seed: int, n_rows: int) -> list[Ranked]:
    rng = np.random.default_rng(seed)
    hidden = rng.normal(size=n_rows)
    number, ranks = np.unique(np.round(hidden + rng.normal(size=n_rows), 1), return_inverse=True)
    tree = np.column_stack([np.arange(12), np.arange(12) // 2, np.arange(12) // 4, np.zeros(12)]).astype(np.int32)
    leaf = np.clip(np.round(3 * hidden + 6), 0, 11).astype(np.int32)
    word = np.minimum(rng.geometric(0.4, n_rows) - 1, 6).astype(np.int32)
    return [
        Ranked("number", "number", ranks.astype(np.int32), number),
        Ranked("tree", "tree", leaf, np.arange(12.0), tree),
        Ranked("word", "category", word, np.append(np.arange(6.0), np.nan), has_missing=True),
    ]


def contents(ranked: list[Ranked], labels: np.ndarray) -> Counter:
    """The groups as what stands in them, whatever their numbers and the order of rows."""
    cells = np.column_stack([r.ranks for r in ranked])
    order = np.lexsort((*cells.T, labels))
    parts = np.split(cells[order], np.cumsum(np.bincount(labels))[:-1])
    return Counter(p.tobytes() for p in parts)


@pytest.mark.parametrize("k", [2, 5, 30])
@pytest.mark.parametrize("n_rows", [30, 61, 2000])
def test_groups_hold_at_least_k(n_rows: int, k: int) -> None:
    labels = local_recoding_labels(mixed_table(n_rows, n_rows), k)
    sizes = np.bincount(labels)
    assert labels.dtype == np.int32
    assert len(labels) == n_rows
    assert sizes.min() >= k
    assert len(sizes) > n_rows // (3 * k)


def test_order_of_rows_does_not_matter() -> None:
    ranked = mixed_table(1, 1500)
    rows = np.random.default_rng(2).permutation(1500)
    shuffled = [r.take(rows) for r in ranked]
    assert contents(ranked, local_recoding_labels(ranked, 4)) == contents(shuffled, local_recoding_labels(shuffled, 4))


@pytest.mark.parametrize("k", [2, 5, 40])
@pytest.mark.parametrize("n_rows", [60, 3000])
def test_equal_records_stand_together_whether_a_row_is_one_or_several(n_rows: int, k: int) -> None:
    ranked = mixed_table(n_rows, n_rows)
    cells = np.column_stack([r.ranks for r in ranked])
    _, first, alike, counts = np.unique(cells, axis=0, return_index=True, return_inverse=True, return_counts=True)
    alike = alike.reshape(-1)
    labels = local_recoding_labels(ranked, k)
    assert np.array_equal(labels, labels[first][alike])
    assert len(first) < n_rows
    found = local_recoding_labels([r.take(first) for r in ranked], k, weights=counts.astype(np.int32))
    assert np.array_equal(found[alike], labels)
    some = np.flatnonzero(counts > 1)  # what a row stands for may be told in two places
    rows, weights = np.append(first, first[some]), np.append(np.where(counts > 1, 1, counts), counts[some] - 1)
    found = local_recoding_labels([r.take(rows) for r in ranked], k, weights=weights.astype(np.int32))
    assert np.array_equal(found[: len(first)][alike], labels)
    assert np.array_equal(found[len(first) :], found[some])


def test_a_kind_that_is_as_many_as_k_may_stand_alone() -> None:
    rng = np.random.default_rng(3)
    counts = rng.integers(1, 9, 60).astype(np.int32)
    number = Ranked("x", "number", np.arange(60, dtype=np.int32), np.sort(rng.random(60)))
    labels = local_recoding_labels([number], 6, weights=counts)
    sizes, n_kinds = np.bincount(labels, counts), np.bincount(labels)
    assert sizes.min() >= 6
    assert (n_kinds[labels[counts >= 6]] == 1).mean() > 0.5  # others joined them, as there were too few elsewhere
    for g in np.flatnonzero(n_kinds == 2):
        assert counts[labels == g].min() < 6
    with pytest.raises(Infeasible, match="there are 11 records, fewer than k = 12"):
        local_recoding_labels([number.take(np.arange(2))], 12, weights=np.array([5, 6], np.int32))


def test_loses_less_than_mondrian() -> None:
    for seed in range(3):
        ranked = mixed_table(seed, 3000)
        loss = information_loss(ranked, local_recoding_labels(ranked, 5))
        assert 0 < loss < 0.8 * information_loss(ranked, mondrian_labels(ranked, 5))


def test_records_that_no_attribute_parts_are_grouped_in_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_recoding, "LARGEST", 50)
    names = Ranked("name", "category", np.arange(501, dtype=np.int32), np.arange(501.0))
    sex = Ranked("sex", "category", np.arange(501, dtype=np.int32) % 2, np.arange(2.0))
    labels = local_recoding_labels([names, sex], 5)
    assert np.bincount(labels).min() >= 5
    pure = np.bincount(labels, weights=sex.ranks) % np.bincount(labels) == 0
    assert pure.all()
    labels = local_recoding_labels([names], 5)
    assert np.bincount(labels).min() >= 5
    assert len(np.unique(labels)) == 100
    runs = [np.ptp(np.flatnonzero(labels == g)) for g in range(100)]
    assert max(runs) < 2 * 50  # nothing in a group is farther apart than a run


def test_copies_stay_together_and_lose_nothing() -> None:
    ranks = np.repeat(np.arange(4), [5, 6, 7, 20]).astype(np.int32)
    labels = local_recoding_labels([Ranked("x", "category", ranks, np.arange(4.0))], 5)
    assert len(np.unique(labels)) == 4
    assert all(len(np.unique(ranks[labels == g])) == 1 for g in range(4))
    assert local_recoding_labels([Ranked("x", "number", ranks[:5], np.arange(4.0))], 5).tolist() == [0] * 5


def test_leaves_of_the_hierarchy_decide() -> None:
    rows = [("a", "x", "*"), ("b", "x", "*"), *((f"c{i}", "y", "*") for i in range(20))]
    wide = Hierarchy(tuple(rows))
    tree = Ranked("t", "tree", np.array([0, 1, 0, 1, 0, 0], np.int32), np.arange(2.0), wide.ancestors(["a", "b"]))
    number = Ranked("n", "number", np.array([0, 0, 1, 1, 2, 2], np.int32), np.array([0.0, 0.5, 1.0]))
    # Among the values of the column, a or b may be anything (1), which is worse than 0 to 0.5 of the numbers.
    by_column = local_recoding_labels([tree, number], 2)
    assert by_column[0] == by_column[2] != by_column[1] == by_column[3]
    # Among the hierarchy's 22 leaves, a or b says nearly all (1 / 21).
    by_hierarchy = local_recoding_labels([tree, number], 2, leaves=[leaf_counts(tree, wide), None])
    assert by_hierarchy[0] == by_hierarchy[1] != by_hierarchy[2] == by_hierarchy[3]


def test_what_cannot_be_grouped_is_refused() -> None:
    ranked = mixed_table(0, 10)
    with pytest.raises(Infeasible, match="fewer than k = 11"):
        local_recoding_labels(ranked, 11)
    with pytest.raises(PolicyError, match="k must be"):
        local_recoding_labels(ranked, 1)
    with pytest.raises(DataError, match="taxonomy of 'x' is missing"):
        local_recoding_labels([Ranked("x", "tree", np.zeros(3, np.int32), np.arange(1.0))], 2)


def test_in_the_manner_of_scikit_learn() -> None:
    model = LocalRecoding(k=2).fit([[1.0], [2.0], [8.0], [9.0], [9.5]])
    assert model.labels_.tolist() == [0, 0, 1, 1, 1]
    assert model.get_params() == {"k": 2}
