"""The tests of `kinds/trajectories/release.py`: a release is written, checked, attacked, and found out when changed."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import shoal
from shoal.data.trajectories.boxes import COLUMNS
from shoal.data.trajectories.trajectories import Trajectories
from shoal.errors import DataError, Infeasible
from shoal.kinds.trajectories.policy import TrajectoryPolicy
from shoal.manifest import checksum
from shoal.report.trajectories.report import render_trajectory_report
from tests.unit.trajectories.test_k_tau_eps import walkers

POLICY = TrajectoryPolicy.of(k=3)


def commuters(n_persons: int = 60, seed: int = 0) -> Trajectories:
    """Persons who go along one of three ways in the morning, each at a time and a bit beside it."""
    rng = np.random.default_rng(seed)
    rows = []
    for person in range(n_persons):
        start = 1_212_912_000 + int(rng.integers(0, 1500))
        for i in range(5):
            place = rng.normal(0, 0.0006, 2) + [37.7 + 0.004 * i, -122.4 + 0.005 * i * (person % 3 - 1)]
            rows.append((*place, start + 240 * i, person))
    lat, lon, time, who = (np.array(column) for column in zip(*rows, strict=True))
    return Trajectories.of(lat, lon, time, who)


def as_csv(data: Trajectories, path: Path) -> Path:
    lines = [
        f"{y!r},{x!r},{t},{u}"
        for y, x, t, u in zip(
            data.latitude.tolist(), data.longitude.tolist(), data.time.tolist(), data.owners.tolist(), strict=True
        )
    ]
    path.write_text("\n".join(["lat,lon,time,user", *lines, ""]))
    return path


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("release")
    source = as_csv(commuters(), folder / "points.csv")
    shoal.anonymize(source, POLICY).save(folder / "out", keep="groups")
    return folder


def test_a_release_is_checked_from_its_files(saved: Path) -> None:
    alone = shoal.check(saved / "out")
    assert not alone.fails
    assert len(alone.unverified) == 1
    whole = shoal.check(saved / "out", saved / "points.csv", private=saved / "out")
    assert whole.holds, whole.findings
    assert len(whole.guarantees) == 3
    stricter = shoal.check(saved / "out", policy=TrajectoryPolicy.of(k=20))
    assert not stricter.holds


def test_pages_hold_the_map_and_no_secret(saved: Path) -> None:
    report = (saved / "out" / "private" / "report.html").read_text()
    assert "The map before and after" in report
    assert report.count("<svg") >= 1
    manifest = json.loads((saved / "out" / "publish" / "manifest.json").read_text())
    assert manifest["kind"] == "trajectories"
    assert set(manifest["method"]) == {"name", "metres", "minutes", "suppression", "tau", "piece", "cell", "slot"}
    assert "Anonymised trajectories" in (saved / "out" / "publish" / "datasheet.html").read_text()


@pytest.mark.parametrize("column", [1, 3, 9])
def test_a_changed_file_is_found_out(saved: Path, tmp_path: Path, column: int) -> None:
    shutil.copytree(saved / "out", tmp_path / "out")
    path = tmp_path / "out" / "publish" / "data.csv"
    rows = [line.split(",") for line in path.read_text().splitlines()]
    number = rows[1][0]
    for row in rows[1:]:
        if row[0] == number:
            row[column] = f"{float(row[column]) - 0.001:.3f}" if column == 3 else str(int(row[column]) + 1)
    path.write_text("\n".join([*(",".join(row) for row in rows), ""]))
    found = shoal.check(tmp_path / "out", saved / "points.csv", private=saved / "out")
    assert any("checksum differs" in text for text in found.findings)
    assert any(g.model == "boxes-cover" and not g.holds for g in found.guarantees)


def test_the_file_for_viewers_must_say_the_same(saved: Path, tmp_path: Path) -> None:
    shutil.copytree(saved / "out", tmp_path / "out")
    path = tmp_path / "out" / "publish" / "boxes.geojson"
    features = json.loads(path.read_text())["features"]
    assert len(features) == len((saved / "out" / "publish" / "data.csv").read_text().splitlines()) - 1
    path.write_text(path.read_text().replace('"persons": 3', '"persons": 4', 1))
    manifest = tmp_path / "out" / "publish" / "manifest.json"
    told = json.loads(manifest.read_text())
    told["checksums"]["boxes.geojson"] = checksum(path)
    manifest.write_text(json.dumps(told))
    assert shoal.check(tmp_path / "out").findings == ("boxes.geojson does not say the same as data.csv",)
    path.unlink()
    assert any("boxes.geojson is part of a release" in text for text in shoal.check(tmp_path / "out").findings)


def test_attacks_are_compared_on_others() -> None:
    release = shoal.anonymize(commuters(120), POLICY, hold_out=0.25, seed=1)
    found = {r.attack: r for r in release.attacked.results}
    assert set(found) == {"known-points", "home-and-work", "top-places", "membership"}
    assert [name for name, _ in release.attacked.skipped] == ["next-piece", "recovery"]
    assert found["top-places"].control is not None
    assert found["top-places"].details["singled_out_of_original"] >= 0
    assert found["known-points"].details["singled_out"] == 0
    assert found["known-points"].details["singled_out_of_original"] > 0.5
    assert found["membership"].control is not None
    assert "5-anonymity" not in release.verdict.holds
    assert "3-anonymity of trajectories" in release.verdict.holds
    assert "<svg" in render_trajectory_report(release)
    assert release.summary()["points"]["out"] == int(release.published.points.sum())


def test_a_frame_of_points_gives_a_frame_of_boxes() -> None:
    data = commuters()
    frame = {"lat": data.latitude.tolist(), "lon": data.longitude.tolist(), "time": data.time.tolist()}
    frame["user"] = data.owners.tolist()
    release = shoal.anonymize(frame, POLICY)
    assert list(release.data) == list(COLUMNS)
    assert len(release.data["points"]) == len(release.published.sides)
    assert shoal.anonymize(data, POLICY).data.n_trajectories == release.published.n_trajectories


def test_a_release_for_those_who_know_a_while_is_checked_from_its_file(tmp_path: Path) -> None:
    data = walkers(24, 0)
    policy = TrajectoryPolicy.of(k=2, unit="person", tau=30, suppression=0.9, cell=0.001)
    release = shoal.anonymize(data, policy)
    out = release.save(tmp_path / "out", keep="groups")
    alone, whole = shoal.check(out), shoal.check(out, data, private=out)
    assert not alone.fails
    assert whole.holds, whole.findings
    assert [g.model for g in whole.guarantees] == ["k-tau-eps", "box-size", "boxes-cover"]
    assert not shoal.check(out, policy=policy.changed(k=3)).holds
    assert "2^(tau, eps)-anonymity" in release.verdict.holds
    rows = (out / "publish" / "data.csv").read_text().splitlines()
    number = rows[-1].split(",")[0]
    (out / "publish" / "data.csv").write_text("\n".join([r for r in rows if r.split(",")[0] != number]) + "\n")
    assert not next(g for g in shoal.check(out).guarantees if g.model == "k-tau-eps").holds
    with pytest.raises(Infeasible, match="tau with k = 9 needs 81"):
        shoal.anonymize(data, policy.changed(k=9))
    twice = replace(data, persons=data.persons // 2)
    with pytest.raises(DataError, match="some persons have several trajectories"):
        shoal.anonymize(twice, policy)


def test_pieces_are_published_without_a_link_and_checked_from_their_file(tmp_path: Path) -> None:
    source = as_csv(commuters(120), tmp_path / "points.csv")
    policy = POLICY.changed(piece=10)
    release = shoal.anonymize(source, policy, hold_out=0.25, seed=1)
    found = {r.attack: r for r in release.attacked.results}
    assert {"known-points", "next-piece", "recovery"} <= set(found)
    assert found["recovery"].admitted == 0
    assert found["known-points"].details["singled_out"] == 0
    promised = release.guarantees[0].sentence
    assert promised.startswith("Every published piece of 10 minutes is shared by at least 3 persons")
    assert promised.endswith("To one who knows points in several pieces of a person nothing is promised.")
    assert "pieces" in shoal.kind.kind_of(commuters(3)).shown(release)[0][0]
    out = shoal.anonymize(source, policy).save(tmp_path / "out", keep="groups", report=False)
    assert "nothing ties pieces together" in (out / "publish" / "datasheet.html").read_text()
    assert shoal.check(out, source, private=out).holds
    uncut = json.loads((out / "publish" / "manifest.json").read_text())
    uncut["method"]["piece"] = 3
    (out / "publish" / "manifest.json").write_text(json.dumps(uncut))
    assert not shoal.check(out, source, private=out).holds


def test_a_folder_is_attacked(saved: Path) -> None:
    found = shoal.attack(saved / "out", saved / "points.csv", names=["known-points"])
    assert [r.attack for r in found.results] == ["known-points"]


def test_what_cannot_be_met_is_told() -> None:
    with pytest.raises(Infeasible, match="there are 60 persons, and k = 61"):
        shoal.anonymize(commuters(), TrajectoryPolicy.of(k=61))
    far = Trajectories.of([0.0, 10.0], [0.0, 10.0], [0, 0], ["a", "b"])
    with pytest.raises(Infeasible, match="allow larger ones"):
        shoal.anonymize(far, TrajectoryPolicy.of(k=2))
    with pytest.raises(DataError, match="no column is known to hold the longitude"):
        shoal.anonymize({"lat": [1.0]}, POLICY)


def test_more_than_may_be_left_out_is_refused() -> None:
    with pytest.raises(Infeasible, match=r"% of the points would be left out, and 1 % may be; allow larger boxes"):
        shoal.anonymize(commuters(), TrajectoryPolicy.of(k=5, metres=300, minutes=10, suppression=0.01))


def test_what_is_left_out_is_told_and_few_are_not_counted_out(tmp_path: Path) -> None:
    data = commuters()
    lat, lon = np.append(data.latitude, 50.0), np.append(data.longitude, 8.0)
    more = Trajectories.of(lat, lon, np.append(data.time, 1_212_912_000), np.append(data.owners, 999))
    release = shoal.anonymize(more, POLICY)
    assert release.suppressed["alone"] >= 1
    told = release.save(tmp_path / "out", report=False) / "publish" / "manifest.json"
    assert json.loads(told.read_text())["suppressed_because"] == {"alone": {"from": 1, "to": None}}
    assert not shoal.check(tmp_path / "out", more).findings
    assert "was left out, as fewer than 3 persons were near it" in release.suppressed_sentence
    kind = shoal.kind.kind_of(data)
    first, last = kind.shown(release)
    assert "lists of boxes" in first[0]
    assert "Half of the published points" in last[0]
