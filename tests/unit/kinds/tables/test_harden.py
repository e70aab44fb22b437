"""Which change of a policy answers which attack on a table, and that no guarantee is given up for it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from shoal.attack.result import AttackResult, Rate
from shoal.attack.tables import TABLE_ATTACKS
from shoal.harden.step import Candidate, Step
from shoal.held_out import hold_out
from shoal.kinds.tables.harden import (
    OF_CUTS,
    OF_EQUAL_SECRETS,
    OF_KEPT_COLUMNS,
    OF_LABELS,
    OF_SMALL_GROUPS,
    TableLadder,
)
from shoal.kinds.tables.kind import KIND, load
from shoal.kinds.tables.policy import Policy

N = 240
RNG = np.random.default_rng(2)
PEOPLE: dict[str, list[Any]] = {
    "name": [f"person {i}" for i in range(N)],
    "age": RNG.integers(20, 60, N).tolist(),
    "zip": [str(v) for v in RNG.integers(10_000, 10_040, N)],
    "plan": [("a", "b")[v] for v in RNG.integers(0, 2, N)],
    "visits": RNG.integers(0, 12, N).tolist(),
    "cost": np.round(RNG.gamma(2, 300, N), 2).tolist(),
    "disease": [("flu", "cold", "gout", "ulcer", "cough")[v] for v in RNG.integers(0, 5, N)],
}
POLICY = Policy.of(
    quasi=["age", "zip"], sensitive=["disease", "cost"], insensitive=["plan", "visits"], identifying=["name"]
).changed(require=[{"model": "k-anonymity", "k": 3}, {"model": "l-diversity", "l": 2, "sensitive": "disease"}])
TABLE = load(PEOPLE)


def ladder(policy: Policy = POLICY) -> TableLadder:
    return TableLadder(TABLE, policy)


def failing(name: str, rate: float = 0.4, **details: float) -> AttackResult:
    return AttackResult(name, f"the {name}", "", Rate(rate * 1000, 1000), Rate(0, 1000), details=details)


def step(*, alone: tuple[str, ...] = (), loss: dict[str, float] | None = None) -> Step:
    measured = {"alone": dict.fromkeys(alone, 1.0), "loss": loss or {}}
    return Step({}, "attacked", loss=0.5, measured=measured)


def harder(one: TableLadder, *results: AttackResult, at: Candidate | None = None, **told: Any) -> list[Candidate]:
    return one.harder(at or one.start, step(**told), results, 0.09)


def roles(candidate: Candidate) -> dict[str, str | None]:
    return {n: c.role for n, c in candidate.policy.columns.items()}


def test_every_attack_on_tables_has_an_answer() -> None:
    known = {*OF_KEPT_COLUMNS, *OF_SMALL_GROUPS, *OF_LABELS, *OF_CUTS, *OF_EQUAL_SECRETS}
    assert known <= {a.name for a in TABLE_ATTACKS.values()}
    one = ladder()
    for name in {a.name for a in TABLE_ATTACKS.values()} - set(OF_LABELS):
        assert harder(one, failing(name)), name


def test_a_column_with_values_of_one_record_is_made_quasi_identifying() -> None:
    (found,) = harder(ladder(), failing("singling-out-univariate"), alone=("cost",))
    assert roles(found) == {**roles(ladder().start), "cost": "quasi"}
    assert found.reasons["columns.cost"].startswith("was sensitive; the singling-out-univariate added")


def test_half_of_the_kept_columns_go_first_and_those_with_most_information() -> None:
    one = ladder()
    (first,) = harder(one, failing("singling-out"))
    assert {n for n, role in roles(first).items() if role == "quasi"} == {"age", "zip", "cost", "visits"}
    (second,) = harder(one, failing("singling-out"), at=first)
    assert roles(second)["plan"] == "quasi"
    (third,) = harder(one, failing("singling-out"), at=second)  # what is guarded is never made quasi-identifying
    assert roles(third) == roles(second)
    assert third.policy.k > second.policy.k


def test_small_groups_are_made_as_much_larger_as_the_attack_asks_for() -> None:
    (some,) = harder(ladder(), failing("linkage", 0.1))
    (more,) = harder(ladder(), failing("linkage", 0.4))
    assert 3 < some.policy.k < more.policy.k
    assert [r.model for r in some.policy.require] == ["l-diversity", "k-anonymity"]


def test_equal_secrets_are_required_to_differ_first_and_else_groups_are_larger() -> None:
    one = ladder(POLICY.changed(require=[{"model": "k-anonymity", "k": 3}]))
    closer, larger = harder(one, failing("homogeneity", disease=0.4, cost=0.1))
    assert [(r.model, r.column) for r in closer.policy.require] == [("k-anonymity", None), ("l-diversity", "disease")]
    assert closer.policy.k == 3
    assert larger.policy.k > 3
    assert closer.reasons["require.l-diversity"].startswith("l-diversity of disease")


def test_labels_that_tell_their_ends_end_this_way_and_cuts_become_blind() -> None:
    assert harder(ladder(), failing("downcoding"), failing("linkage")) == []
    (found,) = harder(ladder(), failing("minimality"))
    assert found.policy.method.diversity == "blind"


def test_where_groups_cannot_grow_the_secret_is_left_out_with_what_is_required_of_it() -> None:
    one = ladder()
    large = Candidate(one.start.policy.changed(k=N // 2))
    details = {"disease: main": 0.5, "disease: control": 0.1, "cost: main": 0.3, "cost: control": 0.2}
    (found,) = harder(one, failing("inference", **details), at=large)
    assert roles(found)["disease"] == "identifying"
    assert [r.model for r in found.policy.require] == ["k-anonymity"]
    assert "left out: the inference added" in found.reasons["columns.disease"]


def test_milder_ones_never_ask_for_less_than_the_policy() -> None:
    one = ladder()
    hard = harder(one, failing("singling-out"))[0]
    hard = Candidate(hard.policy.changed(k=50), hard.reasons)
    found = list(one.milder(hard, step(loss={"cost": 0.9, "age": 0.7})))
    assert found
    for candidate in found:
        assert candidate.policy.k >= 3
        kept = roles(candidate)["disease"] == "sensitive"
        assert kept == any(r.model == "l-diversity" for r in candidate.policy.require)
        assert roles(candidate)["name"] == "identifying"
        assert roles(candidate)["age"] in ("quasi", "identifying")
    assert any(roles(c)["visits"] == "insensitive" for c in found)
    assert any(roles(c)["cost"] == "identifying" for c in found)
    assert any(c.policy.k < 50 and roles(c) == roles(hard) for c in found)
    assert all("require.k" not in c.reasons for c in found if c.policy.k == 3)
    assert any(c.policy.method.partition != "mondrian" for c in found)


def test_ways_are_other_publications_that_the_policy_allows() -> None:
    found = [(c.policy.method.partition, c.policy.method.publication) for c in ladder().ways()]
    assert found == [("mondrian", "aggregate"), ("mondrian", "condense"), ("datafly", "generalise")]
    kept = ladder(POLICY.changed(order="original")).ways()
    assert "condense" not in {c.policy.method.publication for c in kept}


def test_the_loss_counts_every_column_that_the_policy_would_publish() -> None:
    one = ladder()
    table, others = hold_out(TABLE, 0.25, 0)
    as_given = one.release(table, one.start.policy, 0, others)
    lost = one.measured(as_given)["loss"]
    assert set(lost) == {"age", "zip", "plan", "visits", "cost", "disease"}
    assert lost["plan"] == lost["cost"] == 0
    assert one.loss(as_given) == pytest.approx((lost["age"] + lost["zip"]) / 6)
    assert one.loss(as_given) == pytest.approx(as_given.utility["GCP"] * 2 / 6)
    without = one.start.policy.changed(columns={"cost": {"role": "identifying"}})
    assert one.loss(one.release(table, without, 0, others)) == pytest.approx(one.loss(as_given) + 1 / 6)


def test_what_was_a_secret_is_still_attacked_as_one() -> None:
    one = ladder()
    table, others = hold_out(TABLE, 0.25, 0)
    policy = one.start.policy.changed(columns={"cost": {"role": "quasi"}})
    first, second = one.cases(one.release(table, policy, 0, others), KIND.attacks)
    assert list(first[0].sensitive) == ["disease"]
    assert set(second[0].sensitive) == {"disease", "cost"}
    assert "cost" not in second[0].quasi
    assert {a.name for a in second[1]} == {"inference", "inference-bayes", "homogeneity", "skewness", "similarity"}
    assert len(list(one.cases(one.release(table, one.start.policy, 0, others), KIND.attacks))) == 1


def test_what_is_asked_is_told_without_what_stayed() -> None:
    one = ladder()
    assert one.asked(one.start.policy)["roles"] == {}
    (found,) = harder(one, failing("singling-out-univariate"), alone=("cost",))
    assert one.asked(found.policy) == {
        "partition": "mondrian",
        "publish": "generalise",
        "k": 3,
        "require": ["distinct 2-diversity of disease"],
        "roles": {"cost": "quasi"},
    }


def test_the_checksum_is_of_data_and_meaning() -> None:
    same = {ladder().checksum(), TableLadder(load(PEOPLE), POLICY.changed(k=9)).checksum()}
    assert len(same) == 1
    other = TableLadder(load({**PEOPLE, "age": PEOPLE["age"][::-1]}), POLICY).checksum()
    meaning = ladder(POLICY.changed(quasi=["plan"])).checksum()
    assert len({*same, other, meaning}) == 3


def test_advice_names_columns() -> None:
    details = {"disease: main": 0.5, "disease: control": 0.1}
    assert "disease" in ladder().advice([failing("inference", **details)])
    assert "cost" in ladder().advice([failing("singling-out")])


@pytest.mark.parametrize("seed", range(4))
def test_no_walk_up_and_down_gives_a_guarantee_up(seed: int) -> None:
    """Whatever succeeds, in whatever order."""
    rng = np.random.default_rng(seed)
    one = ladder()
    candidate = one.start
    for _ in range(12):
        names = rng.choice([a.name for a in TABLE_ATTACKS.values() if a.name not in OF_LABELS], 2, replace=False)
        told = {"alone": ("cost", "visits"), "loss": {n: float(rng.random()) for n in one.published}}
        up = rng.random() < 0.6
        found = (
            harder(one, *(failing(str(n), float(rng.random())) for n in names), at=candidate, **told)
            if up
            else list(one.milder(candidate, step(**told)))
        )
        for each in found:
            policy, role = each.policy, roles(each)
            assert policy.k >= 3
            assert role["name"] == "identifying"
            assert role["disease"] in ("sensitive", "identifying")
            still = [r for r in policy.require if r.model == "l-diversity" and r.column == "disease"]
            assert bool(still) == (role["disease"] == "sensitive")
            assert all(r.l >= 2 for r in still)
            assert role["age"] in ("quasi", "identifying")
            assert "quasi" in role.values()
            changed = {n for n in one.published if role[n] != one.attributes[n].role}
            assert {f"columns.{n}" for n in changed} == {n for n in each.reasons if n.startswith("columns.")}
        if found:
            candidate = found[int(rng.integers(len(found)))]
