"""What a run writes besides its result: gone after a kill with the next run, and never taken from one that lives."""

from __future__ import annotations

import os
import random
import shutil
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.e2e.command import RunHere, command_line, environment, people, text_of, write
from tests.e2e.test_killed import table

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs locks on folders")
ROLES = ("--quasi", "age,zip,sex", "--sensitive", "disease", "-k", "5")


def start(here: Path, name: str, source: str = "many.csv") -> subprocess.Popen[str]:
    arguments = command_line(["anonymize", source, *ROLES, "-o", name])
    return subprocess.Popen(
        arguments,
        cwd=here,
        env=environment(TMPDIR=str(here / "tmp")),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def is_locked(here: Path, name: str) -> bool:
    """Whether a process holds the lock of a folder."""
    import fcntl

    handle = os.open(here / name if (here / name).exists() else here / "tmp" / name, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(handle)
    return False


def catch(here: Path, name: str, found: Callable[[], set[str]], number: int) -> tuple[subprocess.Popen[str], str]:
    """Start a run and send it a signal in the moment in which something is found that was not there before.

    On a busy machine the moment may have passed when the signal arrives; then another run is tried. So it is if the
    run was stopped before it could lock what it made: another may clear that away, and it would make it anew.
    """
    before = found()
    for _ in range(20):
        process = start(here, name)
        while process.poll() is None:
            if new := found() - before:
                process.send_signal(number)
                (caught,) = new
                os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
                if caught in found() and (number == signal.SIGKILL or is_locked(here, caught)):
                    return process, caught
                process.kill()
            time.sleep(0.001)
        process.communicate()
        for left in found() - before:
            shutil.rmtree(here / left if (here / left).exists() else here / "tmp" / left)
        shutil.rmtree(here / name, ignore_errors=True)
    raise AssertionError("all runs ended before anything was found")


@pytest.fixture
def here(tmp_path: Path) -> Path:
    write(tmp_path / "many.csv", table(60_000, random.Random(3)))
    write(tmp_path / "few.csv", table(60, random.Random(4)))
    (tmp_path / "tmp").mkdir()
    return tmp_path


@pytest.mark.parametrize("where", ["tmp", "."])
def test_the_next_run_clears_away_what_a_killed_one_left_and_nothing_else(here: Path, where: str) -> None:
    """Of scratch folders among the temporary files, and of the folder beside the output."""

    def found() -> set[str]:
        return {n for n in os.listdir(here / where) if n.startswith("shoal-run-") or ".shoal-" in n}

    killed, left = catch(here, "killed", found, signal.SIGKILL)  # which cannot clear away after itself
    killed.communicate()
    assert stat.S_IMODE((here / where / left).stat().st_mode) == 0o700

    living, held = catch(here, "living", lambda: found() - {left}, signal.SIGSTOP)
    try:
        done = start(here, "third", "few.csv")
        assert done.communicate()[1] == ""
        assert done.returncode == 0
        assert left not in found()
        assert held in found(), "it belongs to a run that lives"
    finally:
        living.send_signal(signal.SIGCONT)
    told = living.communicate()
    assert (living.returncode, told[1]) == (0, "")
    assert found() == set()
    assert sorted(p.name for p in here.iterdir()) == ["few.csv", "living", "many.csv", "third", "tmp"]
    assert os.listdir(here / "tmp") == []


def test_what_a_command_writes_for_its_owner_is_the_owners_alone(tmp_path: Path, run_here: RunHere) -> None:
    write(tmp_path / "people.csv", text_of(people(60)))
    roles = ("--quasi", "age,zip,city", "--sensitive", "disease", "--identifying", "name", "-k", "3")

    def run(*arguments: str) -> None:
        before = os.umask(0)
        try:
            ended = run_here(*arguments, cwd=tmp_path)
        finally:
            os.umask(before)
        assert ended.code == 0, ended.stderr

    run("anonymize", "people.csv", *roles, "--hold-out", "0.3", "-o", "out")
    run("attack", "out", "--original", "people.csv", "--private", "out/private", "-o", "attacks.json")
    run("profile", "people.csv", "--no-sweep", "-o", "policy.toml")
    run("sweep", "people.csv", "-p", "policy.toml", "-k", "3", "--method", "mondrian", "-o", "sweep")
    files = [tmp_path / "attacks.json", tmp_path / "policy.toml"]
    folders = [tmp_path / "out" / "private", tmp_path / "sweep", tmp_path / "sweep" / "cells"]
    files += [p for folder in folders for p in folder.iterdir() if p.is_file()]
    assert len(files) >= 8
    assert {p.name: oct(stat.S_IMODE(p.stat().st_mode)) for p in files} == {p.name: "0o600" for p in files}
    assert [oct(stat.S_IMODE(p.stat().st_mode)) for p in folders] == ["0o700"] * 3
