"""What a release was made from, and how it is made again; for the owner's pages alone."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from shoal.manifest import checksum

SECRET = "SEED"
"""What stands in the place of a seed, which is a secret."""


class SourceFiles:
    """The files that a source names, as they were when it was read; none of frames, folders and databases.

    Their checksums are computed when they are asked for, so that a release without a report need not read them again.
    """

    def __init__(self, source: Any = None) -> None:
        named = source.values() if isinstance(source, Mapping) else [source]
        paths = [Path(one) for one in named if isinstance(one, str | Path)]
        self._seen = {path: stamp for path in paths if (stamp := _stamp(path)) is not None}

    def checksums(self) -> dict[str, str]:
        """SHA-256 by the name of each that was not changed since."""
        return {path.name: checksum(path) for path, seen in self._seen.items() if _stamp(path) == seen}


def _stamp(path: Path) -> tuple[int, int, int] | None:
    """What changes with a file's content; None where there is no file."""
    try:
        found = path.stat()
        return (found.st_ino, found.st_size, found.st_mtime_ns) if path.is_file() else None
    except (OSError, ValueError):  # whoever reads it says what is wrong with it
        return None


def command_line(arguments: Sequence[str], command: str = "anonymize") -> str:
    """A command as it is written, without the value of its seed.

    >>> command_line(["my data.csv", "-k", "5", "--seed", "17", "-o", "out"])
    "shoal anonymize 'my data.csv' -k 5 --seed SEED -o out"
    >>> command_line(["a.csv", "--seed=17"])
    'shoal anonymize a.csv --seed=SEED'
    """
    words, is_seed = [], False
    for word in arguments:
        hidden = SECRET if is_seed else f"--seed={SECRET}" if word.startswith("--seed=") else word
        words.append(hidden)
        is_seed = word == "--seed" and not is_seed
    return shlex.join(["shoal", command, *words])
