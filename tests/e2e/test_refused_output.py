"""When the summary cannot be printed: what was written stays, and nobody is told otherwise."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.e2e.command import ROLES, Ended, call_here, command_line, environment, people, text_of, write

FULL = Path("/dev/full")


def run_into(stdout: int, arguments: Sequence[str | Path], cwd: Path, **more: str) -> Ended:
    done = subprocess.run(
        command_line(arguments),
        cwd=cwd,
        env=environment(**more),
        stdout=stdout,
        stderr=subprocess.PIPE,
        text=True,
        timeout=600,
        check=False,
    )
    return Ended(done.returncode, "", done.stderr)


def into_closed_pipe(arguments: Sequence[str | Path], cwd: Path) -> Ended:
    reader, writer = os.pipe()
    os.close(reader)
    try:
        return run_into(writer, arguments, cwd)
    finally:
        os.close(writer)


def into_full_disk(arguments: Sequence[str | Path], cwd: Path) -> Ended:
    if not FULL.exists():
        pytest.skip("there is no /dev/full")
    with FULL.open("wb") as full:
        return run_into(full.fileno(), arguments, cwd)


@pytest.fixture
def table(tmp_path: Path) -> Path:
    return write(tmp_path / "people.csv", text_of(people()))


def test_a_reader_that_leaves_early_makes_no_failure_of_a_release(table: Path, tmp_path: Path) -> None:
    ended = into_closed_pipe(["anonymize", table, "-o", "out", "-k", "3", *ROLES], tmp_path)
    assert (ended.code, ended.stderr) == (0, "")
    assert call_here("check", tmp_path / "out" / "publish", "--original", table).code == 0


@pytest.mark.parametrize("more", [[], ["--json"]])
def test_a_full_disk_behind_the_output_does_not_deny_the_release(table: Path, tmp_path: Path, more: list[str]) -> None:
    ended = into_full_disk(["anonymize", table, "-o", "out", "-k", "3", *ROLES, *more], tmp_path)
    assert ended.code == 1
    assert ended.stderr.splitlines()[-1] == (
        "shoal: the output cannot be printed: No space left on device; out was written before and is whole"
    )
    assert "nothing was written" not in ended.stderr
    assert call_here("check", tmp_path / "out" / "publish", "--original", table).code == 0


def test_a_profile_that_cannot_be_printed_tells_of_its_policy(table: Path, tmp_path: Path) -> None:
    ended = into_full_disk(["profile", table, "-o", "mine.toml"], tmp_path)
    assert ended.code == 1
    assert "mine.toml was written before" in ended.stderr
    assert (tmp_path / "mine.toml").is_file()


def test_where_nothing_is_written_none_is_claimed(table: Path, tmp_path: Path) -> None:
    made = call_here("anonymize", table, "-o", "out", "-k", "3", *ROLES, cwd=tmp_path)
    assert made.code == 0, made.stderr
    ended = into_full_disk(["check", "out/publish"], tmp_path)
    assert ended.code == 1
    assert ended.stderr == "shoal: the output cannot be printed: No space left on device; nothing was written\n"
    assert into_closed_pipe(["check", "out/publish"], tmp_path).code == 1


def test_a_terminal_without_the_letters_of_a_name_is_no_failure(tmp_path: Path) -> None:
    table = write(tmp_path / "people.csv", text_of(people()).replace("city", "Łąka", 1))
    roles = [word.replace("city", "Łąka") for word in ROLES]
    with (tmp_path / "shown").open("wb") as shown:
        arguments = ["anonymize", table, "-o", "out", "-k", "3", *roles]
        ended = run_into(shown.fileno(), arguments, tmp_path, PYTHONIOENCODING="latin-1")
    assert ended.code == 0, ended.stderr
    assert rb"made alike in groups: age, zip, \u0141\u0105ka" in (tmp_path / "shown").read_bytes()
