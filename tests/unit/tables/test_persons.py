"""Limits on persons: each model beside a slow count with sets, by the methods and by the checker."""

from __future__ import annotations

import json
from itertools import permutations
from math import exp, log

import numpy as np
import pandas as pd
import pytest

import shoal
from shoal.check.tables.classes import classes_of
from shoal.check.tables.verify import verify
from shoal.data.tables.attribute import Attribute
from shoal.data.tables.frames import from_frame
from shoal.errors import Infeasible
from shoal.models.alpha_k import AlphaK
from shoal.models.beta_likeness import BetaLikeness
from shoal.models.k_anonymity import KAnonymity
from shoal.models.l_diversity import LDiversity
from shoal.models.t_closeness import TCloseness
from shoal.tables.limits import limits_on_table, person_limit, violations
from shoal.tables.persons import by_appearance, matched, person_labels, repeat, whole_persons
from shoal.told_counts import SOME

MODELS = [
    LDiversity(l=2),
    LDiversity(l=3),
    LDiversity(l=2, kind="probabilistic"),
    LDiversity(l=1.8, kind="entropy"),
    LDiversity(l=2, kind="recursive", c=2),
    AlphaK(alpha=0.6, k=2),
    TCloseness(t=0.4, distance="equal"),
    BetaLikeness(beta=0.8, kind="basic"),
    BetaLikeness(beta=0.8),
]


def holders(rows, persons, values):
    """The persons who have each value, in some rows."""
    found = {}
    for i in rows:
        found.setdefault(values[i], set()).add(persons[i])
    return found


def n_apart(held):
    """How many values can be given to different persons who have them."""
    people = sorted(set().union(*held.values()))
    best = 0
    for order in permutations(people, min(len(people), len(held))):
        best = max(best, sum(p in who for p, who in zip(order, held.values(), strict=False)))
    values = list(held)
    for turn in permutations(values):
        taken = set()
        n = 0
        for value in turn:
            free = held[value] - taken
            if free:
                taken.add(min(free))
                n += 1
        best = max(best, n)
    return best


def holds(model, rows, persons, values):
    here, whole = holders(rows, persons, values), holders(range(len(values)), persons, values)
    n_here, n_whole = len({persons[i] for i in rows}), len(set(persons))
    counts = {v: len(who) for v, who in here.items()}
    totals = {v: len(who) for v, who in whole.items()}
    top, total = max(counts.values()), sum(counts.values())
    if isinstance(model, AlphaK):
        return top / n_here <= model.alpha
    if isinstance(model, TCloseness):
        all_ = sum(totals.values())
        return sum(max(counts.get(v, 0) / total - t / all_, 0) for v, t in totals.items()) <= model.t + 1e-12
    if isinstance(model, BetaLikeness):
        gains = {v: (c / n_here) / (totals[v] / n_whole) - 1 for v, c in counts.items()}
        bounds = {
            v: min(model.beta, -log(totals[v] / n_whole)) if model.kind == "enhanced" else model.beta for v in gains
        }
        return all(g <= 1e-12 or g <= bounds[v] + 1e-12 for v, g in gains.items())
    if model.kind == "distinct":
        return n_apart(here) >= model.l
    if model.kind == "probabilistic":
        return n_here / top >= model.l
    if model.kind == "entropy":
        return exp(-sum(c / total * log(c / total) for c in counts.values())) >= model.l - 1e-9
    ordered = sorted(counts.values(), reverse=True)
    tail = sum(ordered[int(model.l) - 1 :])
    return tail > 0 and ordered[0] / tail < model.c


