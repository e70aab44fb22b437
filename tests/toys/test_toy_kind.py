"""A kind of data is its own rooms and a line: this one goes through the five verbs and the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

import shoal
from shoal.cli.app import shoal as command_line
from shoal.kinds import HOMES


@pytest.fixture(autouse=True)
def ages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(HOMES, "ages", "tests.toys.kinds.ages")


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "people.ages"
    path.write_text("#ages\n" + "".join(f"{20 + 7 * i % 61}\n" for i in range(50)))
    return path


def test_it_is_recognised_released_saved_checked_and_attacked(source: Path, tmp_path: Path) -> None:
    assert shoal.profile(source) == {"n": 50}
    release = shoal.anonymize(source, seed=1)
    assert release.records == {"in": 50, "out": 50, "suppressed": 0}
    release.save(tmp_path / "out", keep=["rows"])
    assert sorted(p.name for p in (tmp_path / "out" / "publish").iterdir()) == [
        "data.ages",
        "datasheet.html",
        "manifest.json",
    ]
    found = shoal.check(tmp_path / "out", source)
    assert found.findings == ()
    assert found.holds
    assert shoal.attack(tmp_path / "out", source).results == ()
    data = tmp_path / "out" / "publish" / "data.ages"
    data.write_text(data.read_text().replace("20.0", "21.0", 1) + "99.0\n")
    assert shoal.check(tmp_path / "out", source).fails


def test_what_it_does_not_take_is_refused(source: Path) -> None:
    with pytest.raises(
        shoal.PolicyError, match=r"workers = 2 is for tables, strings and linked tables.*leave it out for ages"
    ):
        shoal.anonymize(source, workers=2)
    with pytest.raises(shoal.PolicyError, match="the data is ages, and the policy is for a table"):
        shoal.anonymize(source, shoal.Policy.of(quasi=["age"]))


def test_the_command_line_knows_it(source: Path, tmp_path: Path) -> None:
    run = CliRunner()
    assert "--digits" in run.invoke(command_line, ["anonymize", "--help"]).output
    made = run.invoke(
        command_line, ["anonymize", str(source), "-k", "5", "--digits", "1", "-o", str(tmp_path / "out"), "--json"]
    )
    assert made.exit_code == 0, made.output
    assert json.loads(made.stdout)["guarantees"][0]["achieved"] >= 5
    checked = run.invoke(command_line, ["check", str(tmp_path / "out"), "--original", str(source)])
    assert checked.exit_code == 0, checked.output
    policy = tmp_path / "policy.toml"
    policy.write_text('kind = "ages"\n[[require]]\nmodel = "k-anonymity"\nk = 10\n')
    assert shoal.read_policy(policy).k == 10
    refused = run.invoke(command_line, ["check", str(tmp_path / "out"), "-p", str(policy)])
    assert "NOT what it claims to be" in refused.output


def test_without_the_line_there_is_no_such_kind(source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(HOMES, "ages")
    with pytest.raises(shoal.ShoalError):
        shoal.anonymize(source, shoal.Policy.of(quasi=["age"], k=2))
