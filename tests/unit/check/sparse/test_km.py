"""k^m-anonymity, rho-uncertainty and the conditions of chunks are recomputed; what is planted is found."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from shoal.check.sparse.km import KMAsked, KMEvidence, verify_km
from shoal.data.sparse.disassociated import Disassociated, read_disassociated
from shoal.data.sparse.records import Sparse
from shoal.errors import DataError
from shoal.sparse.disassociate import disassociate
from tests.unit.sparse.slow_combinations import random_lists

RIGHT = [["a", "b"]] * 3 + [["a", "c"]] * 3
NOTHING = KMEvidence()


def failing(found) -> set[str]:
    return {g.model for g in found.guarantees if not g.holds}


def test_a_rare_pair_is_found_and_a_rare_triple() -> None:
    assert verify_km(Sparse.of(RIGHT), KMAsked(3, 2), NOTHING).holds
    planted = Sparse.of([*RIGHT, ["b", "c"]])
    assert failing(verify_km(planted, KMAsked(3, 2), NOTHING)) == {"km-anonymity"}
    assert verify_km(planted, KMAsked(3, 1), NOTHING).holds
    triple = Sparse.of([*RIGHT, *[["b", "c"]] * 3, ["a", "b", "c"]])
    assert verify_km(triple, KMAsked(3, 2), NOTHING).holds
    found = verify_km(triple, KMAsked(3, 3), NOTHING).guarantees[0]
    assert (found.holds, found.n_failing, found.achieved) == (False, 1, 1)


def test_combinations_are_counted_within_classes() -> None:
    labelled = Sparse.of(RIGHT, ["x"] * 5 + ["y"])
    assert failing(verify_km(labelled, KMAsked(3, 1), NOTHING)) == {"km-anonymity"}


def test_what_was_not_there_is_found() -> None:
    original = Sparse.of([*RIGHT, ["d"]])
    rows = np.arange(6)
    assert verify_km(Sparse.of(RIGHT), KMAsked(3, 2), KMEvidence(original, rows)).holds
    for wrong, evidence in (
        ([["a", "e"]] * 3, KMEvidence(original)),
        ([["c"]] * 4, KMEvidence(original)),
        (RIGHT, KMEvidence(original, rows[::-1].copy())),
        (RIGHT, KMEvidence(original, np.zeros(6, np.int64))),
        ([["a"]] * 9, KMEvidence(original)),
        ([["a"]] * 3 + [[]], KMEvidence(original)),
    ):
        found = verify_km(Sparse.of(wrong), KMAsked(3, 1), evidence)
        assert found.findings
        assert not found.holds
    with pytest.raises(DataError, match="nothing would be published"):
        verify_km(Sparse.of([]), KMAsked(3, 2), NOTHING)


def test_a_rule_that_tells_a_sensitive_item_is_found() -> None:
    records = Sparse.of([["a", "s"], ["a", "s"], ["a"], ["b", "s"], ["b"], ["b"], ["c"]])
    asked = KMAsked(1, 2, 0.7, ("s",))
    assert verify_km(records, asked, NOTHING).holds
    found = verify_km(records, replace(asked, rho=0.6), NOTHING)
    assert failing(found) == {"rho-uncertainty"}
    assert found.guarantees[1].achieved == pytest.approx(2 / 3)
    gone = verify_km(records, replace(asked, sensitive=("t",), rho=0.01), NOTHING).guarantees[1]
    assert gone.holds
    assert "0 sensitive items of 1 are published" in gone.sentence


def chunks(tmp_path: Path, text: str, has_classes: bool = False) -> Disassociated:
    (tmp_path / "data").write_text("cluster records chunk items\n" + text)
    return read_disassociated(tmp_path / "data", None, has_classes=has_classes)


FILLED = "1 4 1 a\n" * 4 + "2 4 1 b\n" * 4 + "1-2 8 1 c\n" * 3


def test_chunks_that_are_right_hold(tmp_path: Path) -> None:
    assert verify_km(chunks(tmp_path, FILLED), KMAsked(3, 2), NOTHING).holds


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("1 4 1 a\n" * 2 + "1 4 terms b\n", {"km-anonymity"}),
        ("1 4 1 a b\n" * 2 + "1 4 1 a\n1 4 1 b\n1 4 terms c\n", {"km-anonymity"}),
        ("1 2 1 a\n" * 2 + "1 2 terms b\n", {"km-anonymity", "disassociation"}),
        ("1 2 terms a b\n", {"disassociation"}),
        ("1 4 1 a\n" * 5, {"disassociation"}),
        ("1 4 1 a\n" * 3, {"disassociation"}),
        ("1 4 1 a\n" * 3 + "1 4 2 b\n" * 3, {"disassociation"}),  # 6 subrecords, and Lemma 2 asks for 4 + 3
        ("1 4 1 a\n" * 4 + "1 4 terms a\n", {"disassociation"}),
        ("1 4 1 a\n" * 4 + "1 4 terms b\n1 4 2 c\n1 4 2 c\n1 4 2 c\n1 4 terms d\n", {"disassociation"}),
        (FILLED + "1-2 8 2 a\n" * 3, {"disassociation"}),
        ("1 4 terms a\n2 4 terms b\n" + "1-2 8 1 c\n" * 9, {"disassociation"}),
    ],
)
def test_chunks_that_are_wrong_are_found(tmp_path: Path, text: str, wrong: set[str]) -> None:
    assert failing(verify_km(chunks(tmp_path, text), KMAsked(3, 2), NOTHING)) == wrong


def test_a_chunk_that_two_classes_share_is_found(tmp_path: Path) -> None:
    text = "1 4 x 1 a\n" * 4 + "2 4 x 1 b\n" * 4 + "1-2 8 x 1 c\n" * 3
    shared = chunks(tmp_path, text, has_classes=True)
    assert verify_km(shared, KMAsked(3, 2), NOTHING).holds
    mixed = replace(shared, labels=np.array([0, 1], np.int32), classes=("x", "y"))
    assert failing(verify_km(mixed, KMAsked(3, 2), NOTHING)) == {"disassociation"}


def test_chunks_are_compared_with_the_records_of_their_clusters() -> None:
    records = Sparse.of(random_lists(np.random.default_rng(0), 40, 10, 5))
    made = disassociate(records, 3, 2, 9)
    evidence = KMEvidence(records, None, made.clusters)
    assert verify_km(made.published, KMAsked(3, 2), evidence).holds
    others = np.where(made.clusters == 0, 1, np.where(made.clusters == 1, 0, made.clusters))
    few = records.take(np.arange(10))
    wrong = [
        (made.published, replace(evidence, clusters=others)),
        (made.published, KMEvidence(few)),
        (replace(made.published, names=("new", *made.published.names[1:])), KMEvidence(records)),
    ]
    swapped = made.published.items.copy()
    swapped[0] = (swapped[0] + 1) % len(made.published.names)
    wrong.append((replace(made.published, items=swapped), evidence))
    for published, told in wrong:
        assert verify_km(published, KMAsked(1, 1), told).findings
