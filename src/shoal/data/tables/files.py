"""Open whatever a path holds: the one way from a file to a table."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from shoal.data.sniff import Look, look
from shoal.data.tables.format import FORMATS, HowToRead
from shoal.data.tables.table import MARKERS, Table
from shoal.errors import DataError

_COMPRESSED = (".gz", ".gzip")
ALIENS = {
    b"PK\x03\x04": "a zip archive or a spreadsheet; unpack it or save the sheet as CSV",
    b"BZh": "compressed with bzip2; unpack it or compress it with gzip",
    b"\xfd7zXZ\x00": "compressed with xz; unpack it or compress it with gzip",
    b"\x28\xb5\x2f\xfd": "compressed with zstd; unpack it or compress it with gzip",
    b"\xd0\xcf\x11\xe0": "an old spreadsheet; save the sheet as CSV",
    b"%PDF": "a PDF; give the table as CSV or Parquet",
    b"SQLite format 3": "an SQLite database; export the table as CSV or Parquet",
}


def read_table(
    path: str | os.PathLike[str],
    *,
    markers: Sequence[str] = MARKERS,
    delimiter: str | None = None,
    encoding: str | None = None,
    header: str | None = None,
) -> Table:
    """Read a table from a file: CSV or TSV, plain or compressed with gzip, or Parquet.

    Parameters
    ----------
    path : path
        What it holds is told by its first bytes, not by its name.
    markers : sequence of str
        The spellings of a missing value.
    delimiter : str, optional
        One character; else found among comma, semicolon, tab and bar. Text files only.
    encoding : str, optional
        Else UTF-8, UTF-16 with a mark at its start, or Windows-1252, and a note says so. Text files only.
    header : {"first", "none"}, optional
        The first line names the columns; or there is no header, and they are called c1, c2, ... Else it names them
        unless it looks like a record, which is refused, since it would be published as names.

    Raises
    ------
    DataError
        If the file is not there, not readable, or not a whole and regular table; with the line if possible.
    """
    where = Path(path)
    seen = look(where)
    known = next(format for format in FORMATS.values() if format.looks_like(seen))
    return known.read(seen, HowToRead(markers, delimiter, encoding, header))


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
