"""Pseudo-baskets are checked from themselves, the originals and the groups; what is planted is found."""

from __future__ import annotations

import numpy as np
import pytest

import shoal.check.sparse.baskets as baskets
from shoal.check.sparse.basket_guarantees import BasketsAsked
from shoal.check.sparse.baskets import BasketsEvidence, verify_baskets
from shoal.data.sparse.records import Sparse
from shoal.data.sparse.written import compact
from shoal.errors import DataError

K = 3
ORIGINAL = Sparse.of(
    [["a", "b"], ["a", "c"], ["b", "c"], ["a", "b", "rare"]] + [["a", "d"], ["b", "d"], ["a", "b"], ["c", "d"]],
)
GROUPS = np.array([0, 0, 0, 0, 1, 1, 1, 1])


@pytest.fixture(autouse=True, params=[1_000_000, 3])
def batch(request, monkeypatch):
    """All at once, and a few entries at a time."""
    monkeypatch.setattr(baskets, "BATCH_ENTRIES", request.param)


def verdict(rows: list[list[str]], groups: list[int], original: Sparse = ORIGINAL, k: int = K, **kept):
    evidence = BasketsEvidence(original, kept.get("original_groups", GROUPS), np.array(groups))
    return verify_baskets(Sparse.of(rows), BasketsAsked(k, 2), evidence)


def failing(found) -> set[str]:
    return {g.model for g in found.guarantees if not g.holds}


def test_what_is_right_holds() -> None:
    found = verdict([["c"], ["b"], ["a"], ["d"], ["b"], ["a"]], [0, 0, 0, 1, 1, 1])
    assert found.holds
    assert {g.model for g in found.guarantees} == {
        "k-anonymity",
        "pool-support",
        "sizes",
        "item-support",
        "rare-copies",
    }


def test_a_planted_rare_basket_is_found() -> None:
    found = verdict([["a", "c"], ["b"], ["d"]], [0, 0, 1])
    assert failing(found) == {"rare-copies"}


def test_a_planted_rare_item_is_found() -> None:
    assert "item-support" in failing(verdict([["rare"], ["b"], ["d"]], [0, 0, 1]))
    assert failing(verdict([["nobody's"], ["b"]], [0, 1])) == {"item-support", "pool-support"}


def test_a_pool_below_k_is_found() -> None:
    groups = np.array([0, 0, 1, 1, 1, 1, 1, 1])
    assert failing(verdict([["a"], ["b"], ["d"]], [0, 1, 1], original_groups=groups)) == {"k-anonymity"}


def test_an_item_that_one_of_all_pools_holds_or_that_is_shown_too_often_is_found() -> None:
    labelled = ORIGINAL.with_labels(list("xxxxyyyy"))
    published = Sparse.of([["c"], ["c"]], ["x", "y"])
    evidence = BasketsEvidence(labelled, GROUPS, np.array([0, 1]))
    assert failing(verify_baskets(published, BasketsAsked(K, 2), evidence)) == {"pool-support"}  # one of y holds c
    assert failing(verdict([["c"]] * 4, [0, 0, 0, 1])) == {"pool-support"}  # three hold c


def test_more_items_than_any_record_of_the_group_are_found() -> None:
    found = verdict([["a", "b", "c", "d"], ["b"], ["d"]], [0, 0, 1])
    assert failing(found) == {"sizes"}


def test_classes_and_groups_have_to_fit() -> None:
    labelled = ORIGINAL.with_labels(list("xxxxyyyy"))
    wrong = BasketsEvidence(labelled, GROUPS, np.array([0, 0]))
    found = verify_baskets(Sparse.of([["b"], ["a"]], ["x", "y"]), BasketsAsked(K, 2), wrong)
    assert found.findings == ("a pseudo-record has another class than its group",)
    mixed = BasketsEvidence(ORIGINAL.with_labels(list("xyxxyyyy")), GROUPS, np.array([0]))
    assert "two classes" in verify_baskets(Sparse.of([["b"]], ["x"]), BasketsAsked(K, 2), mixed).findings[0]
    alone = BasketsEvidence(ORIGINAL.with_labels(list("xyxxxxxx")), GROUPS, np.array([0, 1]))
    assert "two classes" in verify_baskets(Sparse.of([["b"]] * 2, ["x", "x"]), BasketsAsked(K, 2), alone).findings[0]
    assert verdict([["b"]] * 6, [0] * 6).findings == ("a group has more pseudo-records than records",)
    assert "no record is in" in verdict([["b"]], [7]).findings[0]
    assert "another release" in verdict([["b"]], [0, 0]).findings[0]


