"""Items are numbered by class, the most frequent first, and rare ones are left out."""

from __future__ import annotations

import numpy as np

from shoal.data.sparse.records import Sparse
from shoal.sparse.combinations import coded, only_items

RECORDS = Sparse.of([["b", "c"], ["a", "b"], ["b"], [], ["a", "b", "c"], ["c", "rare"]])


def test_the_most_frequent_item_is_the_first_and_rare_ones_are_out() -> None:
    made = coded(RECORDS, 2)
    assert [RECORDS.names[key] for key in made.keys.tolist()] == ["b", "c", "a"]
    assert made.items.tolist() == [0, 1, 0, 2, 0, 0, 1, 2, 1]
    assert [RECORDS.names[i] for i in RECORDS.items[made.entries]] == ["b", "c", "b", "a", "b", "b", "c", "a", "c"]
    assert made.supports().tolist() == [4, 3, 2]
    keys, counts, rare = made.counted(1, 3)
    assert (keys.tolist(), counts.tolist(), rare.tolist()) == ([0, 1], [4, 3], [0, 0, 1])
    assert made.counted(2)[0].tolist() == [1, 2, 5]


def test_an_item_of_another_class_is_another_item() -> None:
    labelled = RECORDS.with_labels(list("xxyyyy"))
    made = coded(labelled, 2)
    assert sorted((labelled.classes[k // 4], labelled.names[k % 4]) for k in made.keys.tolist()) == [
        ("x", "b"),
        ("y", "b"),
        ("y", "c"),
    ]


def test_records_of_an_owner_stand_together_and_count_once() -> None:
    made = coded(RECORDS, 2, np.array([1, 0, 1, 0, 0, 2]))
    assert made.rows.tolist() == [1, 3, 4, 0, 2, 5]
    assert made.owners.tolist() == [0, 0, 0, 1, 1, 2]
    assert {RECORDS.names[k]: n for k, n in zip(made.keys.tolist(), made.supports().tolist(), strict=True)} == {
        "b": 2,
        "c": 3,
    }


def test_weights_do_not_stay() -> None:
    counts = Sparse.of([{"a": 3, "b": 1}, {"b": 7}])
    left = only_items(counts, np.array([0, 2]))
    assert (left.items.tolist(), left.weights.tolist(), left.sizes.tolist()) == ([0, 1], [1, 1], [1, 1])
