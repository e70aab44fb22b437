"""Open whatever a path holds: the one way from a file to a table."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

from shoal.data.sniff import Look, alien_of, look
from shoal.data.tables.format import BOUNDED, FORMATS, HowToRead
from shoal.data.tables.parts import look_at
from shoal.data.tables.table import MARKERS, Table
from shoal.data.tables.unchanged import unchanged
from shoal.errors import DataError, MissingExtra, ShoalError, did_you_mean

_COMPRESSED = (".gz", ".gzip")
_ADDRESS = re.compile(r"(?:(?:sqlite|duckdb|excel|zip):)?(?P<file>.+?)(?:\?table=(?P<table>.+))?")
_SERVER = re.compile(r"postgres(?:ql)?:/.*")
_TEXT = "csv"
_NAMED = {
    ".parquet": "Parquet",
    ".pq": "Parquet",
    ".dta": "a Stata file",
    ".sav": "an SPSS file",
    ".zsav": "an SPSS file",
    ".sas7bdat": "a SAS file",
    ".xpt": "a SAS transport file",
    ".xlsx": "an Excel workbook",
    ".feather": "a Feather file",
    ".duckdb": "a DuckDB database",
    ".sqlite": "an SQLite database",
}
"""What names say, of formats that are known by their first bytes."""


def read_table(
    path: str | os.PathLike[str],
    *,
    markers: Sequence[str] = MARKERS,
    delimiter: str | None = None,
    encoding: str | None = None,
    header: str | None = None,
    decimal: str | None = None,
    table: str | None = None,
    drops: Callable[[str], bool] | None = None,
    person: Sequence[str] = (),
    spills: bool = False,
) -> Table:
    """Read a table from a file in any of the formats of `shoal.data.tables.formats`.

    Parameters
    ----------
    path : path
        What it holds is told by its first bytes, not by its name. ``people.db?table=patients`` names a table of a
        database, a sheet of a workbook or a file of a zip archive; ``postgresql://host/database?table=patients`` one
        of a server. A folder of Parquet files is one table, and so are those of a pattern such as ``data/*.parquet``.
    markers : sequence of str
        The spellings of a missing value.
    delimiter : str, optional
        One character; else found among comma, semicolon, tab and bar. Text files only.
    encoding : str, optional
        Else UTF-8, UTF-16 with a mark at its start, or Windows-1252, and a note says so. Text files only.
    header : {"first", "none"}, optional
        The first line names the columns; or there is no header, and they are called c1, c2, ... Else it names them
        unless it looks like a record, which is refused, since it would be published as names.
    decimal : {".", ","}, optional
        What stands before the decimals of numbers; else a point, with a note where commas look like it. Text files
        only.
    table : str, optional
        The table of a database, the sheet of a workbook or the file of an archive; else the one that the path names,
        or the only one.
    drops : callable, optional
        Read every distinct row once, with the number of its records, and no column of which this is true. Of Parquet,
        text, SQLite and DuckDB.
    person : sequence of str
        With `drops`, the columns that say whose a record is. Unless every record is known to be another person's, all
        records are read, with these columns.
    spills : bool
        With `drops`, whether distinct rows that do not fit into memory are left in files: a `SpilledTable` comes back.
        Not of text, of which they are refused.

    Raises
    ------
    DataError
        If the file is not there, not readable, or not a whole and regular table; with the line if possible.
    """
    reading = HowToRead(markers, delimiter, encoding, header, table, decimal, drops=drops, person=person, spills=spills)
    if is_server(path):
        if drops is not None:
            raise DataError(f"{BOUNDED}; write the table to such a file first")
        from shoal.data.tables.postgresql import read_postgresql

        return read_postgresql(os.fspath(path), reading)
    where, named = address_of(path)
    return _read(look_at(where), replace(reading, table=table or named))


def _read(seen: Look, reading: HowToRead) -> Table:
    known = next(format for format in FORMATS.values() if format.looks_like(seen))
    if known.name == _TEXT and seen.is_zip:
        return _read_unpacked(seen, reading)
    stated = [name for name in ("delimiter", "encoding", "decimal") if getattr(reading, name) is not None]
    if known.name != _TEXT and stated:
        raise DataError(
            f"{seen.path}: is not a text file ({known.name}), so that {stated[0]} means nothing; leave it out"
        )
    if reading.drops is not None and not known.reads_distinct:
        raise DataError(f"{seen.path}: {BOUNDED}; convert it, or leave memory out")
    if not known.stands_in_files:
        return known.read(seen, reading)
    with unchanged(seen.path):  # it may be scanned several times, each time for other columns
        return known.read(seen, reading)


def _read_unpacked(seen: Look, reading: HowToRead) -> Table:
    from shoal.data.tables.zipped import unpacked

    if b"vnd.oasis.opendocument" in seen.raw[:200]:
        raise DataError(f"{seen.path}: is an OpenDocument file; save the sheet as .xlsx or CSV")
    with unchanged(seen.path), unpacked(seen, reading.table) as (path, shown):
        try:
            table = _read(look(path), replace(reading, table=None))
        except ShoalError as error:  # which names the file as it is here
            raise type(error)(str(error).replace(str(path), shown)) from None
    return replace(table, source=replace(table.source, name=stem_of(seen.path)))


def is_server(path: str | os.PathLike[str]) -> bool:
    """Whether it is the address of a database server, and no file."""
    return _SERVER.fullmatch(os.fspath(path)) is not None


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
    if wanted is None and not names:
        raise DataError(f"{path}: holds no {what}; there is nothing to read")
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
    path = seen.path
    if what := alien_of(seen.sample):
        raise DataError(f"{path}: is {what}")
    if seen.raw and (named := _NAMED.get(path.suffix.casefold())):
        raise DataError(f"{path}: is not {named}, though its name says so; fetch or export it again")


def stem_of(path: Path) -> str:
    name = path.name
    for suffix in _COMPRESSED:
        if name.casefold().endswith(suffix) and len(name) > len(suffix):
            name = name[: -len(suffix)]
    return Path(name).stem or "data"
