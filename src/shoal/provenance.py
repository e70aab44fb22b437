"""What a release was made from, and how it is made again; for the owner's pages alone."""

from __future__ import annotations

import shlex
import stat
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from shoal.manifest import checksum

SECRET = "SEED"
"""What stands in the place of a seed, which is a secret."""


class SourceFile(NamedTuple):
    """A file as it was when it was read: where it is, its length, and when it was last written to.

    With its SHA-256, if whoever read it left that.
    """

    path: Path
    size: int
    written: int
    digest: str | None = None


def source_files(source: Any) -> tuple[SourceFile, ...]:
    """The files that a source names; none of frames, folders and databases."""
    named = source.values() if isinstance(source, Mapping) else [source]
    found = (_look(Path(one)) for one in named if isinstance(one, str | Path))
    return tuple(file for file in found if file is not None)


def with_digests(files: Sequence[SourceFile], digests: Mapping[Path, str]) -> tuple[SourceFile, ...]:
    """The same files, with what was found when they were read."""
    return tuple(file._replace(digest=digests.get(file.path)) for file in files)


def source_checksums(files: Sequence[SourceFile]) -> dict[str, str]:
    """SHA-256 of files by name, for those that nobody has written to since they were read."""
    found = {}
    for file in files:
        try:
            digest = (file.digest or checksum(file.path)) if _is_as_read(file) else None
        except OSError:
            continue
        if digest is not None and _is_as_read(file):
            found[file.path.name] = digest
    return found


def _is_as_read(file: SourceFile) -> bool:
    return _look(file.path) == file._replace(digest=None)


def _look(path: Path) -> SourceFile | None:
    try:
        told = path.stat()
    except (OSError, ValueError):  # whoever reads it says what is wrong with it
        return None
    return SourceFile(path.absolute(), told.st_size, told.st_mtime_ns) if stat.S_ISREG(told.st_mode) else None


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
