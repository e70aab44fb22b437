"""A table into a file like the one it came from, and back. The same table gives the same bytes every time."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

from shoal.data.sniff import look
from shoal.data.tables.format import FORMATS, HowToRead, format_named
from shoal.data.tables.table import Table
from shoal.errors import DataError


def file_name(table: Table) -> str:
    """What a file of this table is called: data.csv, data.tsv, data.csv.gz, data.tsv.gz or data.parquet."""
    return format_named(table.source.format).file_name(table.source)


def is_text(name: str) -> bool:
    """Whether a file of this name has a delimiter.

    >>> is_text("data.csv.gz"), is_text("data.parquet")
    (True, False)
    """
    return name.removesuffix(".gz").endswith((".csv", ".tsv"))


def write_table(table: Table, path: str | os.PathLike[str]) -> None:
    """Write a table in the format, with the delimiter and the compression of its source.

    Missing cells are written as they were spelled; a null is an empty cell in text and a null in Parquet.

    Raises
    ------
    OSError
        If the file cannot be written, for example because the disk is full. What was written stays there.
    DataError
        If the format cannot hold the table.
    """
    known = format_named(table.source.format)
    if table.weights is not None and not known.reads_distinct:
        raise DataError("rows that stand for several records are written as Parquet or CSV alone; leave memory out")
    known.write(table, path)


def read_back(
    path: str | os.PathLike[str],
    names: Iterable[str],
    *,
    markers: Sequence[str],
    delimiter: str | None = None,
    expected: Table | None = None,
    is_weighed: bool = False,
) -> Table:
    """Read a file that `write_table` wrote, without the quotes that guard its texts and with the names as they were.

    Parameters
    ----------
    names : iterable of str
        The columns that there should be; a reader strips blanks around a name.
    expected : Table, optional
        What was written. It may make reading faster and changes nothing else: what is not as expected is read as it is.
        If its rows stand for several records, so do those that are read.
    is_weighed : bool
        Whether to read every distinct row once, with the number of its records.
    """
    seen = look(path)
    known = next(format for format in FORMATS.values() if format.looks_like(seen))
    is_weighed |= expected is not None and expected.weights is not None
    drops = _none if is_weighed else None
    return known.read_back(path, names, HowToRead(markers, delimiter, None, "first", expected=expected, drops=drops))


def _none(_: str) -> bool:
    return False
