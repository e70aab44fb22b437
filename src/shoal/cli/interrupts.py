"""Ctrl-C and the like: heeded between steps, never inside the compiler, and once gently while groups are improved."""

from __future__ import annotations

import os
import signal
from collections.abc import Sequence
from pathlib import Path
from types import FrameType

from shoal.errors import PolicyError, ShoalError

KEEPING = b"\nstopping in a moment, with the best groups so far; Ctrl-C again ends everything\n"
UNTOUCHABLE = ("numba", "llvmlite", "importlib", "_frozen_importlib", "_frozen_importlib_external")
RETRY_SECONDS = 0.1

received: list[int] = []
"""Signals that came, of which any error after them may be a consequence."""
written: list[Path] = []
"""What was written whole before."""
resumed: list[tuple[Path, Path, int | None]] = []
"""Where finished steps are kept, if they are; where the release is to stand, and the number of what stood there."""


class Paused(ShoalError):
    """Interrupted, with something to go on from."""

    exit_code = 130


class Improving:
    """Whether groups are being improved, a step that may end at any time, and whether it was asked to."""

    STEP = "improving groups"
    is_on = False
    is_stopped = False


def watch() -> None:
    """Begin a command: nothing was received or written yet."""
    received.clear()
    written.clear()
    resumed.clear()
    Improving.is_on = Improving.is_stopped = False
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _interrupt)


def unwatch() -> None:
    """End a command: no interrupt is tried again."""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, 0)


def heed(*_: object) -> None:
    """Stop here if a signal came where nothing could stop."""
    if received:
        raise KeyboardInterrupt


def go_on_from(folder: Path, out: Path, data: Sequence[Path]) -> None:
    """Note where finished steps of what is read from `data` are kept, which may not be where the release will stand."""
    from shoal.resume import refuse_same

    if Path("-") in data:
        raise PolicyError("standard input is gone after a kill, so --resume has nothing to go on with; name a file")
    refuse_same(out, folder)
    resumed[:] = [(folder, out, _number(out))]


def all_is_written(path: Path) -> None:
    """From here on an interrupt would only keep the user from reading what was done."""
    written.append(path)
    for number in (signal.SIGINT, signal.SIGTERM, *([signal.SIGALRM] if hasattr(signal, "SIGALRM") else [])):
        signal.signal(number, signal.SIG_IGN)


def what_is_there() -> str:
    """What a message says of the output."""
    if written:
        return f"{written[0]} was written before and is whole"
    if not resumed:
        return "nothing was written"
    from shoal.resume import what_is_kept

    folder, out, before = resumed[0]
    kept = what_is_kept(folder)
    is_there = _number(out) not in (None, before)  # for steps go when the release stands
    told = f"{out} was written before and is whole" if is_there else "nothing was written"
    return f"{told}; {kept}" if kept else told


def _number(path: Path) -> int | None:
    try:
        return path.stat().st_ino
    except OSError:
        return None


def _interrupt(number: int, frame: FrameType | None) -> None:
    """Note the signal and stop, except inside the compiler or an import: an exception there may end the process.

    There it is tried again a moment later, or the next step of the work stops. After a signal any error counts as the
    interrupt: duckdb raises its own. The first Ctrl-C while groups are improved ends only that.
    """
    if number == signal.SIGINT and Improving.is_on and not Improving.is_stopped:
        Improving.is_stopped = True
        os.write(2, KEEPING)  # at once, and safe here: whoever sees nothing happen presses again
        return
    received.append(number)
    while frame is not None:
        if frame.f_globals.get("__name__", "").partition(".")[0] in UNTOUCHABLE:
            if hasattr(signal, "setitimer"):
                signal.signal(signal.SIGALRM, lambda _, later: _interrupt(number, later))
                signal.setitimer(signal.ITIMER_REAL, RETRY_SECONDS)
            return
        frame = frame.f_back
    raise KeyboardInterrupt
