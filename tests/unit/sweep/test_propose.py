"""The quick sweep of a profile: which methods, on how many records, what is proposed and what is told."""

from __future__ import annotations

import json
import re
import sys
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import shoal
from shoal.kinds.tables.kind import load
from shoal.kinds.tables.policy import Policy
from shoal.kinds.tables.profile import profile_table
from shoal.sweep import propose as proposal_module
from shoal.sweep.propose import Proposal, propose
from shoal.tables.partition.base import PARTITIONS

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

RNG = np.random.default_rng(2)
N = 400
SECRET = "Zanzibar77"


def people(n: int = N, **more: Any) -> dict[str, Any]:
    return {
        "name": [f"person {i}" for i in range(n)],
        "age": RNG.integers(18, 90, n),
        "city": [
            SECRET if i == 7 else ("Ayr", "Bath", "Cork", "Deal")[int(j)] for i, j in enumerate(RNG.integers(0, 4, n))
        ],
        "disease": [("flu", "cold", "gout")[int(j)] for j in RNG.integers(0, 3, n)],
        **more,
    }


def made(source: Any) -> Proposal:
    found = shoal.profile(source).proposal
    assert found is not None
    return found


def test_the_least_loss_is_proposed_and_written_with_its_reason() -> None:
    found = shoal.profile(people())
    proposal = found.proposal
    assert proposal is not None
    assert [(c.partition, c.k) for c in proposal.cells] == [
        ("mondrian", 5), ("mondrian", 10), ("local-recoding", 5), ("local-recoding", 10)
    ]  # fmt: skip
    best = min((c for c in proposal.cells if c.k == 5), key=lambda c: c.gcp)
    assert proposal.partition == best.partition
    assert re.match(rf"{best.partition} loses least: \d\S* % of certainty \(GCP\) against \d\S* % for ", proposal.why)
    assert proposal.why.endswith("with k = 5 on the whole table.")
    text = found.to_toml()
    assert f'# {proposal.why}\npartition = "{best.partition}"' in text
    policy = Policy(**tomllib.loads(text))
    assert policy.method.partition == best.partition
    assert shoal.anonymize(people(), policy).guarantees[0].holds
    told = json.dumps(found.to_dict(), allow_nan=False)
    assert json.loads(told)["proposal"]["partition"] == best.partition
    for secret in (SECRET, "person 1", "Bath"):
        assert secret not in told
        assert secret not in text


def test_numbers_alone_are_tried_with_k_member() -> None:
    table = load({"age": RNG.integers(18, 90, 150), "weight": RNG.normal(70, 9, 150)})
    attributes = profile_table(table).attributes
    quasi = {n: type(a)(n, "continuous", "quasi") for n, a in attributes.items()}
    assert {c.partition for c in propose(table, quasi).cells} == {"mondrian", "k-member"}


def test_large_tables_are_sampled_the_same_way_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proposal_module, "SAMPLE", 150)
    source = people()
    one, two = made(source), made(source)
    assert one.n_tried == 150
    assert {c.n_in for c in one.cells} == {150}
    assert "on a sample of 150 records" in one.why
    assert [c.losses for c in one.cells] == [c.losses for c in two.cells]


def test_a_sample_does_not_change_what_columns_mean(monkeypatch: pytest.MonkeyPatch) -> None:
    """A number with few repeats looks like a key in a sample, and is none in the table."""
    monkeypatch.setattr(proposal_module, "SAMPLE", 120)
    source = people(birth_year=RNG.integers(1900, 2020, N))
    roles = {n: a.role for n, a in shoal.profile(source, sweep=False).attributes.items()}
    seen: list[dict[str, Any]] = []
    try_cell = proposal_module.try_cell

    def spy(trials: Any, asked: Any) -> Any:
        seen.append({n: c.role for n, c in asked.policy.columns.items()})
        return try_cell(trials, asked)

    monkeypatch.setattr(proposal_module, "try_cell", spy)
    assert made(source).cells
    assert all(s == roles for s in seen)


def test_a_method_that_would_take_long_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    quick = replace(PARTITIONS["local-recoding"], most_records=300)
    monkeypatch.setattr(proposal_module, "usually_narrowest", lambda *, is_numeric: quick)
    found = made(people())
    assert {c.partition for c in found.cells} == {"mondrian"}
    assert found.partition == "mondrian"
    assert "local-recoding would take long on 400 records" in found.why


@pytest.mark.parametrize(
    ("source", "says"),
    [
        (people(60), "fewer than 100 records"),
        ({"x": ["same"] * 200}, "no column looks quasi-identifying"),
        ({f"age {i}": RNG.integers(18, 90, 120) for i in range(41)}, "more than 40 columns"),
    ],
)
def test_unsuitable_tables_are_told_so(source: dict[str, Any], says: str) -> None:
    found = made(source)
    assert (found.partition, found.cells, found.n_tried) == ("mondrian", (), 0)
    assert says in found.why
    assert f"# {found.why}" in shoal.profile(source).to_toml()


def test_without_the_sweep_there_is_no_proposal() -> None:
    found = shoal.profile(people(), sweep=False)
    assert found.proposal is None
    assert 'partition = "mondrian"' in found.to_toml()
    assert found.to_dict()["proposal"] is None


def test_a_reason_cannot_break_the_policy_file() -> None:
    from dataclasses import replace

    found = shoal.profile(people(), sweep=False)
    odd = replace(found, proposal=Proposal("mondrian", "a\nb = 1\x00\r", N))
    assert tomllib.loads(odd.to_toml())["method"]["partition"] == "mondrian"


def test_progress_counts_releases() -> None:
    seen: list[tuple[str, int, int]] = []
    shoal.profile(people(), progress=lambda *step: seen.append(step))
    assert [step[1:] for step in seen] == [(i, 4) for i in range(4)]
    assert all("trying methods" in what for what, _, _ in seen)
