"""Persons in real tables: what a release by records hides of them, and the price of counting them."""

from __future__ import annotations

from pathlib import Path

from reproductions.persons import CASES, K, policy_of, release


def test_no_class_of_randhie_has_fewer_than_five_persons(shared_data: Path) -> None:
    """The specification's known answer: 2,595 of 2,980 classes by records had; at most 1.3 times the loss by persons."""
    case = CASES[0]
    by_records, by_persons = (release(case, policy_of(case, by_person=by)) for by in (False, True))
    assert by_records.n_below > 2_000
    assert (by_persons.n_alone, by_persons.n_below) == (0, 0)
    assert by_persons.gcp <= 1.3 * by_records.gcp
    assert 0 < by_persons.unique_histories < 1


def test_no_class_of_households_has_fewer_than_five(shared_data: Path) -> None:
    case = CASES[2]
    found = release(case, policy_of(case, by_person=True))
    assert found.n_below == 0
    whole = release(case, policy_of(case, by_person=True, person_knowledge="history", suppression=0.02))
    assert whole.unique_histories == 0
    assert K == 5
