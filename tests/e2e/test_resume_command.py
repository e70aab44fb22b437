"""A run that is killed where a step was finished goes on from there, and writes the bytes of an undisturbed one."""

from __future__ import annotations

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


def run(here: Path, moment: str, how: str, *asked: str, source: str = "people.parquet", out: str = "out") -> Ended:
    (here / "tmp").mkdir(exist_ok=True)
    command = [sys.executable, "-m", "tests.e2e.killed_at", moment, how, "anonymize", source, "-o", out, *asked]
    root = str(Path(__file__).resolve().parents[2])
    there = environment(TMPDIR=str(here / "tmp"))
    there["PYTHONPATH"] = os.pathsep.join([root, there["PYTHONPATH"]])
    done = subprocess.run(command, cwd=here, env=there, capture_output=True, text=True, timeout=600, check=False)
    return Ended(done.returncode, done.stdout, done.stderr)


def checksums(out: Path) -> dict[str, str]:
    return {p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in sorted((out / "publish").iterdir())}


def finished(here: Path) -> set[str]:
    return {p.name.removeprefix("step-") for p in (here / "kept").glob("step-*")}


@pytest.mark.parametrize(
    ("how", "asked", "moment", "left", "taken_up"),
    [
        ("held", ASKED, "in:table", set(), None),
        ("held", ASKED, "table", {"table"}, "The distinct rows were read"),
        ("held", ASKED, "groups", {"table", "groups"}, "The groups were made"),
        ("held", (*ASKED, "--method", "local-recoding"), "groups", {"table", "groups"}, "The groups were made"),
        ("held", (*ASKED, "--method", "datafly"), "groups", {"table", "groups"}, "The groups were made"),
        ("held", ASKED, "saved", {"table", "groups"}, None),
        ("spilled", ASKED, "table", {"table"}, None),
        ("spilled", ASKED, "rows", {"table", "rows"}, "The distinct rows were read"),
        ("spilled", ASKED, "blocks", {"table", "rows", "blocks"}, "The distinct rows were read"),
        ("spilled", ASKED, "in:groups-1", {"table", "blocks", "groups-0"}, "The distinct rows were read"),
        ("spilled", ASKED, "groups-1", {"table", "blocks", "groups-0", "groups-1"}, "The distinct rows were read"),
        ("spilled", AVERAGES, "rows", {"table", "rows"}, "The distinct rows were read"),
        ("spilled", AVERAGES, "ranges", {"table", "rows", "ranges"}, "The distinct rows were read"),
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
