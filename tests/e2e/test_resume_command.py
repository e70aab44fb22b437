"""A run that is killed where a step was finished goes on from there, and writes the bytes of an undisturbed one."""

from __future__ import annotations

import errno
import hashlib
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.command import Ended, environment
from tests.unit.kinds.tables.test_large import put

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs locks on folders")

ROLES = ("--quasi", "age,job", "--sensitive", "ill", "--identifying", "id", "--insensitive", "ward")
ASKED = (*ROLES, "-k", "4", "--memory", "1GB", "--accept", "singled_out=invented", "--no-report")
NUMBERS = ("--quasi", "age,ward", "--others", "identifying", "-k", "4", "--memory", "1GB", "--no-report")
AVERAGES = (*NUMBERS, "--method", "mdav")
KILLED = -signal.SIGKILL


def started(
    here: Path, moment: str, how: str, *asked: str, source: str = "people.parquet", out: str = "out"
) -> subprocess.Popen[str]:
    (here / "tmp").mkdir(exist_ok=True)
    command = [sys.executable, "-m", "tests.e2e.killed_at", moment, how, "anonymize", source, "-o", out, *asked]
    root = str(Path(__file__).resolve().parents[2])
    there = environment(TMPDIR=str(here / "tmp"))
    there["PYTHONPATH"] = os.pathsep.join([root, there["PYTHONPATH"]])
    pipe = subprocess.PIPE
    return subprocess.Popen(command, cwd=here, env=there, stdin=pipe, stdout=pipe, stderr=pipe, text=True)


def run(here: Path, moment: str, how: str, *asked: str, source: str = "people.parquet", out: str = "out") -> Ended:
    process = started(here, moment, how, *asked, source=source, out=out)
    told, complained = process.communicate("", timeout=600)
    return Ended(process.returncode, told, complained)


def checksums(out: Path) -> dict[str, str]:
    return {p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in sorted((out / "publish").iterdir())}


def finished(here: Path) -> set[str]:
    return {p.name.removeprefix("step-") for p in (here / "kept").glob("step-*")}


@pytest.mark.parametrize(
    ("how", "asked", "moment", "left", "taken_up"),
    [
        pytest.param("held", ASKED, "in:table", set(), None, marks=pytest.mark.slow),
        ("held", ASKED, "table", {"table"}, "The distinct rows were read"),
        ("held", ASKED, "groups", {"table", "groups"}, "The groups were made"),
        pytest.param(
            "held",
            (*ASKED, "--method", "local-recoding"),
            "groups",
            {"table", "groups"},
            "The groups were made",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            "held",
            (*ASKED, "--method", "datafly"),
            "groups",
            {"table", "groups"},
            "The groups were made",
            marks=pytest.mark.slow,
        ),
        ("held", ASKED, "saved", {"table", "groups"}, None),
        pytest.param("spilled", ASKED, "table", {"table"}, None, marks=pytest.mark.slow),
        pytest.param(
            "spilled", ASKED, "rows", {"table", "rows"}, "The distinct rows were read", marks=pytest.mark.slow
        ),
        pytest.param(
            "spilled",
            ASKED,
            "blocks",
            {"table", "rows", "blocks"},
            "The distinct rows were read",
            marks=pytest.mark.slow,
        ),
        ("spilled", ASKED, "in:groups-1", {"table", "blocks", "groups-0"}, "The distinct rows were read"),
        pytest.param(
            "spilled",
            ASKED,
            "groups-1",
            {"table", "blocks", "groups-0", "groups-1"},
            "The distinct rows were read",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            "spilled", AVERAGES, "rows", {"table", "rows"}, "The distinct rows were read", marks=pytest.mark.slow
        ),
        pytest.param(
            "spilled",
            AVERAGES,
            "ranges",
            {"table", "rows", "ranges"},
            "The distinct rows were read",
            marks=pytest.mark.slow,
        ),
        ("spilled", AVERAGES, "groups-1", {"table", "ranges", "groups-0", "groups-1"}, "The distinct rows were read"),
    ],
)
def test_the_next_run_goes_on_and_writes_the_same_bytes(
    tmp_path: Path, how: str, asked: tuple[str, ...], moment: str, left: set[str], taken_up: str | None
) -> None:
    put(tmp_path / "people.parquet", 1500)
    asked = (*asked, "--seed", "5")
    assert run(tmp_path, "never", how, *asked, out="whole").code == 0
    killed = run(tmp_path, moment, how, *asked, "--resume", "kept")
    assert killed.code == KILLED, killed.stderr
    assert finished(tmp_path) == left
    for folder, _, files in os.walk(tmp_path / "kept"):
        assert stat.S_IMODE(os.stat(folder).st_mode) == 0o700
        assert {stat.S_IMODE(os.stat(Path(folder, name)).st_mode) for name in files} <= {0o600}
    out = "again" if moment == "saved" else "out"
    ended = run(tmp_path, "never", how, *asked, "--resume", "kept", out=out)
    assert ended.code == 0, ended.stderr
    assert (taken_up or "by an earlier run that did not end") in ended.stdout or (
        taken_up is None and moment != "saved"
    )
    assert checksums(tmp_path / out) == checksums(tmp_path / "whole")
    assert not (tmp_path / "kept").exists()
    assert list((tmp_path / "tmp").iterdir()) == []