@pytest.mark.parametrize("model", MODELS, ids=lambda m: f"{m.model}-{getattr(m, 'kind', '')}-{getattr(m, 'l', '')}")
def test_methods_and_checker_count_persons_as_sets_do(model):
    rng = np.random.default_rng(5)
    attributes = {"q": Attribute("q", "nominal", "quasi"), "s": Attribute("s", "nominal", "sensitive")}
    n_failing = 0
    for _ in range(30):
        n = int(rng.integers(6, 20))
        persons, groups = rng.integers(0, 6, n), rng.integers(0, 3, n)
        values = rng.choice(list("abcd"), n, p=[0.4, 0.3, 0.2, 0.1])
        table = from_frame(pd.DataFrame({"q": groups.astype(str), "s": values}))
        labels = np.unique(groups, return_inverse=True)[1]
        members = [np.flatnonzero(labels == g).tolist() for g in range(labels.max() + 1)]
        owners = (persons.tolist(), list(range(n)))  # what is required holds by persons, and by records
        wanted = [not all(holds(model, rows, whose, values.tolist()) for whose in owners) for rows in members]
        whose = np.unique(persons, return_inverse=True)[1].astype(np.int64)
        limits = limits_on_table(table, [model], attributes, ["s"], "value", whose)
        assert violations(labels, limits[1:]).tolist() == wanted
        (found,) = verify(table, [model], ["q"], ["s"], attributes=attributes, persons=whose)
        if not isinstance(model, AlphaK):  # which has a k too
            assert found.holds == (not any(wanted))
            assert found.n_failing <= sum(wanted), "either by persons or by records, whichever is worse"
        n_failing += sum(wanted)
    assert 0 < n_failing < 90


def test_a_group_needs_k_persons_whatever_its_records():
    persons = np.array([0, 0, 0, 1, 1, 2, 3])
    labels = np.array([0, 0, 0, 0, 1, 1, 1])
    assert violations(labels, [person_limit(persons, 3)]).tolist() == [True, False]
    table = from_frame(pd.DataFrame({"q": labels.astype(str)}))
    (found,) = verify(table, [KAnonymity(k=3)], ["q"], persons=persons)
    assert (found.holds, found.achieved, found.n_failing) == (False, 2, 1)
    assert "2 of" not in found.sentence
    assert "only 1 other person" in found.sentence
    assert classes_of(table, ["q"]).of_persons(persons).sizes.tolist() == [2, 3]


def test_distinct_values_have_persons_of_their_own():
    # One person has three values, and the others one of them: no more than two values can be told apart.
    table = from_frame(pd.DataFrame({"q": ["x"] * 5, "s": list("abcaa")}))
    persons = np.array([0, 0, 0, 1, 2])
    (found,) = verify(table, [LDiversity(l=3)], ["q"], ["s"], persons=persons)
    assert found.achieved == 2
    assert len(matched(np.array([0, 1, 2, 0, 0]), persons)) == 2
    assert len(matched(np.array([], dtype=int), np.array([], dtype=int))) == 0


def test_of_a_person_all_rows_stay_or_none():
    persons = np.array([0, 1, 0, 2, 1])
    assert whole_persons(persons, np.array([0, 1, 3, 4])).tolist() == [1, 3, 4]
    assert whole_persons(persons, np.arange(5)).tolist() == [0, 1, 2, 3, 4]


def test_whether_a_person_has_several_rows():
    assert repeat(np.array([0, 1, 0]))
    assert not repeat(np.array([0, 1, 2]))
    assert not repeat(None)


def test_groups_grow_in_blocks_until_they_hold_k_persons():
    from shoal.tables.encoding import rank

    rng = np.random.default_rng(2)
    frame = pd.DataFrame({"age": rng.integers(20, 80, 300), "job": rng.choice(list("abc"), 300)})
    table = from_frame(frame)
    ranked = [
        rank(table["age"], Attribute("age", "continuous", "quasi")),
        rank(table["job"], Attribute("job", "nominal", "quasi")),
    ]
    persons = np.unique(rng.integers(0, 90, 300), return_inverse=True)[1].astype(np.int64)
    labels = person_labels(ranked, persons, 4, (np.arange(300) >= 150).astype(np.int32))
    assert not violations(labels, [person_limit(persons, 4)]).any()
    assert labels.max() + 1 > 30
    assert set(labels[:150]).isdisjoint(labels[150:])


