"""Work that takes its time: one process a job, told of in files, so that it outlives tabs, and servers too.

::

    jobs/000001/
      ask.json         what is to be done
      lock             held by the process as long as it lives
      pid              whom to stop
      progress.json    what is being done: words, steps done, steps in all
      end.json         how it ended; what it found is kept with the session
      stopped          there if it was asked to stop
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shoal.errors import ShoalError
from shoal.scratch import locked, write_owned
from shoal.studio.session import Session

try:
    import fcntl
except ImportError:  # not on Windows; jobs are then known by this server alone
    fcntl = None  # type: ignore[assignment]

JOBS = "jobs"
_SECONDS_TO_STOP = 3.0
_BETWEEN_LOOKS = 0.05
_started: dict[Path, subprocess.Popen[bytes]] = {}

Starter = Callable[[Session, "Job"], None]
"""What sets a job going."""


@dataclass(frozen=True)
class Job:
    """One piece of work."""

    folder: Path

    @property
    def number(self) -> int:
        """From 1 on."""
        return int(self.folder.name)

    def read(self, name: str) -> Any:
        """One of its files; None where it is not there."""
        try:
            return json.loads((self.folder / name).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None

    def write(self, name: str, content: Any) -> None:
        """Write one of its files, whole or not at all."""
        with suppress(FileNotFoundError):  # the session was removed meanwhile
            write_owned(self.folder / name, json.dumps(content, allow_nan=False), overwrite=True)

    @property
    def verb(self) -> str:
        """What it does."""
        return str((self.read("ask.json") or {}).get("verb", ""))

    @property
    def is_alive(self) -> bool:
        """Whether a process works on it."""
        if fcntl is None:
            process = _started.get(self.folder)
            return process is not None and process.poll() is None
        try:
            handle = os.open(self.folder / "lock", os.O_RDWR)
        except OSError:
            return False
        try:
            fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)  # which others who look can have at the same time
        except OSError:
            return True
        finally:
            os.close(handle)
        return False

    @property
    def state(self) -> str:
        """One of: running, done, failed, stopped."""
        end = self.read("end.json")
        if end is not None:
            return str(end["state"])
        if self.is_alive:
            return "running"
        end = self.read("end.json")  # which may have come just before the process went
        return "stopped" if end is None else str(end["state"])

    @property
    def told(self) -> dict[str, Any]:
        """All that pages show of it."""
        what, done, total = self.read("progress.json") or ("starting", 0, 0)
        state, end = self.state, self.read("end.json") or {}
        return {
            "number": self.number,
            "verb": self.verb,
            "state": state,
            "what": what,
            "done": done,
            "total": total,
            "sentence": end.get("sentence", "") or _ended_early(state, (self.folder / "stopped").exists()),
        }

    def forget_seed(self) -> None:
        """Leave out the seed of what was asked for, which nobody needs to find here later."""
        ask = self.read("ask.json") or {}
        if "seed" in ask.get("how", {}):
            self.write("ask.json", {**ask, "how": {n: v for n, v in ask["how"].items() if n != "seed"}})

    def end(self, state: str, sentence: str = "") -> None:
        """Say how it ended."""
        self.write("end.json", {"state": state, "sentence": sentence})

    def stop(self) -> None:
        """End the process, first gently."""
        if not self.is_alive:
            return
        self.write("stopped", True)
        pid = self.read("pid")
        if pid is None:
            raise ShoalError("the work has not begun yet; try again in a moment")
        for number in (signal.SIGTERM, getattr(signal, "SIGKILL", signal.SIGTERM)):
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(pid, number) if hasattr(os, "killpg") else os.kill(pid, number)
            until = time.monotonic() + _SECONDS_TO_STOP
            while time.monotonic() < until:
                if not self.is_alive:
                    self.forget_seed()
                    return
                time.sleep(_BETWEEN_LOOKS)


def _ended_early(state: str, was_asked: bool) -> str:
    if state != "stopped":
        return ""
    return "It was stopped; nothing was written." if was_asked else "Its process ended early; nothing was written."


def last_job(session: Session, verb: str | None = None) -> Job | None:
    """The last job of a session, or the last that did something."""
    for job in reversed(_jobs(session)):
        if verb is None or job.verb == verb:
            return job
    return None


def _jobs(session: Session) -> list[Job]:
    places = (session.folder / JOBS).glob("[0-9]*")
    return [Job(path) for path in sorted(places) if (path / "ask.json").is_file()]


def begin(session: Session, verb: str, how: Mapping[str, Any], start: Starter) -> Job:
    """Begin a job, unless another is under way."""
    with locked(session.folder / JOBS):
        last = last_job(session)
        if last is not None and last.state == "running":
            raise ShoalError("other work is under way; wait for it, or stop it first")
        if last is not None:
            last.forget_seed()  # which one that was killed at once could not do itself
        names = [int(path.name) for path in (session.folder / JOBS).glob("[0-9]*")]
        folder = session.folder / JOBS / f"{max(names, default=0) + 1:06d}"
        folder.mkdir(mode=0o700)
        job = Job(folder)
        (folder / "lock").touch(mode=0o600)
        job.write("ask.json", {"verb": verb, "how": dict(how), "step": session.last})
        start(session, job)
    return job


def start_process(session: Session, job: Job) -> None:
    """Work on a job in a process of its own, which holds the lock from its first moment on."""
    command = [sys.executable, "-m", "shoal.studio.work", str(session.folder), str(job.number)]
    handle = os.open(job.folder / "lock", os.O_RDWR)
    passed: dict[str, Any] = {}
    if fcntl is not None:
        fcntl.flock(handle, fcntl.LOCK_EX)
        passed = {"pass_fds": (handle,), "start_new_session": True}
    try:
        nowhere = subprocess.DEVNULL
        process = subprocess.Popen(command, stdin=nowhere, stdout=nowhere, stderr=nowhere, **passed)
    finally:
        os.close(handle)
    _started[job.folder] = process
    job.write("pid", process.pid)


def stop_all() -> None:
    """Stop what this server began; what was begun by an earlier one goes on."""
    for folder, process in list(_started.items()):
        if process.poll() is None:
            Job(folder).stop()
        with suppress(subprocess.TimeoutExpired):
            process.wait(_SECONDS_TO_STOP)
        del _started[folder]


def gather() -> None:
    """Let go of processes that have ended."""
    for folder, process in list(_started.items()):
        if process.poll() is not None:
            del _started[folder]
