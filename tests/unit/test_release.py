"""The tests of `release.py`: what is saved is what was checked, whatever became of the release meanwhile."""

from __future__ import annotations

import copy
import json
import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import shoal
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
