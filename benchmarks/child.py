"""Run a script in a process of its own and take the JSON that it prints last."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]


class ChildFailed(Exception):
    """A script did not do its work; the message is one line."""


def run_json(
    command: Sequence[str | Path], *, timeout: float = 900.0, environment: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """Run a command and parse the last line of its output.

    Raises
    ------
    ChildFailed
        If it cannot be started, takes too long, fails, or prints something else.
    """
    words = [str(word) for word in command]
    try:
        done = subprocess.run(
            words, capture_output=True, text=True, timeout=timeout, env=environment and dict(environment)
        )
    except subprocess.TimeoutExpired:
        raise ChildFailed(f"not finished after {timeout:.0f} s") from None
    except OSError as error:
        raise ChildFailed(f"could not be started ({error.strerror})") from None
    if done.returncode:
        raise ChildFailed(last_line(done.stderr) or f"exit status {done.returncode}")
    try:
        found = json.loads(last_line(done.stdout, len(done.stdout)))
    except ValueError:
        raise ChildFailed("printed no JSON") from None
    if not isinstance(found, dict):
        raise ChildFailed("printed no JSON object")
    return found


def last_line(text: str, length: int = 160) -> str:
    """The last line that is not blank, without the paths of this machine."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    shown = lines[-1] if lines else ""
    for path, word in ((str(ROOT), "."), (os.path.expanduser("~"), "~")):
        shown = shown.replace(path, word)
    return shown[:length]
