"""The folder that appears whole or not at all."""

from __future__ import annotations

import json
import stat
from dataclasses import replace

import numpy as np
import pytest

import shoal
from shoal.data.samples.clinic import clinic
from shoal.data.tables.files import read_table
from shoal.data.tables.frames import from_frame
from shoal.data.tables.write import write_table

POLICY = shoal.Policy.of(quasi=["age", "sex", "zip"], sensitive=["diagnosis"], others="insensitive", k=4)


@pytest.fixture(scope="module")
def release():
    table = clinic(300)
    return shoal.anonymize({n: table[n] for n in ("age", "sex", "zip", "diagnosis", "cost", "name")}, POLICY)


def test_a_release_has_both_halves(release, tmp_path) -> None:
    out = release.save(tmp_path / "deep" / "out", keep=["groups", "mapping"])
    assert {p.name for p in (out / "publish").iterdir()} == {"data.csv", "manifest.json", "datasheet.html"}
    private = {p.name for p in (out / "private").iterdir()}
    assert private == {
        "attacks.json",
        "report.json",
        "report.html",
        "groups.csv",
        "mapping-1.csv",
        "mapping-2.csv",
        "mapping-3.csv",
    }
    assert stat.S_IMODE((out / "private").stat().st_mode) == 0o700
    assert all(stat.S_IMODE(p.stat().st_mode) == 0o600 for p in (out / "private").iterdir())
    assert [p.name for p in out.parent.iterdir()] == ["out"]
    assert shoal.check(out / "publish").holds
    assert shoal.check(out).holds


def test_the_manifest_says_what_was_done_and_nothing_of_single_records(release, tmp_path) -> None:
    release.save(tmp_path / "out")
    manifest = json.loads((tmp_path / "out" / "publish" / "manifest.json").read_text())
    assert manifest["records"] == {"in": 300, "out": 300, "suppressed": 0}
    assert manifest["method"]["publish"] == "generalise"
    assert [g["model"] for g in manifest["guarantees"]] == ["k-anonymity"]
    assert manifest["guarantees"][0]["achieved"] >= 4
    assert not {"seed", "groups", "key", "worst"} & set(str(manifest).replace("'", " ").split())


def test_kept_groups_are_those_of_the_release(release, tmp_path) -> None:
    release.save(tmp_path / "out", keep=["groups"])
    lines = (tmp_path / "out" / "private" / "groups.csv").read_text().splitlines()[1:]
    rows, groups = np.array([line.split(",") for line in lines], dtype=int).T
    assert rows.tolist() == list(range(1, 301))
    assert np.bincount(groups).min() >= 4


def test_a_release_that_fails_its_check_is_not_written(release, tmp_path) -> None:
    column = release.table["age"]
    codes = column.codes.copy()
    codes[0] = (codes[0] + 1) % len(column.values)
    tampered = replace(release, _file=None, published=release.table.with_columns({"age": replace(column, codes=codes)}))
    with pytest.raises(shoal.NotVerified, match="nothing was written"):
        tampered.save(tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_an_occupied_place_is_left_alone(release, tmp_path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine.txt").write_text("mine")
    with pytest.raises(shoal.ShoalError, match="not empty"):
        release.save(tmp_path / "out")
    assert (tmp_path / "out" / "mine.txt").read_text() == "mine"
    (tmp_path / "empty").mkdir()
    release.save(tmp_path / "empty")
    assert (tmp_path / "empty" / "publish").is_dir()


def test_only_known_secrets_can_be_kept(release, tmp_path) -> None:
    with pytest.raises(shoal.PolicyError, match="did you mean 'groups'"):
        release.save(tmp_path / "out", keep=["group"])
    assert not (tmp_path / "out").exists()


def test_frames_come_back_in_their_kind(release) -> None:
    assert isinstance(release.data, dict)
    assert list(release.data) == ["age", "sex", "zip", "diagnosis", "cost", "name"]
    assert "3" in release._repr_html_()


def test_a_release_from_a_file_has_data(tmp_path) -> None:
    write_table(from_frame({"age": list("11112222")}), tmp_path / "people.csv")
    release = shoal.anonymize(tmp_path / "people.csv", shoal.Policy.of(quasi=["age"], k=2))
    assert list(release.data["age"]) == list("11112222")
    assert read_table(tmp_path / "people.csv").n_rows == 8
