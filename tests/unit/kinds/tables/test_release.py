"""The folder that appears whole or not at all."""

from __future__ import annotations

import json
import stat
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import shoal
from shoal.data.samples.clinic import clinic
from shoal.data.tables.files import read_table
from shoal.data.tables.frames import from_frame
from shoal.data.tables.write import write_table

POLICY = shoal.Policy.of(
    quasi=["age", "sex", "zip"], sensitive=["diagnosis"], others="insensitive", k=4, singled_out=1.0
)


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


def _people(n: int = 200) -> dict[str, list[Any]]:
    rng = np.random.default_rng(2)
    return {
        "age": rng.integers(20, 60, n).tolist(),
        "illness": [("flu", "gout", "cold")[i] for i in rng.integers(0, 3, n)],
        "fee": rng.normal(100, 20, n).tolist(),
    }


ASKED = shoal.Policy.of(quasi=["age"], sensitive=["illness", "fee"], k=4)


def test_columns_that_single_out_too_many_stop_a_release() -> None:
    with pytest.raises(shoal.Infeasible, match=r"knows 'fee' finds 100 % of the records.*\[accept\] singled_out"):
        shoal.anonymize(_people(), ASKED)
    with pytest.raises(shoal.Infeasible, match="knows 'illness' and the published labels"):
        shoal.anonymize(_people(), ASKED.changed(quasi=["age", "fee"], insensitive=["illness"]))
    release = shoal.anonymize(_people(), ASKED.changed(quasi=["age", "fee"]))
    assert [(f.name, f.is_above) for f in release.findings] == [("singled_out", False), ("known_sensitive", False)]
    assert not shoal.anonymize(_people(), ASKED.changed(singled_out=1.0)).findings[0].is_above


def test_what_is_taken_stands_on_every_page_with_its_reason(tmp_path) -> None:
    reason = "nobody outside knows a fee"
    policy = ASKED.changed(accept={"singled_out": reason})
    release = shoal.anonymize(_people(), policy, seed=1)
    assert release.findings[0].accepted == reason
    assert any(reason in note for note in release.notes)
    release.save(tmp_path / "out")
    publish, private = tmp_path / "out" / "publish", tmp_path / "out" / "private"
    manifest = json.loads((publish / "manifest.json").read_text())
    assert manifest["accepted"] == {"singled_out": reason}
    assert manifest["limits"] == {"singled_out": 0.05}
    assert reason in (publish / "datasheet.html").read_text()
    assert reason in (private / "report.html").read_text()
    found = shoal.check(tmp_path / "out", original=_people(), policy=policy)
    assert found.holds, found.findings
    assert found.measured[0].accepted == reason
    # The policy of somebody who takes nothing, and a manifest without the reason, do not pass.
    assert any("knows 'fee'" in f for f in shoal.check(tmp_path / "out", policy=ASKED).findings)
    (publish / "manifest.json").write_text(json.dumps({n: v for n, v in manifest.items() if n != "accepted"}))
    assert any("knows 'fee'" in f for f in shoal.check(tmp_path / "out").findings)
    (publish / "manifest.json").write_text(json.dumps({n: v for n, v in manifest.items() if n != "limits"}))
    assert any("does not say how many records" in f for f in shoal.check(tmp_path / "out").findings)
    (publish / "manifest.json").write_text(json.dumps({**manifest, "accepted": {"anything": reason}}))
    with pytest.raises(shoal.DataError, match="not the manifest"):
        shoal.check(tmp_path / "out")


def test_a_reason_for_what_is_not_found_is_not_told(tmp_path) -> None:
    policy = ASKED.changed(quasi=["age", "fee"], accept={"singled_out": "in advance"})
    shoal.anonymize(_people(), policy, seed=1).save(tmp_path / "out", report=False)
    manifest = json.loads((tmp_path / "out" / "publish" / "manifest.json").read_text())
    assert "accepted" not in manifest
    assert "in advance" not in (tmp_path / "out" / "publish" / "datasheet.html").read_text()


def test_what_looks_sensitive_and_has_no_requirement_stops_a_release() -> None:
    table = {n: c for n, c in _people().items() if n != "fee"}
    silent = shoal.Policy.of(quasi=["age"], k=4)
    with pytest.raises(shoal.Infeasible, match="“illness” looks sensitive, and nothing is required of it"):
        shoal.anonymize(table, silent)
    assert shoal.anonymize(table, silent.changed(l=2)).attributes["illness"].role == "sensitive"
    assert shoal.anonymize(table, silent.changed(sensitive=["illness"])).findings[0].name == "singled_out"
    taken = shoal.anonymize(table, silent.changed(accept={"unprotected": "a drill"}))
    assert [f.accepted for f in taken.findings if f.is_above] == ["a drill"]


def test_a_column_that_the_policy_does_not_name_is_not_published_as_it_is() -> None:
    table = {"age": _people()["age"], "kappa": _people()["fee"], "site": ["Ayr"] * 200}
    release = shoal.anonymize(table, shoal.Policy.of(quasi=["age"], k=4))
    roles = {n: a.role for n, a in release.attributes.items()}
    assert roles == {"age": "quasi", "kappa": "quasi", "site": "insensitive"}
    assert any("No role was stated for 'kappa'" in note for note in release.notes)


def test_the_datasheet_of_condensed_persons_says_what_its_manifest_says(tmp_path) -> None:
    people = {
        "who": [f"p{i // 2:02d}" for i in range(40)],
        "age": [20 + i // 2 % 9 for i in range(40)],
        "town": ["ab"[i // 4 % 2] for i in range(40)],
    }
    policy = shoal.Policy.of(person="who", quasi=["age", "town"], k=3, publish="condense")
    release = shoal.anonymize(people, policy, seed=1)
    release.save(tmp_path / "out", report=False)
    smallest = int(release.guarantees[0].achieved)
    assert f"a group of at least {smallest} records" in (tmp_path / "out/publish/datasheet.html").read_text()
    assert not shoal.check(tmp_path / "out", original=people, policy=policy).findings