def test_weights_are_those_of_the_pool() -> None:
    original = Sparse.of([{"a": 2, "b": 1}, {"a": 4}, {"b": 3}, {"a": 3}, {"b": 1}])
    groups = np.zeros(5, np.int64)

    def found(row: dict[str, float]) -> set[str]:
        evidence = BasketsEvidence(original, groups, np.zeros(2, np.int64))
        return failing(verify_baskets(Sparse.of([row, {"b": 1}]), BasketsAsked(2, 2), evidence))

    assert found({"a": 3}) == set()
    assert found({"a": 4}) == {"pool-weights"}


def test_a_weight_that_one_person_has_may_not_show() -> None:
    original = Sparse.of([{"a": w} for w in (1, 2, 2, 3, 10**6)])
    evidence = BasketsEvidence(original, np.zeros(5, np.int64), np.zeros(1, np.int64))
    shown = {w: verify_baskets(Sparse.of([{"a": w}]), BasketsAsked(3, 2), evidence) for w in (2, 200_002)}
    assert "pool-weights" not in failing(shown[2])
    assert failing(shown[200_002]) == {"pool-weights"}
    of_one = BasketsEvidence(original.with_persons([0, 1, 2, 3, 3]), np.zeros(5, np.int64), np.zeros(1, np.int64))
    assert "pool-weights" not in failing(verify_baskets(Sparse.of([{"a": 2}]), BasketsAsked(3, 2), of_one))


def test_a_size_that_fewer_than_k_have_may_not_show() -> None:
    original = Sparse.of([list("abcd"), list("ab"), list("cd"), list("ad"), list("bc")])
    groups = np.zeros(5, np.int64)
    long = verdict([list("abc"), ["d"]], [0, 0], original, 2, original_groups=groups)
    assert failing(long) == {"sizes"}
    assert verdict([list("ac"), ["d"]], [0, 0], original, 2, original_groups=groups).holds
    # Two who have three items are enough, but not two records of one.
    more = Sparse.of([list("abcd"), list("abc"), list("cd"), list("ad"), list("bc")])
    shown = [list("bcd"), ["d"]]
    assert verdict(shown, [0, 0], more, 2, original_groups=groups).holds
    of_one = verdict(shown, [0, 0], more.with_persons([0, 0, 1, 2, 3]), 2, original_groups=groups)
    assert failing(of_one) == {"sizes"}


def test_what_cannot_be_checked_is_told() -> None:
    alone = verify_baskets(Sparse.of([["a"]]), BasketsAsked(K, 2), BasketsEvidence())
    assert not alone.guarantees
    assert "--original, and --private of a release that was made with --keep groups" in alone.unverified[0]
    without = verify_baskets(Sparse.of([["a"], ["a", "c"]]), BasketsAsked(K, 2), BasketsEvidence(ORIGINAL))
    assert failing(without) == {"rare-copies"}
    assert "--private" in without.unverified[0]
    with pytest.raises(DataError, match="no pseudo-baskets"):
        verify_baskets(Sparse.of([]), BasketsAsked(K, 2), BasketsEvidence(ORIGINAL))
    empty = verify_baskets(Sparse.of([["a"], []]), BasketsAsked(K, 2), BasketsEvidence())
    assert "empty" in empty.findings[0]


def test_items_are_known_by_their_names() -> None:
    published = compact(Sparse.of([["d"], ["b"]]))
    assert published.names == ("b", "d")
    assert verify_baskets(published, BasketsAsked(K, 2), BasketsEvidence(ORIGINAL, GROUPS, np.array([0, 1]))).holds


def test_records_of_one_person_count_once() -> None:
    # As records everything holds; the first four are of one person, or the first two and the next two.
    rows, groups = [["c"], ["b"], ["a"], ["d"], ["b"], ["a"]], [0, 0, 0, 1, 1, 1]
    assert verdict(rows, groups, ORIGINAL.with_persons(range(8))).holds
    found = verdict(rows, groups, ORIGINAL.with_persons([0, 0, 1, 1, 2, 3, 4, 5]))
    assert failing(found) == {"k-anonymity"}
    assert "fewer than 3 persons" in next(g.sentence for g in found.guarantees if g.model == "k-anonymity")
    found = verdict([["d"], ["b"]], [1, 0], ORIGINAL.with_persons([0, 1, 2, 3, 4, 4, 4, 4]))
    assert failing(found) == {"k-anonymity", "item-support", "pool-support"}  # d is one person's


def test_a_copy_that_k_records_of_few_persons_hold_is_found() -> None:
    original = Sparse.of([["a", "b"]] * 4 + [["a"], ["b"]] * 4)
    groups = np.zeros(12, np.int64)
    shown = [["a", "b"], ["a"]]
    assert verdict(shown, [0, 0], original, original_groups=groups).holds
    persons = original.with_persons([0, 0, 1, 1, *range(2, 10)])
    assert failing(verdict(shown, [0, 0], persons, original_groups=groups)) == {"rare-copies", "sizes"}
