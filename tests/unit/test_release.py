"""The tests of `release.py`: what is saved is what was checked, whatever became of the release meanwhile."""

from __future__ import annotations

import copy
import html
import json
import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import shoal
from shoal.cli.output import print_release
from shoal.errors import NotVerified
from shoal.release import Release

PEOPLE = {"age": [20 + i % 12 for i in range(60)], "disease": ["abc"[i % 3] for i in range(60)]}
TABLE = shoal.anonymize(PEOPLE, shoal.Policy.of(quasi=["age"], sensitive=["disease"], k=5), seed=1)
TEXTS = ["ACGT"[i % 4] * 3 + "ACGTTGCA"[i % 5 :] for i in range(60)]
STRINGS = shoal.anonymize(TEXTS, shoal.StringPolicy.of(k=10, copies="allow"), seed=1)
RELEASES = [(TABLE, PEOPLE), (STRINGS, TEXTS)]


@pytest.mark.parametrize(("release", "source"), RELEASES, ids=["table", "strings"])
@pytest.mark.parametrize("copied", [copy.deepcopy, lambda r: pickle.loads(pickle.dumps(r))], ids=["copied", "pickled"])
def test_a_copy_is_checked_anew_and_saves_the_same_bytes(
    release: Release[Any], source: Any, copied: Any, tmp_path: Path
) -> None:
    release.save(tmp_path / "one", report=False)
    copied(release).save(tmp_path / "two", report=False)
    for path in (tmp_path / "one" / "publish").iterdir():
        assert path.read_bytes() == (tmp_path / "two" / "publish" / path.name).read_bytes()
    assert not shoal.check(tmp_path / "two", source).fails


@pytest.mark.parametrize("release", [TABLE, STRINGS], ids=["table", "strings"])
@pytest.mark.parametrize("has_file", [True, False])
def test_a_release_that_says_something_else_than_was_checked_is_not_saved(
    release: Release[Any], has_file: bool, tmp_path: Path
) -> None:
    kept = release if has_file else replace(release, _file=None)
    for changed in (
        replace(kept, policy=kept.policy.changed(k=12)),
        replace(kept, guarantees=()),
        replace(kept, guarantees=tuple(replace(g, achieved=99.0) for g in kept.guarantees)),
    ):
        with pytest.raises(NotVerified):
            changed.save(tmp_path / "out", report=False)
    assert list(tmp_path.iterdir()) == []
    if isinstance(kept, shoal.TableRelease) and has_file:
        columns = {n: replace(a, role="insensitive") for n, a in kept.attributes.items()}
        with pytest.raises(NotVerified):
            replace(kept, attributes=columns).save(tmp_path / "out", report=False)


def test_no_report_measures_and_attacks_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    release = shoal.anonymize(PEOPLE, TABLE.policy, seed=1, hold_out=0.25)
    monkeypatch.setattr("shoal.utility.tables.measure.measure", None)
    monkeypatch.setattr("shoal.attack.run.attack_case", None)
    release.save(tmp_path / "out", report=False)
    assert [p.name for p in (tmp_path / "out" / "private").iterdir()] == ["held-out.csv"]
    content = json.loads((tmp_path / "out" / "publish" / "manifest.json").read_text())
    assert content["kind"] == "table"


def test_the_verdict_is_the_same_wherever_it_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for release in (TABLE, STRINGS):
        said = [text for _, text in release.verdict.lines]
        assert all(said)
        assert all(text in repr(release) for text in said)
        assert all(html.escape(text) in release._repr_html_() for text in said)
        assert release.summary()["verdict"] == release.verdict.to_dict()
        out = tmp_path / release.kind
        release.save(out)
        page = html.unescape((out / "private" / "report.html").read_text())
        assert f"verdict {release.verdict.level}" in page
        assert all(text in page for text in said)
        print_release(release, out)
        assert capsys.readouterr().out.splitlines()[-3:] == [
            f"{name:9}  {text}" for name, text in release.verdict.lines
        ]


def test_attacks_that_need_no_others_are_run_in_every_release(tmp_path: Path) -> None:
    TABLE.save(tmp_path / "out")
    kept = json.loads((tmp_path / "out" / "private" / "attacks.json").read_text())
    tried = {told["attack"] for told in kept["results"]}
    assert {"singling-out", "linkage", "homogeneity"} <= tried
    why = {told["attack"]: told["because"] for told in kept["not_run"]}
    assert "hold some out" in why["inference"]
    held = shoal.anonymize(PEOPLE, TABLE.policy, seed=1, hold_out=0.5)
    assert {"inference", "membership"} <= {r.attack for r in held.attacked.results}


def test_without_a_report_the_verdict_is_not_green() -> None:
    told = TABLE.judged(report=False)
    assert told.level == "amber"
    assert "no attack was run" in told.worst
    assert told.cost == "What it cost was not measured."


@pytest.mark.parametrize(("release", "original"), RELEASES)
def test_evidence_lets_all_be_checked_and_is_the_owners_alone(release: Any, original: Any, tmp_path: Path) -> None:
    release.save(tmp_path / "out", report=False)
    release.keep_evidence(tmp_path / "evidence")
    assert (tmp_path / "evidence").stat().st_mode & 0o077 == 0
    assert all(path.stat().st_mode & 0o077 == 0 for path in (tmp_path / "evidence").iterdir())
    assert shoal.check(tmp_path / "out" / "publish", original, private=tmp_path / "evidence").holds
