"""Linked tables on the command line: several files in, several out, and what cannot be linked."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path
from unittest import mock

import pandas as pd
import pytest

from tests.e2e.command import RunHere, leftovers
from tests.linked_samples import QUASI, clinic, smallest_crowd, written

FILES = ("patients.csv", "labs.csv", "visits.csv")
ASKED = (
    *("--link", "id", "--quasi", "age,sex,ward", "--sensitive", "value", "--shift", "taken,seen", "-k", "3"),
    *("--suppression", "0.6", "--accept", "known_history=a test", "--seed", "2"),
)


@pytest.fixture
def here(tmp_path: Path) -> Path:
    written(tmp_path, clinic())
    return tmp_path


def test_files_are_released_joined_and_checked(here: Path, run_here: RunHere) -> None:
    made = run_here("anonymize", *FILES, *ASKED, "-o", "out", "--keep", "rows", cwd=here)
    assert made.code == 0, made.stderr
    assert "40 of 40 persons published" in made.stdout
    assert "in all 3 tables together" in made.stdout
    frames = {n: pd.read_csv(here / "out" / "publish" / f"{n}.csv") for n in clinic()}
    assert smallest_crowd(frames, "id", QUASI) >= 3
    alone = run_here("check", "out", cwd=here)
    assert alone.code == 0, alone.stdout
    originals = [part for name in FILES for part in ("--original", name)]
    whole = run_here("check", "out", *originals, "--private", "out/private", cwd=here)
    assert whole.code == 0, whole.stdout
    assert "one person" not in whole.stdout


def test_a_profile_s_policy_works_unedited(here: Path, run_here: RunHere) -> None:
    found = run_here("profile", *FILES, "--link", "id", cwd=here)
    assert found.code == 0, found.stderr
    assert "shoal anonymize patients.csv labs.csv visits.csv -p policy.toml -o out/" in found.stdout
    made = run_here("anonymize", *FILES, "-p", "policy.toml", "-o", "out", "--json", cwd=here)
    assert made.code == 0, made.stderr
    told = json.loads(made.stdout)
    assert told["guarantees"][0]["achieved"] >= 5
    assert told["verdict"]["level"] == "green"


@pytest.mark.parametrize(
    ("files", "asked", "code", "what"),
    [
        (FILES, ("-k", "3"), 2, "it is not said what links them"),
        (("patients.csv",), ("--kind", "linked", "--link", "id"), 3, "nothing to be linked with"),
        (("patients.csv",), ("--link", "id"), 2, "--link is for linked tables, and patients.csv is read as a table"),
        (("patients.csv", "patients.csv"), ("--link", "id"), 3, "patients.csv is given twice"),
        (("patients.csv", "more/patients.csv"), ("--link", "id"), 3, "have the same name"),
        (("patients.csv", "absent.csv"), ("--link", "id"), 3, "there is no such file"),
        (("patients.csv", "keyless.csv"), ("--link", "id"), 2, "'keyless' has no column 'id' to link it by"),
        (("patients.csv", "holes.csv"), ("--link", "id"), 3, "missing in 1 of 2 rows of 'holes'"),
        (("patients.csv", "zeros.csv"), ("--link", "id"), 3, "no row of 'zeros' is of anybody in 'patients'"),
        (FILES, ("--link", "idd"), 2, "'patients' has no column 'idd' to link it by; did you mean 'id'"),
        (FILES, ("--link", "id", "--quasi", "agee"), 2, "'agee' that is in no table; did you mean 'age'"),
        (FILES, ("--link", "id", "--hold-out", "0.1"), 2, "leaves fewer than 10 on one side"),
        (
            ("patients.csv", "spelled.csv"),
            ("--link", "id"),
            3,
            "a key of 'id' can be told from others only by spelling",
        ),
        (FILES, ("--link", "id", "--key", "k.txt"), 3, "there is no key"),
        (FILES, ("--link", "id", "--person", "id"), 2, "--person is for tables"),
        (FILES, ("--kind", "table"), 2, "linked tables"),
    ],
)
def test_what_cannot_be_linked_is_one_sentence(here: Path, run_here: RunHere, files, asked, code, what) -> None:
    (here / "more").mkdir()
    for name, text in (
        ("more/patients", "id,age\nm001,3\n"),
        ("keyless", "key,x\nm001,3\n"),
        ("holes", "id,x\nm001,3\n,4\n"),
        ("zeros", "id,x\n1,3\n2,4\n"),
        ("spelled", "id,x\nm002,3\nM001,4\n"),
    ):
        (here / f"{name}.csv").write_text(text)
    ended = run_here("anonymize", *files, *asked, "-o", "out", cwd=here)
    assert (ended.code, what in ended.stderr) == (code, True), ended.stderr
    assert ended.stderr.count("\n") == 1
    assert "m001" not in ended.stderr
    assert not (here / "out").exists()


def test_an_output_that_exists_is_left_alone(here: Path, run_here: RunHere) -> None:
    (here / "out").mkdir()
    (here / "out" / "mine.txt").write_text("mine")
    ended = run_here("anonymize", *FILES, *ASKED, "-o", "out", cwd=here)
    assert (ended.code, "is not empty" in ended.stderr) == (1, True)
    assert [p.name for p in (here / "out").iterdir()] == ["mine.txt"]


@pytest.mark.parametrize("place", ["check", "release"])
def test_a_full_disk_publishes_nothing(here: Path, run_here: RunHere, place: str) -> None:
    full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    where = "shoal.kinds.linked.release.write_table" if place == "check" else "shoal.stage.shutil.copyfileobj"
    with mock.patch(where, side_effect=full):
        ended = run_here("anonymize", *FILES, *ASKED, "-o", "out", cwd=here)
    assert (ended.code, os.strerror(errno.ENOSPC) in ended.stderr) == (1, True), ended.stderr
    assert not (here / "out").exists()
    assert leftovers(here) == []


def test_a_table_s_policy_is_refused_for_several_files(here: Path, run_here: RunHere) -> None:
    (here / "policy.toml").write_text('kind = "table"\n')
    ended = run_here("anonymize", *FILES, "-p", "policy.toml", "-o", "out", cwd=here)
    assert ended.code == 2
    assert ended.stderr.count("\n") == 1


def test_hardening_and_sweeps_are_for_single_tables(here: Path, run_here: RunHere) -> None:
    (here / "policy.toml").write_text('kind = "linked"\nlink = "id"\n')
    for command in (("harden", "--risk", "0.1"), ("sweep", "--k", "2,3")):
        ended = run_here(command[0], "patients.csv", "-p", "policy.toml", *command[1:], cwd=here)
        assert ended.code in (2, 3), ended.stderr
        assert ended.stderr.count("\n") == 1
        assert "defect" not in ended.stderr
