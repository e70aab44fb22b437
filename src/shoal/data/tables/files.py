"""Open whatever a path holds: the one way from a file to a table."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from shoal.data.sniff import Look, look
from shoal.data.tables.format import FORMATS, HowToRead
from shoal.data.tables.table import MARKERS, Table
from shoal.errors import DataError, MissingExtra, did_you_mean

_COMPRESSED = (".gz", ".gzip")
_ADDRESS = re.compile(r"(?:(?:sqlite|duckdb|excel):)?(?P<file>.+?)(?:\?table=(?P<table>.+))?")
ALIENS = {
    b"PK\x03\x04": "a zip archive or a damaged spreadsheet; unpack it, or save the sheet again",
    b"BZh": "compressed with bzip2; unpack it or compress it with gzip",
    b"\xfd7zXZ\x00": "compressed with xz; unpack it or compress it with gzip",
    b"\x28\xb5\x2f\xfd": "compressed with zstd; unpack it or compress it with gzip",
    b"\xd0\xcf\x11\xe0": "an old spreadsheet; save the sheet as CSV",
    b"%PDF": "a PDF; give the table as CSV or Parquet",
}


def read_table(
    path: str | os.PathLike[str],
    *,
    markers: Sequence[str] = MARKERS,
    delimiter: str | None = None,
    encoding: str | None = None,
    header: str | None = None,
    table: str | None = None,
    drops: Callable[[str], bool] | None = None,
) -> Table:
    """Read a table from a file in any of the formats of `shoal.data.tables.formats`.

    Parameters
    ----------
    path : path
        What it holds is told by its first bytes, not by its name. ``people.db?table=patients`` names a table of a
        database, or a sheet of a workbook.
    markers : sequence of str
        The spellings of a missing value.
    delimiter : str, optional
        One character; else found among comma, semicolon, tab and bar. Text files only.
    encoding : str, optional
        Else UTF-8, UTF-16 with a mark at its start, or Windows-1252, and a note says so. Text files only.
    header : {"first", "none"}, optional
        The first line names the columns; or there is no header, and they are called c1, c2, ... Else it names them
        unless it looks like a record, which is refused, since it would be published as names.
    table : str, optional
        The table of a database, or the sheet of a workbook; else the one that the path names, or the only one.
    drops : callable, optional
        Read every distinct row once, with the number of its records, and no column of which this is true. Of Parquet.

    Raises
    ------
    DataError
        If the file is not there, not readable, or not a whole and regular table; with the line if possible.
    """
    where, named = address_of(path)
    seen = look(where)
    table = table or named
    known = next(format for format in FORMATS.values() if format.looks_like(seen))
    if drops is not None and not known.reads_distinct:
        raise DataError(f"{where}: with a bound on memory only Parquet is read; convert it, or leave memory out")
    return known.read(seen, HowToRead(markers, delimiter, encoding, header, table, drops=drops))


def address_of(path: str | os.PathLike[str]) -> tuple[Path, str | None]:
    """The file, and the table in it, that an address means; what is a file's name is no address.

    >>> address_of("sqlite:people.db?table=patients")
    (PosixPath('people.db'), 'patients')
    """
    match = _ADDRESS.fullmatch(os.fspath(path))
    try:
        is_file = Path(path).exists()
    except OSError:  # a name that is too long for the system
        is_file = True
    if match is None or is_file:
        return Path(path), None
    return Path(match["file"]), match["table"]


def one_of(path: Path, what: str, names: Sequence[str], wanted: str | None) -> str:
    """The one that is wanted, or the only one."""
    if wanted is None and len(names) == 1:
        return names[0]
    if wanted is None:
        raise DataError(
            f"{path}: holds {len(names)} {what}s; name one, {path.name}?table=NAME: {did_you_mean('', names)}"
        )
    if wanted not in names:
        raise DataError(f"{path}: has no {what} {wanted!r}; {did_you_mean(wanted, names)}")
    return wanted


def extra(module: str, what: str) -> Any:
    """An optional library, or a sentence that says how to get it."""
    try:
        return import_module(module)
    except ImportError:
        raise MissingExtra(f'{what} needs {module}: pip install "shoal[files]"') from None


def refuse_aliens(seen: Look) -> None:
    """Refuse what is surely no text, though no format knows it."""
    path, start = seen.path, seen.raw
    for magic, what in ALIENS.items():
        if start.startswith(magic):
            raise DataError(f"{path}: is {what}")
    if path.suffix.casefold() in (".parquet", ".pq") and start:
        raise DataError(f"{path}: is not Parquet, though its name says so; fetch or export it again")


def stem_of(path: Path) -> str:
    name = path.name
    for suffix in _COMPRESSED:
        if name.casefold().endswith(suffix) and len(name) > len(suffix):
            name = name[: -len(suffix)]
    return Path(name).stem or "data"
