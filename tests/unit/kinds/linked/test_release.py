"""A release of linked tables: what is written, told and kept."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

import shoal
from shoal.errors import NotVerified, PolicyError, ShoalError
from shoal.kinds.linked.kind import KIND
from tests.linked_samples import QUASI, clinic, policy, smallest_crowd, written


@pytest.fixture(scope="module")
def paths(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return written(tmp_path_factory.mktemp("clinic"), clinic())


@pytest.fixture(scope="module")
def release(paths) -> shoal.LinkedRelease:
    return shoal.anonymize(paths, policy(), seed=2)


def test_files_join_and_hold_no_secret(release, tmp_path) -> None:
    release.save(tmp_path / "out", keep=["rows", "key"])
    publish = tmp_path / "out" / "publish"
    names = {"patients.csv", "labs.csv", "visits.csv", "datasheet.html", "manifest.json"}
    assert {p.name for p in publish.iterdir()} == names
    frames = {n: pd.read_csv(publish / f"{n}.csv") for n in ("patients", "labs", "visits")}
    assert smallest_crowd(frames, "id", QUASI) >= 3
    key = (tmp_path / "out" / "private" / "key.txt").read_text().strip()
    for path in publish.iterdir():
        text = path.read_text(encoding="utf-8")
        assert key not in text
        assert "m007" not in text
    assert {p.name for p in (tmp_path / "out" / "private").iterdir()} == {
        *("rows-1.csv", "rows-2.csv", "rows-3.csv", "key.txt", "report.json", "report.html", "attacks.json"),
    }


def test_pages_say_what_holds_and_what_was_taken(release, tmp_path) -> None:
    release.save(tmp_path / "out")
    page = (tmp_path / "out" / "private" / "report.html").read_text()
    sheet = (tmp_path / "out" / "publish" / "datasheet.html").read_text()
    for text in (page, sheet):
        assert "in all 3 tables together" in text
        assert "a test" in text
        assert "from 365 earlier to 365 later" in text
    assert "Finding a person by some rows of each table" in page
    assert "Certainty lost" in page
    assert "Persons published" in sheet


def test_the_manifest_tells_each_table(release, tmp_path) -> None:
    release.save(tmp_path / "out", report=False)
    told = json.loads((tmp_path / "out" / "publish" / "manifest.json").read_text())
    assert (told["kind"], told["link"], told["shift_days"], told["data"]) == ("linked", "id", 365, "patients.csv")
    assert list(told["tables"]) == ["patients", "labs", "visits"]
    assert told["tables"]["labs"]["columns"]["taken"] == {"role": "insensitive", "type": "date", "shift": "person"}
    assert told["records"]["out"] == 40
    assert told["accepted"] == {"known_history": "a test"}


def test_what_is_said_of_it(release) -> None:
    assert release.records == {"in": 40, "out": 40, "suppressed": 0}
    told = release.summary()
    assert told["verdict"]["level"] == "amber"
    assert told["verdict"]["worst"].startswith("Accepted, because a test: ")
    assert "The policy thereby also accepts what an attack adds" in told["verdict"]["worst"]
    assert told["rows"]["labs"]["in"] == len(clinic()["labs"])
    assert "persons, amber" in repr(release)
    before, after = KIND.shown(release)
    assert before[0] == "40 of 40 persons published, 0 suppressed."
    assert "  days moved, all of a person by one secret number: taken" in before
    assert after == []


def test_frames_come_back_as_frames() -> None:
    release = shoal.anonymize(clinic(), policy(), seed=2)
    assert all(isinstance(frame, pd.DataFrame) for frame in release.data.values())


def test_a_changed_release_is_not_written(release, tmp_path) -> None:
    with pytest.raises(NotVerified, match="changed after it was checked"):
        replace(release, policy=policy(k=2)).save(tmp_path / "out", report=False)
    assert not (tmp_path / "out").exists()


def test_a_copy_is_checked_anew(release, tmp_path) -> None:
    again = pickle.loads(pickle.dumps(release))
    again.save(tmp_path / "out", report=False)
    assert shoal.check(tmp_path / "out").holds


def test_what_cannot_be_asked_of_it_is_refused(paths, release, tmp_path) -> None:
    with pytest.raises(PolicyError, match="cannot keep 'groups'"):
        release.save(tmp_path / "out", keep="groups")
    with pytest.raises(PolicyError, match="it is not said what links them"):
        shoal.anonymize(paths, shoal.LinkedPolicy())
    with pytest.raises(PolicyError, match="it is not said what links them"):
        shoal.anonymize(paths)
    with pytest.raises(PolicyError, match="the policy is for a table"):
        shoal.anonymize(paths, shoal.Policy())
    with pytest.raises(PolicyError, match="as a dictionary"):
        shoal.anonymize([1, 2], policy())
    with pytest.raises(ShoalError, match="nothing to be linked with"):
        shoal.anonymize(paths["labs"], policy())
    release.save(tmp_path / "there", report=False)
    with pytest.raises(ShoalError, match="is not empty"):
        release.save(tmp_path / "there")
    told = shoal.attack(tmp_path / "there", paths)
    assert {name for name, _ in told.skipped} == {"linked-quasi", "linked-rows"}


def test_persons_are_held_out_with_all_their_rows_and_attacked_again(paths, tmp_path) -> None:
    release = shoal.anonymize(paths, policy(), seed=2, hold_out=0.3)
    assert release.records == {"in": 28, "out": 28, "suppressed": 0, "held_out": 12}
    release.save(tmp_path / "out", keep="rows")
    assert shoal.check(tmp_path / "out", paths, policy()).holds
    told = shoal.attack(tmp_path / "out", paths, private=tmp_path / "out" / "private")
    assert [r.main for r in told.results] == [r.main for r in release.attacked.results]
    assert [r.control for r in told.results] == [r.control for r in release.attacked.results]
    with pytest.raises(PolicyError, match="records were held out"):
        shoal.attack(tmp_path / "out", paths)


@pytest.mark.parametrize("end", ["jsonl", "feather", "parquet"])
def test_files_of_other_formats_are_joined_too(tmp_path, end) -> None:
    paths = {}
    for name, frame in clinic().items():
        paths[name] = tmp_path / f"{name}.{end}"
        if end == "jsonl":
            frame.to_json(paths[name], orient="records", lines=True)
        else:
            getattr(frame, f"to_{end}")(paths[name])
    shoal.anonymize(paths, policy(), seed=2).save(tmp_path / "out", keep="rows", report=False)
    assert (tmp_path / "out" / "publish" / f"labs.{end}").exists()
    found = shoal.check(tmp_path / "out", paths, policy())
    assert (found.holds, found.findings) == (True, ())


def test_a_column_that_looks_sensitive_and_is_not_said_to_be_stops_it() -> None:
    frames = clinic()
    frames["labs"] = frames["labs"].rename(columns={"value": "diagnosis"})
    asked = policy(sensitive=[])
    with pytest.raises(shoal.Infeasible, match="looks sensitive"):
        shoal.anonymize(frames, asked, seed=2)


def test_parquet_and_gzip_stay_what_they_were(tmp_path) -> None:
    frames = clinic()
    frames["patients"].to_parquet(tmp_path / "patients.parquet")
    frames["labs"].to_csv(tmp_path / "labs.csv.gz", index=False)
    paths = {"patients": tmp_path / "patients.parquet", "labs": tmp_path / "labs.csv.gz"}
    asked = policy(quasi=["age", "sex"], shift=["taken"])
    shoal.anonymize(paths, asked, seed=2).save(tmp_path / "out", keep="rows", report=False)
    assert {p.name for p in (tmp_path / "out" / "publish").iterdir()} >= {"patients.parquet", "labs.csv.gz"}
    assert shoal.check(tmp_path / "out", paths, private=tmp_path / "out" / "private").holds
