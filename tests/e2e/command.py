"""The command line as a user starts it, here or in a process of its own, and a small table to try it on."""

from __future__ import annotations

import io
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from unittest import mock

import shoal
from shoal.cli.app import main

SOURCE = str(Path(shoal.__file__).resolve().parents[1])
SECRET = "Zanzibar77"
"""Stands in rare cells of every table here; nothing but the published data and the mapping may show it."""

ROLES = ("--quasi", "age,zip,city", "--sensitive", "disease", "--identifying", "name", "--others", "insensitive")


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    code: int
    stdout: str
    stderr: str


RunHere = Callable[..., Ended]


def call_here(*arguments: str | Path, cwd: Path | None = None) -> Ended:
    """Call `shoal` as `run_command` does, but within this process: the same `main`, without seconds for each start."""
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    before = Path.cwd()
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", newline="", write_through=True) for _ in range(2))
    with mock.patch.object(sys, "argv", ["shoal", *map(str, arguments)]), redirect_stdout(out), redirect_stderr(err):
        try:
            os.chdir(cwd or before)
            main()
        except SystemExit as end:
            code = end.code
        finally:
            os.chdir(before)
            for number, handler in handlers.items():
                signal.signal(number, handler)
    assert isinstance(code, int)
    told, complained = (stream.buffer.getvalue().decode() for stream in (out, err))  # type: ignore[attr-defined]
    return Ended(code, told, complained)


def environment(**more: str) -> dict[str, str]:
    """This process's environment, with the package under test on the path."""
    path = os.pathsep.join(filter(None, [SOURCE, os.environ.get("PYTHONPATH", "")]))
    return {**os.environ, "PYTHONPATH": path, **more}


def command_line(arguments: Sequence[str | Path]) -> list[str]:
    """What a shell would start."""
    return [sys.executable, "-m", "shoal.cli.app", *map(str, arguments)]


def run_command(
    *arguments: str | Path,
    cwd: Path | None = None,
    timeout: float = 600,
    preexec: Callable[[], None] | None = None,
) -> Ended:
    """Run `shoal` to its end."""
    done = subprocess.run(
        command_line(arguments),
        cwd=cwd,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=timeout,
        preexec_fn=preexec,
        check=False,
    )
    return Ended(done.returncode, done.stdout, done.stderr)


def start_command(*arguments: str | Path, cwd: Path | None = None) -> subprocess.Popen[str]:
    """Start `shoal` and let it run."""
    return subprocess.Popen(
        command_line(arguments),
        cwd=cwd,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def people(n_rows: int = 24, **changed: Sequence[str]) -> list[list[str]]:
    """Rows of a small table, header first, with the secret in one cell of three columns.

    Parameters
    ----------
    **changed : sequence of str
        Columns with other cells, or additional ones, repeated as often as needed.
    """
    columns: dict[str, list[str]] = {
        "name": [f"person {i}" for i in range(n_rows)],
        "age": [str(20 + (7 * i) % 50) for i in range(n_rows)],
        "zip": [f"{10000 + 37 * ((5 * i) % 11)}" for i in range(n_rows)],
        "city": [("Ayr", "Bath", "Cork")[i % 3] for i in range(n_rows)],
        "disease": [("flu", "cold", "gout", "ulcer")[(i * i + i // 4) % 4] for i in range(n_rows)],
    }
    if n_rows:
        for name in ("name", "city", "disease"):
            columns[name][n_rows // 2] = SECRET
    for name, cells in changed.items():
        columns[name] = [cells[i % len(cells)] for i in range(n_rows)]
    return [list(columns), *(list(row) for row in zip(*columns.values(), strict=True))]


def text_of(rows: Sequence[Sequence[str]], delimiter: str = ",", line_end: str = "\n") -> str:
    """Rows as delimited text, without any quoting."""
    return line_end.join(delimiter.join(row) for row in rows) + line_end


def write(path: Path, content: str | bytes) -> Path:
    """Write a file, and return where."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def leftovers(folder: Path) -> list[str]:
    """Stages of releases that were not finished, anywhere below a folder, in which they may vanish meanwhile."""
    found = [Path(where, name) for where, *names in os.walk(folder) for name in chain(*names)]
    return sorted(str(p.relative_to(folder)) for p in found if p.match(".*.shoal-*"))


POLICY, DATA, INFEASIBLE, NOT_VERIFIED, OTHER = 2, 3, 4, 5, 1

Arguments = list["str | Path"]
Build = Callable[[Path], Arguments]


@dataclass(frozen=True)
class Case:
    """One command: what to set up, how it must end, and what it must say."""

    name: str
    build: Build
    code: int
    says: str = ""


def anonymize(data: str | Path, *options: str | Path, out: str | Path = "out") -> Arguments:
    return ["anonymize", data, "-o", out, *options]


def assert_refused(ended: Ended, case: Case, folder: Path) -> None:
    assert ended.code == case.code, ended.stderr
    assert ended.stderr.startswith("shoal: ")
    assert ended.stderr.endswith("\n")
    assert ended.stderr.count("\n") == 1, "one sentence, on one line"
    assert re.search(case.says, ended.stderr), ended.stderr
    assert "Traceback" not in ended.stderr
    assert "defect" not in ended.stderr
    assert SECRET not in ended.stdout + ended.stderr
    assert ended.stdout == ""
    assert leftovers(folder) == []


ROLE_LINES = """
[columns]
name = { role = "identifying" }
age = { role = "quasi" }
zip = { role = "quasi" }
city = { role = "quasi" }
disease = { role = "sensitive" }
"""
K3 = '[[require]]\nmodel = "k-anonymity"\nk = 3\n'
FULL = ROLE_LINES + K3
