"""The tests of `attack/linked/known_rows.py`, beside attackers who try every pseudonym by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import shoal
from shoal.attack.linked import LINKED_ATTACKS
from shoal.attack.linked.known_rows import FIRST, UNDATED, KnownQuasi, KnownRows, KnownSecret, _gaps
from shoal.attack.run import attack_case
from shoal.data.tables.labels import read_label
from tests.linked_samples import clinic, policy


def released(seed, n=40, **asked):
    frames = clinic(n, seed)
    frames["labs"]["unit"] = np.random.default_rng(seed).choice(["x", "y"], len(frames["labs"]))
    made = shoal.anonymize(frames, policy(insensitive=["unit"], **asked), seed=1, hold_out=0.3)
    return made, frames


def covers(label, value):
    read = read_label(label)
    if read.kind == "range":
        return float(read.values[0]) <= float(value) <= float(read.values[1])
    return value in read.values or read.kind == "everything"


def rows_of(linked, name, person):
    columns = {n: np.array(linked.tables[name][n].texts(), dtype=object)[linked.tables[name][n].codes]
               for n in linked.tables[name].names}  # fmt: skip
    rows = [i for i, who in enumerate(linked.persons[name]) if who == person]
    return [{n: str(c[i]) for n, c in columns.items()} for i in rows]


def with_gaps(rows):
    days = sorted(pd.Timestamp(r["taken"]) for r in rows)
    return [
        r | {"gap": None if (i := days.index(pd.Timestamp(r["taken"]))) == 0 else days[i] - days[i - 1]} for r in rows
    ]


def slow_fits(case, person, *, knows_kept):
    """All pseudonyms that fit all rows of a person, tried one by one; days are different within a person."""
    truth = {name: rows_of(case.original, name, person) for name in case.original.tables}
    fits = []
    for shown in range(len(case.published)):
        theirs = {name: rows_of(case.published, name, shown) for name in case.published.tables}
        ok = len(theirs["patients"]) <= len(truth["patients"]) and len(theirs["visits"]) <= len(truth["visits"])
        for name, quasi in (("patients", ["age", "sex"]), ("visits", ["ward"])):
            ok &= all(any(all(covers(t[q], r[q]) for q in quasi) for t in theirs[name]) for r in truth[name])
        if knows_kept:
            ok &= len(theirs["labs"]) == len(truth["labs"])
            mine, others = with_gaps(truth["labs"]), with_gaps(theirs["labs"])
            ok &= all(any((t["unit"], t["gap"]) == (r["unit"], r["gap"]) for t in others) for r in mine)
        fits.append(bool(ok))
    return np.array(fits)


@pytest.mark.parametrize("seed", [3, 5])
@pytest.mark.parametrize("attack", [KnownQuasi(), KnownRows(n_known=None)], ids=lambda a: a.name)
def test_who_fits_is_found_as_by_trying_everybody(seed, attack):
    case = released(seed)[0].case
    tables = attack._tables(case)
    attack = replace(attack, n_attacks=12)
    for target, fits in attack._fitting(case.original, tables, np.random.default_rng(0), is_other=False):
        slow = slow_fits(case, target, knows_kept=attack.knows_kept)
        assert fits.tolist() == slow.tolist()


def test_labels_that_are_alike_find_one_in_k_at_most():
    for seed in range(4):
        made, _ = released(seed, k=4)
        found = KnownQuasi().run(made.case, np.random.default_rng(0))
        assert found.main.value <= 1 / 4
        assert found.admitted == 1 / 4
        assert found.columns == ("patients.age", "patients.sex", "visits.ward")


def test_what_is_published_as_it_is_tells_more():
    made, _ = released(1, n=80)
    found = {r.attack: r for r in made.attacked.results}
    assert set(found) == {"linked-quasi", "linked-rows", "linked-secret"} == set(LINKED_ATTACKS)
    assert found["linked-rows"].main.value > found["linked-quasi"].main.value
    assert found["linked-rows"].succeeds
    assert found["linked-secret"].control.attempts > 0
    assert "labs.unit" in found["linked-rows"].columns
    assert "labs.value" not in found["linked-rows"].columns
    assert made.verdict.level == "amber"  # it is accepted, and no less for that
    assert "The policy thereby also accepts what an attack adds" in made.verdict.worst


def test_a_secret_that_all_rows_of_a_person_share_is_guessed_of_those_who_are_found():
    frames = clinic(60, 2)
    number = {who: str(i) for i, who in enumerate(frames["patients"]["id"])}
    frames["labs"] = frames["labs"].assign(value=[number[w] for w in frames["labs"]["id"]])
    made = shoal.anonymize(
        frames, policy(accept={"known_history": "a test", "singled_out": "a test"}), seed=1, hold_out=0.3
    )
    found = KnownSecret().run(made.case, np.random.default_rng(0))
    linked = KnownRows().run(made.case, np.random.default_rng(0))
    assert found.main.value > 0.3
    assert found.control.value == 0
    assert found.main.value == pytest.approx(linked.main.value, abs=0.3)


def test_what_is_missing_is_said():
    made, _ = released(3)
    told = attack_case("linked", replace(made.case, own=None))
    assert {name for name, _ in told.skipped} == {"linked-quasi", "linked-rows"}
    assert all("keep the rows" in why for _, why in told.skipped)
    bare = shoal.anonymize(clinic(40, 3), policy(sensitive=[], identifying=["value"]), seed=1)
    assert "nothing to infer" in KnownSecret().missing(bare.case)


def test_days_since_the_row_before():
    persons = np.array([1, 0, 1, 1, 0])
    days = np.array([5.0, 2.0, 1.5, np.nan, 9.0])
    assert _gaps(persons, days).tolist() == [int(3.5 * 86_400), FIRST, FIRST, UNDATED, 7 * 86_400]
    assert _gaps(persons, None).tolist() == [UNDATED] * 5
