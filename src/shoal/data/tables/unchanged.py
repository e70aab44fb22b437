"""Whether files are as they were: what is scanned several times has to be one table all the while."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from shoal.data.tables.parts import parts_of
from shoal.errors import DataError


class FileState(NamedTuple):
    """A file as the system tells of it; the path without links."""

    path: str
    device: int
    inode: int
    size: int
    written: int


def states_of(path: Path) -> tuple[FileState, ...]:
    """Of a file, or of all files that a folder or a pattern means; none where there is none."""
    try:
        parts = parts_of(path)
        return tuple(map(_state, (path,) if parts is None else parts.files))
    except (OSError, ValueError, DataError):  # whoever reads it says what is wrong with it
        return ()


def _state(path: Path) -> FileState:
    told = path.stat()
    return FileState(os.path.realpath(path), told.st_dev, told.st_ino, told.st_size, told.st_mtime_ns)


@contextmanager
def unchanged(
    path: Path, since: tuple[FileState, ...] | None = None, told: Callable[[Path], DataError] | None = None
) -> Iterator[None]:
    """Refuse what was read in the block if the files were written to meanwhile, or are others.

    Parameters
    ----------
    since : tuple of FileState, optional
        How they were when they were first read; by default as they are when the block begins.
    told : callable, optional
        What is said of that; by default `changed`.

    Raises
    ------
    DataError
        If they are; whatever else was found wrong with what was made of them.
    """
    before, told = states_of(path) if since is None else since, told or changed
    try:
        yield
    except Exception:  # two tables that were taken for one may go wrong in any way
        if states_of(path) != before:
            raise told(path) from None
        raise
    if states_of(path) != before:
        raise told(path)


def changed(path: Path) -> DataError:
    """Why what was read is not used."""
    return DataError(
        f"{path}: it changed while it was read, so its rows may be of no single table; try again when nobody writes "
        "to it"
    )
