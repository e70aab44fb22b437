"""Suppression leaves no rare combination, and takes what it must."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.data.sparse.records import Sparse
from shoal.sparse.combinations import only_items
from shoal.sparse.km_suppress import suppress
from tests.unit.sparse.slow_combinations import random_lists, rare, sets_of


@pytest.mark.parametrize("scope", ["records", "items"])
@pytest.mark.parametrize("m", [1, 2, 3])
def test_no_combination_is_rare(scope, m: int) -> None:
    for seed in range(4):
        records = Sparse.of(random_lists(np.random.default_rng(seed), 60, 10, 6))
        left = sets_of(only_items(records, suppress(records, 3, m, scope=scope)))
        assert not rare(left, 3, m)
        assert all(one <= other for one, other in zip(left, sets_of(records), strict=True))


def test_records_lose_no_more_than_breaks_the_rare_pair() -> None:
    records = Sparse.of([["a", "b"]] * 4 + [["a", "c"]] * 4 + [["b", "c"]])
    left = sets_of(only_items(records, suppress(records, 3, 2)))
    assert left[:8] == sets_of(records)[:8]
    assert len(left[8]) == 1


def test_items_go_everywhere() -> None:
    records = Sparse.of([["a", "b"]] * 6 + [["a", "c"]] * 2 + [["c"]] * 2)
    left = sets_of(only_items(records, suppress(records, 3, 2, scope="items")))
    assert left == [frozenset("ab")] * 6 + [frozenset("a")] * 2 + [frozenset()] * 2


def test_combinations_are_counted_within_classes_and_by_owner() -> None:
    records = Sparse.of([["a", "b"]] * 4, list("xxxy"))
    assert sets_of(only_items(records, suppress(records, 3, 2))) == [frozenset("ab")] * 3 + [frozenset()]
    owners = np.array([0, 0, 1, 1])
    assert not len(suppress(Sparse.of([["a", "b"]] * 4), 3, 2, owners=owners))
    assert len(suppress(Sparse.of([["a", "b"]] * 4), 2, 2, owners=owners)) == 8


def test_the_order_of_records_changes_nothing() -> None:
    records = Sparse.of(random_lists(np.random.default_rng(9), 60, 10, 6))
    order = np.random.default_rng(1).permutation(len(records))
    one = sets_of(only_items(records, suppress(records, 3, 2)))
    other = sets_of(only_items(records.take(order), suppress(records.take(order), 3, 2)))
    assert [one[i] for i in order] == other
