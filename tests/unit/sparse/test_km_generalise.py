"""Items become nodes of a hierarchy, no higher than it takes, and no combination of labels is rare."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.data.sparse.records import Sparse
from shoal.data.tables.hierarchy import Hierarchy
from shoal.errors import DataError, Infeasible
from shoal.sparse.km_generalise import ItemTree, generalise, generalised, specialised
from tests.unit.sparse.slow_combinations import random_lists, rare, sets_of

TREE = Hierarchy(tuple((f"i{j:02}", f"g{j // 3}", f"h{j // 6}", "*") for j in range(12)))


def test_nodes_know_their_parents_and_their_share() -> None:
    tree = ItemTree.of(TREE)
    at = {label: i for i, label in enumerate(tree.labels)}
    assert tree.labels[-1] == "*"
    assert tree.parents[at["i04"]] == at["g1"]
    assert tree.parents[at["h1"]] == tree.parents[at["*"]] == at["*"]
    assert tree.shares[[at["i00"], at["g0"], at["h0"], at["*"]]].tolist() == [0, 0.25, 0.5, 1]
    with pytest.raises(DataError, match=r"1 of 2 items have no row in the item hierarchy"):
        tree.nodes_of(("i00", "x"))


@pytest.mark.parametrize("m", [1, 2, 3])
def test_no_combination_of_labels_is_rare(m: int) -> None:
    for seed in range(3):
        records = Sparse.of(random_lists(np.random.default_rng(seed), 60, 12, 5))
        labels = generalise(records, 3, m, TREE)
        assert set(labels) == set(TREE.leaves)
        shown = sets_of(generalised(records, labels))
        assert not rare(shown, 3, m)
        assert [frozenset(labels[i] for i in row) for row in sets_of(records)] == shown


def test_nothing_rises_that_need_not() -> None:
    records = Sparse.of([["i00", "i06"]] * 3 + [["i03"]] * 2 + [["i04"]] * 2)
    labels = generalise(records, 3, 2, TREE)
    assert {name: label for name, label in labels.items() if name in records.names} == {
        "i00": "i00",
        "i06": "i06",
        "i03": "g1",
        "i04": "g1",
    }
    assert labels["i05"] == "g1"


def test_a_label_stands_for_one_of_its_items() -> None:
    records = Sparse.of([["i03"], ["i04", "i05"], []] * 4)
    labels = generalise(records, 8, 1, TREE)
    with pytest.raises(Infeasible, match="fewer than k = 9 records"):
        generalise(records, 9, 1, TREE)
    back = specialised(generalised(records, labels), labels, np.random.default_rng(0))
    assert all(
        labels[i] in row
        for row, items in zip(sets_of(generalised(records, labels)), sets_of(back), strict=True)
        for i in items
    )
    assert [len(r) for r in sets_of(back)] == [1, 1, 0] * 4
    assert not len(generalised(Sparse.of([["unknown"]]), labels).items)
