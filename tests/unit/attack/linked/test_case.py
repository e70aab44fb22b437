"""The tests of `attack/linked/case.py`."""

from __future__ import annotations

import numpy as np

import shoal
from shoal.attack.linked.case import pseudonyms_of
from tests.linked_samples import clinic, policy


def test_what_attackers_see_is_what_is_published_and_moved_days_are_apart():
    made = shoal.anonymize(clinic(40, 3), policy(), seed=1, hold_out=0.3)
    case = made.case
    assert case.names("patients", "quasi") == ["age", "sex"]
    assert case.names("labs", "sensitive") == ["value"]
    assert case.names("visits", "insensitive") == []
    assert case.as_table("visits").published.names == ["ward"]
    assert case.granted == {"original": 28, "others": 12, "rows": len(case.published)}


def test_pseudonyms_are_those_of_the_same_person_in_all_tables():
    case = shoal.anonymize(clinic(40, 3), policy(), seed=1).case
    released = shoal.anonymize(clinic(40, 3), policy(), seed=1)
    own = pseudonyms_of(case.published, case.original, released._rows["patients"].astype(np.int64))
    assert own.tolist() == case.own.tolist()
    for name, rows in released._rows.items():
        assert own[case.original.persons[name][rows]].tolist() == case.published.persons[name].tolist()
    assert sorted(own[own >= 0].tolist()) == list(range(len(case.published)))