def test_persons_are_numbered_as_they_appear():
    assert by_appearance(np.array([7, 3, 7, 9, 3])).tolist() == [0, 1, 0, 2, 1]


def visits(**columns):
    return pd.DataFrame({"who": np.repeat(np.arange(12), 2), **columns})


@pytest.mark.parametrize("partition", ["mdav", "k-member", "nearest-neighbours", "mondrian"])
@pytest.mark.parametrize("knowledge", ["row", "history"])
def test_who_stands_where_is_decided_by_a_secret_and_not_by_ids(partition, knowledge):
    frame = visits(age=np.repeat([30] * 6 + [31] * 3 + [32] * 3, 2), ill=np.repeat([f"d{i}" for i in range(12)], 2))
    policy = shoal.Policy.of(
        quasi=["age"],
        sensitive=["ill"],
        person="who",
        person_knowledge=knowledge,
        partition=partition,
        publish="generalise",
        k=4,
        singled_out=1.0,
    )

    def made(data, seed):
        table = shoal.anonymize(data, policy, seed=seed).table
        return sorted(zip(table["age"].cells().tolist(), table["ill"].cells().tolist(), strict=True))

    assert made(frame, 3) == made(frame.sample(frac=1, random_state=1), 3)
    renamed = frame.assign(who=(frame["who"] * 5 + 3) % 12)
    assert made(frame, 3) == made(renamed, 3), "ids decide nothing"


def test_what_is_required_of_values_holds_by_records_too():
    """Five persons with a value each, of whom one has 95 more records: a reader of the table sees one value."""
    frame = pd.DataFrame({"who": [0, 1, 2, 3] + [4] * 96, "age": 30, "ill": [*"abcd", *["e"] * 96]})
    policy = shoal.Policy.of(quasi=["age"], sensitive=["ill"], person="who", k=5)
    for model in (
        {"model": "alpha-k", "alpha": 0.5, "k": 5},
        {"model": "l-diversity", "l": 2, "kind": "probabilistic"},
    ):
        with pytest.raises(Infeasible):
            shoal.anonymize(frame, policy.changed(require=[model]), seed=1)


@pytest.mark.parametrize("publish", ["aggregate", "condense"])
def test_no_average_is_of_one_person(publish):
    frame = pd.DataFrame({"who": [0] * 9 + [1, 2, 3, 4], "age": range(13), "inc": [777.0] * 9 + [None] * 4})
    policy = shoal.Policy.of(quasi=["age", "inc"], person="who", k=5, partition="mdav", publish=publish)
    assert shoal.anonymize(frame, policy, seed=1).table["inc"].missing.all()
    if publish == "aggregate":
        with pytest.raises(Infeasible, match="of fewer than 5 persons"):
            shoal.anonymize(frame, policy.changed(missing="any"), seed=1)


def test_few_suppressed_persons_are_not_counted_out(tmp_path):
    frame = pd.DataFrame({"who": [0] * 8 + list(range(1, 41)), "age": [90] * 8 + [30] * 20 + [40] * 20})
    policy = shoal.Policy.of(
        columns={"age": {"role": "quasi", "hierarchy": "auto"}}, person="who", k=5, partition="datafly", suppression=0.3
    )
    release = shoal.anonymize(frame, policy, seed=1)
    if release.records["suppressed"]:
        release.save(tmp_path / "out")
        told = json.loads((tmp_path / "out/publish/manifest.json").read_text())["records"]["suppressed"]
        assert told == {"from": 1, "to": None}
        assert not [f for f in shoal.check(tmp_path / "out/publish").findings if "range" in f or "do not make" in f]
    assert release.told_counts[0]["suppressed"] in (0, SOME)
