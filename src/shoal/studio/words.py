"""Words of pages that are no template's: commands, sizes, names of screens."""

from __future__ import annotations

import shlex
from pathlib import Path

from shoal.studio.session import POLICY, Session

SCREENS = {
    "open": "Open",
    "columns": "Columns",
    "context": "Context",
    "hierarchies": "Hierarchies",
    "requirements": "Requirements",
    "sweep": "Sweep",
    "result": "Result",
    "attacks": "Attacks",
    "release": "Release",
    "history": "History",
}
"""The screens in their order, by the word of their address."""
VERBS = {
    "look": "Reading",
    "make": "Making the release",
    "sweep": "Trying methods",
    "attack": "Attacking the release",
    "publish": "Writing the release",
}
"""What jobs are called while they work."""


def whole_number(text: str) -> int:
    """A number as addresses and forms hold it; -1 where it is none, or too large to mean anything here.

    >>> whole_number("12"), whole_number("-1"), whole_number("²"), whole_number("9" * 5000)
    (12, -1, -1, -1)
    """
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else -1


def shown_path(path: Path) -> str:
    """A path as one would type it where the studio was started."""
    here = Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)


def as_command(
    session: Session, seed: int | None = None, hold_out: float | None = None, out: Path | None = None
) -> str:
    """The command that makes the same release; a seed is for who gave it to fill in."""
    words = ["shoal", "anonymize", *map(shown_path, session.paths), "-p", shown_path(session.folder / POLICY)]
    if seed is not None:
        words += ["--seed", "SEED"]
    if hold_out is not None:
        words += ["--hold-out", str(hold_out)]
    return shlex.join([*words, "-o", "out" if out is None else shown_path(out)])


def n_bytes(size: int) -> str:
    """A number of bytes for a person.

    >>> n_bytes(900), n_bytes(123_456), n_bytes(7_800_000)
    ('900 bytes', '123 kB', '7.8 MB')
    """
    if size < 1000:
        return f"{size} bytes"
    for unit in ("kB", "MB", "GB"):
        size_in = size / 1000
        if size_in < 1000 or unit == "GB":
            return f"{size_in:.0f} {unit}" if size_in >= 10 else f"{size_in:.1f} {unit}"
        size = round(size_in)
    raise AssertionError
