"""Parquet files that are one table: those of a folder, of folders in it, or of a pattern such as ``data/*.parquet``.

Folders may name columns, as in ``year=2020/part-0.parquet``. What begins with a dot or an underscore, and checksums,
are no data, as all who write such folders take them.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from urllib.parse import unquote

from shoal.data.sniff import PARQUET, Look, look
from shoal.errors import DataError

_WILD = re.compile("[*?[]")
_NULL = "__HIVE_DEFAULT_PARTITION__"
_WHOLE = re.compile("0|-?[1-9][0-9]{0,17}")
_CHECKSUMS = ".crc"
_PUT = "put their rows into one file first"


@dataclass(frozen=True)
class Parts:
    """Files that are one table, in their order, and the columns that folders name.

    Attributes
    ----------
    files : tuple of Path
    keys : mapping of str to tuple of str or None
        The cells that each file has in a column that is not in it.
    """

    files: tuple[Path, ...]
    keys: Mapping[str, tuple[str | None, ...]]

    def is_whole(self, key: str) -> bool:
        """Whether a column that folders name is of whole numbers, spelled as numbers are.

        >>> Parts((Path("a"), Path("b")), {"zip": ("01", "12")}).is_whole("zip")
        False
        """
        told = [cell for cell in self.keys[key] if cell is not None]
        return bool(told) and all(_WHOLE.fullmatch(cell) for cell in told)


@dataclass(frozen=True)
class PartsLook(Look):
    """The start of the first of several files.

    Attributes
    ----------
    parts : Parts
        All of them.
    """

    parts: Parts


def look_at(path: Path) -> Look:
    """Look at the start of a file, or at all files that a folder or a pattern means.

    Raises
    ------
    DataError
        If there is no such file or folder, it cannot be read, or one of several files is no Parquet.
    """
    parts = parts_of(path)
    if parts is None:
        return look(path)
    first = look(parts.files[0])
    return PartsLook(path, first.raw, first.is_whole, parts)


def parts_of(path: Path) -> Parts | None:
    """The files that a folder, or a pattern that no file is called by, means; None of what is neither."""
    try:
        is_folder, is_there = path.is_dir(), path.exists()
    except (OSError, ValueError):  # whoever opens it says what is wrong with it
        return None
    if is_folder:
        found, fixed = sorted(_below(path, ())), path
    elif is_there or not _WILD.search(str(path)):
        return None
    else:
        fixed, wild = _split(path)
        found = sorted(set(_matching(fixed, wild)))
    if not found:
        raise DataError(
            f"{path}: is a folder without a file of data; give one file, or a folder of Parquet files"
            if is_folder
            else f"{path}: no file has such a name; mind the folder, and what begins with a dot or an underscore"
        )
    for file in found:
        _refuse_other(path, file, file.relative_to(fixed))
    return Parts(tuple(found), _keys(path, fixed, found))


def _split(path: Path) -> tuple[Path, Sequence[str]]:
    """The folder before the first wildcard, and what comes behind it; a folder that is there is called as it is."""
    for at, part in enumerate(path.parts):
        if _WILD.search(part) and not Path(*path.parts[: at + 1]).exists():
            break
    return Path(*path.parts[:at]), path.parts[at:]


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as found:
            return sorted((entry for entry in found if not _is_hidden(entry.name)), key=lambda entry: entry.name)
    except FileNotFoundError:
        return []
    except OSError as error:
        raise DataError(
            f"{folder}: the folder cannot be read ({error.strerror}); change its rights or copy it"
        ) from None


def _is_hidden(name: str) -> bool:
    return name.startswith(".") or (name.startswith("_") and "=" not in name) or name.endswith(_CHECKSUMS)


def _below(folder: Path, above: tuple[str, ...]) -> Iterator[Path]:
    """All files in a folder and in those inside it."""
    where = os.path.realpath(folder)
    if where in above:
        raise DataError(f"{folder}: the folder links back to one that it lies in; remove the link")
    for entry in _entries(folder):
        if entry.is_dir():
            yield from _below(folder / entry.name, (*above, where))
        else:
            yield folder / entry.name


def _matching(folder: Path, wild: Sequence[str]) -> Iterator[Path]:
    """All files whose way from a folder is as a pattern says; of folders that it means, all that is in them."""
    if not wild:
        yield from _below(folder, ())
        return
    first, *rest = wild
    if first == "**":
        yield from _matching(folder, rest)
    for entry in _entries(folder):
        here = folder / entry.name
        if first == "**":
            if entry.is_dir(follow_symlinks=False):
                yield from _matching(here, wild)
        elif fnmatchcase(entry.name, first):
            if entry.is_dir():
                yield from _matching(here, rest)
            elif not rest:
                yield here


def _refuse_other(path: Path, file: Path, shown: Path) -> None:
    try:
        if not stat.S_ISREG(file.stat().st_mode):
            raise DataError(f"{path}: its {shown} is a device or a pipe; give files alone")
        with open(file, "rb") as stream:
            start = stream.read(len(PARQUET))
    except OSError as error:
        raise DataError(
            f"{path}: its {shown} cannot be read ({error.strerror}); change its rights or copy it"
        ) from None
    if start != PARQUET:
        raise DataError(
            f"{path}: its {shown} is not a Parquet file, and several files are read as one table only if all are; move "
            f"it away, name the others by a pattern in quotes ('folder/*.parquet'), or of other formats {_PUT}"
        )


def _keys(path: Path, fixed: Path, files: Sequence[Path]) -> dict[str, tuple[str | None, ...]]:
    """The columns that folders name, with the cell of each file."""
    told: list[dict[str, str | None]] = []
    for file in files:
        here: dict[str, str | None] = {}
        for part in file.relative_to(fixed).parts[:-1]:
            name, is_key, value = part.partition("=")
            if not is_key or not name:
                continue
            if (name := unquote(name)) in here:
                raise DataError(f"{path}: folders name the column {name!r} twice, one inside the other; rename one")
            here[name] = None if value in ("", _NULL) else unquote(value)
        if told and here.keys() != told[0].keys():
            raise DataError(
                f"{path}: its {file.relative_to(fixed)} lies in folders that name other columns than those of "
                f"{files[0].relative_to(fixed)}; give one table"
            )
        told.append(here)
    return {name: tuple(one[name] for one in told) for name in told[0]}
