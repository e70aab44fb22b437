"""Pseudo-records of real tables, by the command line alone."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest

from tests.e2e.command import RunHere, call_here

pytestmark = pytest.mark.unattacked

QUASI = "sex,age,race,marital-status,education,native-country,workclass,occupation"


def shoal(folder: Path, *arguments: str | Path, code: int = 0) -> dict:
    ended = call_here(*arguments, "--json", cwd=folder)
    assert ended.code == code, ended.stderr
    return json.loads(ended.stdout)


def numbers(path: Path) -> np.ndarray:
    return np.loadtxt(path, delimiter=",", skiprows=1)


@pytest.mark.slow
def test_census_keeps_its_statistics(tmp_path: Path, shared_data: Path) -> None:
    data = shared_data / "census" / "census.csv"
    options = ["--others", "quasi", "-k", "5", "--method", "mdav", "--publish", "condense", "--seed", "1"]
    made = shoal(tmp_path, "anonymize", data, "-o", "out", *options, "--keep", "groups")
    assert [g["model"] for g in made["guarantees"]] == ["condensation", "no-copies"]
    assert shoal(tmp_path, "check", "out/publish", "--original", data, "--private", "out/private")["holds"]
    before, after = numbers(data), numbers(tmp_path / "out" / "publish" / "data.csv")
    assert before.shape == after.shape
    change = np.corrcoef(before.T) - np.corrcoef(after.T)
    assert np.abs(change).mean() < 0.02
    assert np.abs(after.mean(axis=0) / before.mean(axis=0) - 1).max() < 0.05
    assert not {tuple(row) for row in after} & {tuple(row) for row in before}


@pytest.mark.slow
def test_adult_is_checked_as_far_as_there_is_evidence(tmp_path: Path, shared_data: Path) -> None:
    data = tmp_path / "adult.csv"
    data.write_bytes(gzip.decompress((shared_data / "adult" / "arx_adult.csv.gz").read_bytes()))
    options = ["--quasi", QUASI, "--sensitive", "salary-class", "-k", "5", "-l", "2", "--publish", "condense"]
    made = shoal(tmp_path, "anonymize", data, "-o", "out", *options, "--keep", "groups")
    assert made["records"]["out"] == 30_162
    assert {g["model"] for g in made["guarantees"]} == {"condensation", "no-copies", "l-diversity"}
    alone = shoal(tmp_path, "check", "out/publish", code=5)
    assert not alone["guarantees"]
    assert len(alone["unverified"]) == 3
    compared = shoal(tmp_path, "check", "out/publish", "--original", data, code=5)
    assert [g["holds"] for g in compared["guarantees"]] == [True]
    whole = shoal(tmp_path, "check", "out/publish", "--original", data, "--private", "out/private")
    assert whole["holds"]
    assert len(whole["guarantees"]) == 3
    # An original's row in the place of a pseudo-record.
    published = tmp_path / "out" / "publish" / "data.csv"
    lines, originals = published.read_text().splitlines(), data.read_text().splitlines()
    shared = {line.rsplit(";", 1)[0] for line in lines}
    lines[5] = next(line for line in originals[1:] if line.rsplit(";", 1)[0] not in shared)
    published.write_text("\n".join([*lines, ""]))
    edited = shoal(tmp_path, "check", "out/publish", "--original", data, code=5)
    assert [g["holds"] for g in edited["guarantees"]] == [False]


def test_check_says_in_words_what_it_could_not_verify(tmp_path: Path, run_here: RunHere) -> None:
    rng = np.random.default_rng(0)
    rows = [
        f"{a},{h:.1f},{d}" for a, h, d in zip(rng.integers(20, 70, 60), rng.normal(170, 9, 60), "ab" * 30, strict=True)
    ]
    (tmp_path / "people.csv").write_text("\n".join(["age,height,disease", *rows, ""]))
    options = ["--quasi", "age,height", "--sensitive", "disease", "-k", "5", "--publish", "condense", "-o", "out"]
    ended = run_here("anonymize", "people.csv", *options, cwd=tmp_path)
    assert ended.code == 0, ended.stderr
    assert "drawn anew in groups: age, height" in ended.stdout
    ended = run_here("check", "out/publish", cwd=tmp_path)
    assert ended.code == 5
    assert ended.stdout.count("not verified") == 2
    assert "Nothing is wrong with what was checked, but" in ended.stdout
    ended = run_here("check", "out/publish", "--original", "people.csv", "--private", "out/private", cwd=tmp_path)
    assert ended.code == 3
    assert "--keep groups" in ended.stderr
    ended = run_here("anonymize", "people.csv", *options[:-1], "out2", "--method", "datafly", cwd=tmp_path)
    assert ended.code == 2
    assert not (tmp_path / "out2").exists()
