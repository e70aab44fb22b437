"""The tests of `kinds/tables/findings.py`."""

from __future__ import annotations

import numpy as np

import shoal
from shoal.check.finding import RECORDS_COUNTED, SINGLED_OUT, UNPROTECTED, Finding
from shoal.check.tables.classes import classes_of
from shoal.data.tables.table import Table, encode_cells
from shoal.kinds.tables.findings import few_persons, told_findings, unprotected


def test_what_looks_sensitive_is_named() -> None:
    assert unprotected([], None) == ()
    (one,) = unprotected(["disease"], None)
    assert one.name == UNPROTECTED
    assert one.sentence.startswith("“disease” looks sensitive, and nothing is required of it")
    (two,) = unprotected(["disease", "wage"], "both are public")
    assert "look sensitive, and nothing is required of them" in two.sentence
    assert told_findings([two]) == [f"{two.sentence} Taken for this reason: both are public"]


def test_what_only_a_raised_limit_allows_is_told_too() -> None:
    """Of two findings below their limits, that which the usual limit would not allow."""
    few, many = (Finding(SINGLED_OUT, ("zip",), share, 0.5, f"{share}", "drop it", None) for share in (0.01, 0.3))
    assert told_findings([few, many]) == ["0.3"]


def visits(n_persons: int = 200, n_visits: int = 5) -> dict[str, list[object]]:
    """Several visits of each person, who has one sex and age."""
    rng = np.random.default_rng(8)
    whose = np.repeat(np.arange(n_persons), n_visits)
    age, sex = rng.integers(20, 90, n_persons), rng.choice(["f", "m"], n_persons)
    return {
        "patient_id": [f"p{i}" for i in whose.tolist()],
        "age": age[whose].tolist(),
        "sex": sex[whose].tolist(),
        "ward": rng.choice(["a", "b", "c"], len(whose)).tolist(),
    }


def test_groups_of_records_of_one_person_are_not_green() -> None:
    policy = shoal.Policy.of(quasi=["age", "sex"], identifying=["patient_id", "ward"], k=5)
    release = shoal.anonymize(visits(), policy, seed=1)
    (found,) = release.doubts
    assert found.name == RECORDS_COUNTED
    assert found.columns == ("patient_id",)
    assert found.share > 0.5
    assert release.verdict.level == "amber"
    assert "'patient_id' seems to number" in release.verdict.worst
    counted = shoal.anonymize(visits(), policy.changed(person="patient_id"), seed=1)
    assert not counted.doubts
    assert counted.verdict.level == "green"


def test_one_missing_key_hides_no_persons() -> None:
    data = visits()
    data["patient_id"][3] = None
    policy = shoal.Policy.of(quasi=["age", "sex"], identifying=["patient_id", "ward"], k=5)
    release = shoal.anonymize(data, policy, seed=1)
    assert [f.name for f in release.doubts] == [RECORDS_COUNTED]
    assert any("'patient_id' has 200 values in 1,000 rows" in note for note in release.notes)


def test_large_enough_groups_of_persons_are_no_finding() -> None:
    classes = classes_of(Table.of([encode_cells("q", np.repeat([1, 2], 6))]), ["q"])
    assert few_persons(classes, np.arange(12), 5, "id") == ()
    assert few_persons(classes, np.arange(12) // 2, 3, "id") == ()
    (found,) = few_persons(classes, np.array([0, 0, 0, 0, 1, 1, *range(2, 8)]), 3, "id")
    assert found.share == 2 / 8
    assert found.is_serious
