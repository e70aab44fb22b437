"""Other packages, each in an environment of its own, made on demand in ``.peers/<name>``.

Together in one environment, pip would silently fall back to years-old versions. A peer is run by its script
``run_<name>.py``, which reads a CSV file, does its own preparation, times the one call that does the task and
prints JSON: ``{"seconds": ..., ...}``. A peer that cannot be installed, or fails, is reported
in the table; it never stops a run.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.child import ROOT, ChildFailed, last_line, run_json
from benchmarks.harness import Contestant, Numbers, Outcome, Setting

SCRIPTS = Path(__file__).parent
ENVIRONMENTS = ROOT / ".peers"
MOST_SECONDS = 900.0


@dataclass(frozen=True)
class Peer:
    """A package from the index, pinned; `also` is what it needs and does not say."""

    name: str
    requirement: str
    also: tuple[str, ...] = ()

    @property
    def python(self) -> Path:
        """The interpreter of its environment."""
        return ENVIRONMENTS / self.name / ("Scripts/python.exe" if os.name == "nt" else "bin/python")

    @property
    def script(self) -> Path:
        """What runs it."""
        return SCRIPTS / f"run_{self.name}.py"

    def install(self) -> None:
        """Make its environment unless it is there and holds the package in this version."""
        pinned = self.requirement.partition("==")[2]
        ask = f"import {self.name}, importlib.metadata as m; assert m.version({self.name!r}) == {pinned!r}"
        if self.python.is_file() and not _run([self.python, "-c", ask]).returncode:
            return
        make: list[str | Path] = [sys.executable, "-m", "venv", ENVIRONMENTS / self.name]
        fill: list[str | Path] = [self.python, "-m", "pip", "install", "--quiet", self.requirement, *self.also]
        for command in (make, fill):
            done = _run(command)
            if done.returncode:
                raise ChildFailed(f"could not be installed: {last_line(done.stderr)}")

    def run(self, path: Path, *, timeout: float | None = None, **task: Any) -> dict[str, Any]:
        """Give it a CSV file and a task; what it printed."""
        self.install()
        environment = {n: v for n, v in os.environ.items() if not n.startswith(("PYTHON", "NUMBA_"))}
        command: list[str | Path] = [self.python, self.script, path, json.dumps(task)]
        return run_json(command, timeout=timeout or MOST_SECONDS, environment=environment)

    def contestant(
        self,
        path: Callable[[], Path],
        *,
        numbers: Callable[[dict[str, Any]], Numbers] | None = None,
        at_least: float | None = None,
        **task: Any,
    ) -> Contestant:
        """The peer on a file, as a rival: one call, as it takes long and compiles nothing."""

        def measure(setting: Setting) -> Outcome:
            try:
                found = self.run(path(), **task)
                return Outcome(
                    seconds=float(found["seconds"]),
                    cpu_seconds=found.get("cpu_seconds"),
                    repeats=1,
                    peak_mb=found.get("peak_mb"),
                    numbers=numbers(found) if numbers else {},
                )
            except (ChildFailed, LookupError, TypeError, ValueError) as error:
                return Outcome(None, failure=str(error) if isinstance(error, ChildFailed) else repr(error))

        return Contestant(self.requirement, measure, is_rival=True, is_peer=True, at_least=at_least)


def _run(command: list[str | Path]) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=MOST_SECONDS)
    except (OSError, subprocess.TimeoutExpired) as error:
        return subprocess.CompletedProcess(command, 1, "", str(error))


ANJANA = Peer("anjana", "anjana==1.2.3")
ANONYMETER = Peer("anonymeter", "anonymeter==1.1.0")
ANONYPY = Peer("anonypy", "anonypy==0.2.1", also=("pandas",))
ANONYPYX = Peer("anonypyx", "anonypyx==0.2.11")
PYCANON = Peer("pycanon", "pycanon==1.3.6")
SPARSE_DOT_TOPN = Peer("sparse_dot_topn", "sparse_dot_topn==1.2.0")
