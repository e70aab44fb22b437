"""Who is attacked: persons count once, however many records they have."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from shoal.attack.attack import run_attacks
from shoal.attack.tables import TABLE_ATTACKS
from shoal.attack.tables.case import TableCase
from shoal.attack.tables.targets import TableTargets, by_person, draw, n_distinct
from shoal.data.tables.attribute import Attribute
from shoal.data.tables.table import Table, encode_cells
from tests.unit.attack.tables.small_cases import texts

ATTRIBUTES = {
    "age": Attribute("age", "continuous", "quasi"),
    "sex": Attribute("sex", "nominal", "quasi"),
    "income": Attribute("income", "continuous", "sensitive"),
    "illness": Attribute("illness", "nominal", "sensitive"),
}


def _people(rng, n_persons, most=3):
    """Persons with one to three records each, which need not agree."""
    persons = np.repeat(np.arange(n_persons), rng.integers(1, most + 1, n_persons))
    n = len(persons)
    table = Table.of(
        [
            encode_cells("age", rng.integers(0, 12, n)),
            texts("sex", rng.choice(["f", "m"], n).tolist()),
            encode_cells("income", rng.integers(0, 40, n)),
            texts("illness", rng.choice(["a", "b", "c"], n, p=[0.7, 0.2, 0.1]).tolist()),
        ]
    )
    return table, persons


def _case(seed, labels):
    rng = np.random.default_rng(seed)
    original, persons = _people(rng, 14)
    control, theirs = _people(rng, 30)
    published = original
    if labels:
        ages = [f"[{4 * (a // 4)}..{4 * (a // 4) + 3}]" for a in original["age"].cells().tolist()]
        published = original.with_columns({"age": texts("age", ages)})
    case = TableCase(
        published,
        original,
        control,
        ["age", "sex"],
        ["income", "illness"],
        ATTRIBUTES,
        rows=np.arange(original.n_rows),
        population=original,
        persons=persons,
        control_persons=theirs,
    )
    return replace(case, others=(case,))


def _repeated(case, times, their_times):
    """The same with every record of a person as often as is said for the person."""
    ours, theirs = (np.repeat(np.arange(len(p)), t[p]) for p, t in
                    ((case.persons, times), (case.control_persons, their_times)))  # fmt: skip
    repeated = replace(
        case,
        published=case.published.take(ours),
        original=case.original.take(ours),
        control=case.control.take(theirs),
        rows=np.arange(len(ours)),
        persons=case.persons[ours],
        control_persons=case.control_persons[theirs],
    )
    return replace(repeated, others=(repeated,))


@pytest.mark.parametrize("history", [False, True])
@pytest.mark.parametrize("labels", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_rates_are_the_same_however_often_a_persons_records_are_repeated(seed, labels, history):
    case = replace(_case(seed, labels), knows_history=history)
    rng = np.random.default_rng(seed)
    times = rng.integers(1, 5, int(case.persons.max()) + 1), rng.integers(1, 5, int(case.control_persons.max()) + 1)
    once, often = (run_attacks(list(TABLE_ATTACKS.values()), c, seed=1) for c in (case, _repeated(case, *times)))
    assert [r.attack for r in once.results] == [r.attack for r in often.results]
    assert len(once.results) >= 10
    for one, other in zip(once.results, often.results, strict=True):
        for rate in ("main", "control", "baseline"):
            a, b = getattr(one, rate), getattr(other, rate)
            assert (a is None) == (b is None)
            if a is not None:
                assert b.successes == pytest.approx(a.successes), (one.attack, rate)
                assert b.attempts == a.attempts, (one.attack, rate)


def test_no_more_is_tried_than_there_are_persons():
    case = _case(0, True)
    found = {r.attack: r for r in run_attacks(list(TABLE_ATTACKS.values()), case, seed=1).results}
    for name in ("linkage", "linkage-partial", "linkability", "membership", "uniqueness"):
        assert found[name].main.attempts == 14, name
    for name in ("homogeneity", "inference", "skewness"):
        assert found[name].main.attempts == 7, name  # the other half chose the secret
    assert found["linkage"].control is None
    assert found["membership"].control.attempts == 30
    assert "persons" in found["linkage"].sentence
    assert "one record of a person is known" in found["linkage"].knows
    records = {
        r.attack: r for r in run_attacks(list(TABLE_ATTACKS.values()), replace(case, persons=None), seed=1).results
    }
    assert records["linkage"].main.attempts == case.original.n_rows
    assert not any("persons" in r.sentence + r.knows for r in records.values())


def test_whoever_knows_a_history_knows_at_least_what_one_record_tells():
    for seed in range(3):
        for secret in ("income", "illness"):
            case = replace(_case(seed, True), sensitive=[secret])
            row, history = (
                {
                    r.attack: r.main
                    for r in run_attacks(list(TABLE_ATTACKS.values()), replace(case, knows_history=h), seed=1).results
                }
                for h in (False, True)
            )
            for name in ("linkage", "homogeneity", "skewness", "uniqueness"):
                assert history[name].successes >= row[name].successes - 1e-9, name
            assert ("similarity" in row) == (secret == "income")
            if "similarity" in row:
                assert history["similarity"].successes >= row["similarity"].successes - 1e-9


def test_cuts_by_persons_are_not_reasoned_from():
    from tests.unit.attack.tables.test_minimality import _case as cut
    from tests.unit.attack.tables.test_minimality import _policy, _small

    case = cut(_small(0), _policy())
    minimality = next(a for a in TABLE_ATTACKS.values() if a.name == "minimality")
    assert minimality.missing(case) is None
    assert "by persons" in minimality.missing(replace(case, persons=np.arange(case.original.n_rows)))


def test_draws():
    rng = np.random.default_rng(0)
    persons = np.array([2, 0, 1, 0, 2, 2])
    one = draw(persons, 6, 10, rng)
    assert sorted(persons[one.rows].tolist()) == [0, 1, 2]
    every = draw(persons, 6, 10, rng, history=True)
    assert sorted(every.rows.tolist()) == list(range(6))
    ends = [*every.starts.tolist(), 6]
    assert [len(set(persons[every.rows[a:b]].tolist())) for a, b in pairwise(ends)] == [1, 1, 1]
    assert len(draw(persons, 6, 2, rng)) == 2
    assert len(draw(None, 6, 4, rng)) == 4


def test_what_is_reached_of_a_target_is_the_most_of_its_records():
    targets = TableTargets(np.array([5, 6, 7, 8]), np.array([0, 2, 3]))
    assert targets.best(np.array([0.1, 0.4, 0.2, 1.0])).tolist() == [0.4, 0.2, 1.0]
    parts = targets.split(2)
    assert [p.rows.tolist() for p in parts] == [[5, 6, 7], [8]]
    assert [p.starts.tolist() for p in parts] == [[0, 2], [0]]
    persons = np.array([3, 3, 5])
    assert by_person(np.array([1.0, 0.0, 1.0]), persons, history=False).tolist() == [0.5, 1.0]
    assert by_person(np.array([1.0, 0.0, 1.0]), persons, history=True).tolist() == [1.0, 1.0]
    assert by_person(np.array([1.0, 0.0]), None, history=True).tolist() == [1.0, 0.0]
    assert n_distinct(np.array([0, 0, 2]), np.array([1, 1, 1]), 3).tolist() == [1, 0, 1]
    assert n_distinct(np.array([0, 0, 2]), None, 3).tolist() == [2, 0, 1]