def test_an_interrupt_says_where_to_go_on(tmp_path: Path) -> None:
    put(tmp_path / "people.parquet", 300)
    ended = run(tmp_path, "interrupt:table", "held", *ASKED, "--resume", "kept")
    assert ended.code == 130
    assert ended.stderr.startswith("\nshoal: interrupted; nothing was written; what was finished is kept in kept, from")
    assert finished(tmp_path) == {"table"}
    assert run(tmp_path, "never", "held", *ASKED, "--resume", "kept").code == 0
    assert not (tmp_path / "kept").exists()


def test_nothing_is_left_by_an_interrupt_before_anything_is_finished(tmp_path: Path) -> None:
    put(tmp_path / "people.parquet", 300)
    ended = run(tmp_path, "interrupt:in:table", "held", *ASKED, "--resume", "kept")
    assert (ended.code, ended.stderr) == (130, "\nshoal: interrupted; nothing was written\n")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["people.parquet", "tmp"]


def test_a_release_that_stands_is_not_denied_when_its_steps_could_not_be_removed(tmp_path: Path) -> None:
    put(tmp_path / "people.parquet", 300)
    ended = run(tmp_path, "interrupt:saved", "held", *ASKED, "--resume", "kept")
    assert ended.code == 130
    assert "out was written before and is whole; what was finished is kept in kept" in ended.stderr
    again = run(tmp_path, "never", "held", *ASKED, "--resume", "kept")
    assert again.code == 1
    assert "what was finished is kept in kept" in again.stderr
    assert run(tmp_path, "never", "held", *ASKED, "--resume", "kept", "--force").code == 0
    assert sorted(p.name for p in tmp_path.iterdir()) == ["out", "people.parquet", "tmp"]


def test_a_run_that_lives_is_left_alone(tmp_path: Path) -> None:
    put(tmp_path / "people.parquet", 300)
    with started(tmp_path, "wait:table", "held", *ASKED, "--resume", "kept") as first:
        assert first.stderr is not None
        assert first.stderr.readline() == "waiting\n"
        second = run(tmp_path, "never", "held", *ASKED, "--resume", "kept", out="other")
        assert (second.code, second.stderr.count("\n")) == (1, 1)
        assert "another run works with this folder; wait until it has ended" in second.stderr
        assert finished(tmp_path) == {"table"}
        assert first.communicate("go on\n")[1] == ""
    assert first.returncode == 0
    assert sorted(p.name for p in tmp_path.iterdir()) == ["out", "people.parquet", "tmp"]


def test_a_full_disk_leaves_what_is_finished(tmp_path: Path) -> None:
    """No file may grow any more, as on a disk that is full."""
    put(tmp_path / "people.parquet", 1500)
    ended = run(tmp_path, "full:groups-1", "spilled", *ASKED, "--resume", "kept")
    assert (ended.code, ended.stderr.count("\n")) == (1, 1), ended.stderr
    assert f"{os.strerror(errno.EFBIG)}; make room there" in ended.stderr
    assert "from where the same command goes on; it holds rows of the original" in ended.stderr
    assert finished(tmp_path) == {"table", "blocks", "groups-0", "groups-1"}
    assert list((tmp_path / "tmp").iterdir()) == []
    ended = run(tmp_path, "never", "spilled", *ASKED, "--resume", "kept")
    assert ended.code == 0, ended.stderr
    assert not (tmp_path / "kept").exists()


def test_another_policy_or_source_starts_over_and_says_so(tmp_path: Path) -> None:
    put(tmp_path / "people.parquet", 300)
    put(tmp_path / "others.parquet", 300, seed=2)
    seeded = (*ASKED, "--seed", "1")
    for source, asked, why in (
        ("people.parquet", (*seeded, "-l", "2"), "policy"),
        ("others.parquet", seeded, "source"),
    ):
        assert run(tmp_path, "groups", "held", *seeded, "--resume", "kept").code == KILLED
        ended = run(tmp_path, "never", "held", *asked, "--resume", "kept", source=source, out=why)
        assert ended.code == 0, ended.stderr
        assert f"it depends on another {why}" in ended.stdout
        assert run(tmp_path, "never", "held", *asked, source=source, out=f"{why}-whole").code == 0
        assert checksums(tmp_path / why) == checksums(tmp_path / f"{why}-whole")


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        ((*ROLES, "-k", "4"), "resume is for tables in bounded memory"),
        ((*ASKED, "--hold-out", "0.2"), "resume is for a release alone"),
        ((*ASKED, "--kind", "sparse"), "is for tables"),
    ],
)
def test_where_it_means_nothing_it_is_refused(tmp_path: Path, asked: tuple[str, ...], why: str) -> None:
    put(tmp_path / "people.parquet", 60)
    ended = run(tmp_path, "never", "held", *asked, "--resume", "kept")
    assert (ended.code, ended.stderr.count("\n")) == (2, 1), ended.stderr
    assert why in ended.stderr
    assert not (tmp_path / "kept").exists()


def test_what_is_piped_cannot_be_gone_on_with(tmp_path: Path) -> None:
    put(tmp_path / "people.parquet", 60)
    for source, out, why in (("-", "out", "standard input is gone"), ("people.parquet", "-", "--resume does not go")):
        ended = run(tmp_path, "never", "held", *ASKED[:-1], "--resume", "kept", source=source, out=out)
        assert (ended.code, why in ended.stderr) == (2, True), ended.stderr
    assert not (tmp_path / "kept").exists()
