"""Releases as they were made pass the check: with hierarchies, missing cells, and whatever was kept."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

import shoal

pytestmark = pytest.mark.unattacked

HIERARCHY = "a;g1;*\nb;g1;*\nc;g2;*\n"


@pytest.fixture
def people(tmp_path: Path) -> Path:
    draw = random.Random(1)
    rows = [
        f"{draw.choice(['a', 'b', 'c', ''])},{draw.randint(0, 50)},{draw.randint(0, 9)},{draw.choice('xyz')}"
        for _ in range(60)
    ]
    (tmp_path / "people.csv").write_text("\n".join(["kind,age,size,illness", *rows, ""]))
    (tmp_path / "kind.csv").write_text(HIERARCHY)
    return tmp_path / "people.csv"


@pytest.mark.parametrize("missing", ["value", "any"])
@pytest.mark.parametrize(
    "method",
    [{"partition": p} for p in ("mondrian", "k-member", "local-recoding", "full-domain", "datafly")]
    + [{"publish": "screen"}],
    ids=["mondrian", "k-member", "local-recoding", "full-domain", "datafly", "screen"],
)
def test_labels_of_a_hierarchy_and_missing_cells_raise_no_alarm(people, tmp_path, method, missing) -> None:
    policy = shoal.Policy.of(
        quasi=["kind", "age", "size"],
        sensitive=["illness"],
        hierarchies={"kind": tmp_path / "kind.csv", "size": "auto"},
        k=9,
        missing=missing,
        **method,
    )
    shoal.anonymize(people, policy, seed=1).save(tmp_path / "out")
    found = shoal.check(tmp_path / "out", people, policy)
    assert found.findings == ()
    assert found.is_whole


@pytest.mark.parametrize(("keep", "publish"), [("rows", "aggregate"), ((), "aggregate"), ((), "slice")])
def test_a_private_folder_without_groups_is_used_as_far_as_it_goes(people, tmp_path, keep, publish) -> None:
    policy = shoal.Policy.of(quasi=["age", "size"], sensitive=["illness"], identifying=["kind"], k=5, publish=publish)
    shoal.anonymize(people, policy, seed=1).save(tmp_path / "out", keep=keep)
    found = shoal.check(tmp_path / "out", people, policy, private=tmp_path / "out" / "private")
    assert found.holds
    assert found.is_whole == (keep == "rows" or publish == "slice")


@pytest.mark.parametrize("partition", ["mondrian", "mdav"])
def test_numbers_with_a_hierarchy_are_averaged_as_numbers(people, tmp_path, partition) -> None:
    policy = shoal.Policy.of(
        quasi=["age", "size"],
        sensitive=["illness"],
        identifying=["kind"],
        hierarchies={"age": "auto"},
        k=5,
        partition=partition,
        publish="aggregate",
    )
    release = shoal.anonymize(people, policy, seed=1)
    ages = [int(line.split(",")[1]) for line in people.read_text().split()[1:]]
    shown = release.data["age"]
    assert sum(map(float, shown)) == pytest.approx(sum(ages))
    release.save(tmp_path / "out", keep="rows")
    assert shoal.check(tmp_path / "out", people, policy, tmp_path / "out" / "private").is_whole


def test_that_groups_were_made_blindly_is_not_taken_for_seen(people, tmp_path) -> None:
    policy = shoal.Policy.of(
        quasi=["age"], sensitive=["illness"], insensitive=["kind", "size"], k=5, l=2, singled_out=1.0
    )
    blind = policy.changed(diversity="blind")
    shoal.anonymize(people, blind, seed=1).save(tmp_path / "out")
    found = shoal.check(tmp_path / "out", people, blind)
    assert found.holds
    assert not found.is_whole
    assert any("without looking" in phrase for phrase in found.not_compared)
    shoal.anonymize(people, policy, seed=1).save(tmp_path / "looking")
    assert shoal.check(tmp_path / "looking", people, policy).is_whole


def test_more_suppression_than_the_policy_allows_is_found(people, tmp_path) -> None:
    policy = shoal.Policy.of(
        quasi=["kind", "age", "size"], sensitive=["illness"], k=5, partition="datafly", suppression=0.5
    )
    release = shoal.anonymize(people, policy, seed=1)
    assert release.records["suppressed"]
    release.save(tmp_path / "out")
    assert shoal.check(tmp_path / "out", people, policy).holds
    found = shoal.check(tmp_path / "out", people, policy.changed(suppression=0.0))
    assert found.findings == ("more records were left out than the policy allows",)


def test_a_policy_overrules_the_markers_of_an_edited_manifest(tmp_path) -> None:
    table = {"age": ["1"] * 4, "s": ["a", "b", "?", "?"]}
    policy = shoal.Policy.of(quasi=["age"], sensitive=["s"], k=2, l=2, missing="any", singled_out=1.0)
    shoal.anonymize(table, policy).save(tmp_path / "out")
    path = tmp_path / "out" / "publish" / "manifest.json"
    content = json.loads(path.read_text())
    path.write_text(json.dumps({**content, "missing_markers": []}))
    found = shoal.check(tmp_path / "out", policy=policy.changed(l=3))
    assert not found.holds
    assert not all(g.holds for g in found.guarantees)


@pytest.fixture
def from_hospitals(people, tmp_path):
    """A release of rows from several hospitals, of whom two may work together."""
    lines = people.read_text().splitlines()
    rows = [f"{line},h{i % 4}" for i, line in enumerate(lines[1:])]
    (tmp_path / "visits.csv").write_text("\n".join([f"{lines[0]},hospital", *rows, ""]))
    policy = shoal.Policy.of(
        quasi=["age", "size"], sensitive=["illness"], identifying=["kind"], k=4, provider="hospital", coalition=2
    )
    shoal.anonymize(tmp_path / "visits.csv", policy, seed=1).save(tmp_path / "out")
    return tmp_path / "visits.csv", policy


def test_what_is_left_without_providers_is_checked_by_the_list_of_them(from_hospitals, tmp_path) -> None:
    visits, policy = from_hospitals
    alone = shoal.check(tmp_path / "out" / "publish", private=None)
    assert not alone.is_whole or alone.unverified
    for original, asked in ((None, None), (visits, None), (visits, policy)):
        found = shoal.check(tmp_path / "out" / "publish", original, asked, private=tmp_path / "out")
        assert found.holds
        assert not found.unverified
        assert found.guarantees[0].details["coalition"] == 2
    stricter = shoal.check(tmp_path / "out" / "publish", visits, policy.changed(coalition=3), private=tmp_path / "out")
    assert any("how many work together" in finding for finding in stricter.findings)


@pytest.mark.parametrize("damage", ["swapped", "short"])
def test_a_list_of_providers_that_is_not_theirs_is_noticed(from_hospitals, tmp_path, damage) -> None:
    visits, _ = from_hospitals
    path = tmp_path / "out" / "private" / "providers.csv"
    head, *rows = path.read_text().splitlines()
    if damage == "short":
        rows = rows[:-1]
    else:  # the first row of no provider
        rows[0] = f"{rows[0].split(',')[0]},{len(rows)}"
    path.write_text("\n".join([head, *rows, ""]))
    found = shoal.check(tmp_path / "out" / "publish", visits, private=tmp_path / "out")
    assert any("list of providers" in finding for finding in found.findings)


def test_all_rows_of_one_provider_leave_nothing(from_hospitals, tmp_path) -> None:
    path = tmp_path / "out" / "private" / "providers.csv"
    head, *rows = path.read_text().splitlines()
    path.write_text("\n".join([head, *(f"{row.split(',')[0]},1" for row in rows), ""]))
    found = shoal.check(tmp_path / "out" / "publish", private=tmp_path / "out")
    assert not found.holds


def test_averages_of_numbers_whose_sum_is_none_raise_no_alarm(tmp_path: Path) -> None:
    people = tmp_path / "people.csv"
    people.write_text(
        "\n".join(["x,ill", *(f"{n},{ill}" for n in ("1.6e308", "1.2e308", "1e308") for ill in "abab"), ""])
    )
    columns = {"x": {"role": "quasi", "type": "continuous"}}
    policy = shoal.Policy.of(columns=columns, sensitive=["ill"], k=4, partition="mdav")
    shoal.anonymize(people, policy).save(tmp_path / "out", report=False)
    assert shoal.check(tmp_path / "out" / "publish", people).findings == ()
