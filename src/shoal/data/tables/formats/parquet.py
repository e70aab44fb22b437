"""Parquet, every column in the type that it has."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable

import duckdb

from shoal.data.database import connection, identifier, literal
from shoal.data.sniff import Look, look
from shoal.data.tables.files import stem_of
from shoal.data.tables.format import FORMATS, HowToRead, TableFormat
from shoal.data.tables.header import refuse_named_by_record
from shoal.data.tables.parquet import read_parquet
from shoal.data.tables.sql_cells import register_cells
from shoal.data.tables.table import Source, Table
from shoal.errors import DataError


class Parquet(TableFormat):
    """Columns with types; nothing is compressed around it."""

    name = "parquet"
    place = 1
    files = ("data.parquet",)

    def looks_like(self, seen: Look) -> bool:
        """By its first four bytes."""
        return seen.is_parquet

    def read(self, seen: Look, reading: HowToRead) -> Table:
        """Read all columns; markers of missing values apply to texts."""
        columns = read_parquet(seen.path, markers=reading.markers)
        refuse_named_by_record(str(seen.path), columns, reading.header)
        return Table.of(columns, Source(stem_of(seen.path), self.name))

    def file_name(self, source: Source) -> str:
        """Always the same."""
        return self.files[0]

    def write(self, table: Table, path: str | os.PathLike[str]) -> None:
        """A missing cell is a null, unless it was spelled in a column of texts."""
        _write(table, path)

    def read_back(self, path: str | os.PathLike[str], names: Iterable[str], reading: HowToRead) -> Table:
        """As any reader would."""
        return self.read(look(path), reading)


def _write(table: Table, path: str | os.PathLike[str]) -> None:
    folded = [name.casefold() for name in table.columns]
    if len(set(folded)) < len(folded):
        twice = next(name for i, name in enumerate(table.columns) if folded[i] in folded[:i])
        raise DataError(f"Parquet is written without names that differ only in case; rename the column {twice!r}")
    target = literal(os.path.abspath(path))
    try:
        with connection() as database:
            cells = register_cells(database, table)
            selected = ", ".join(f"{cell} AS {identifier(name)}" for name, cell in cells.items())
            database.execute(f"COPY (SELECT {selected} FROM cells) TO {target} (FORMAT parquet, COMPRESSION zstd)")
    except duckdb.IOException as error:
        code = errno.ENOSPC if "space left" in str(error) else errno.EIO
        raise OSError(code, os.strerror(code), os.fspath(path)) from None
    except duckdb.Error:
        raise DataError("the table cannot be written as Parquet; give it as CSV") from None


FORMATS.register(Parquet())
