"""A table of a database that is one file.

From SQLite a new database with that table alone goes out; from DuckDB Parquet, which it reads as it is, since a file of
its own is not the same twice. With a bound on memory, Parquet goes out of both.
"""

from __future__ import annotations

import os
import sqlite3
from abc import abstractmethod
from collections.abc import Iterable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

import duckdb

from shoal.data.database import connection, identifier
from shoal.data.sniff import Look, look
from shoal.data.tables.database_tables import DatabaseTable, DuckDbTable, SqliteTable
from shoal.data.tables.files import stem_of
from shoal.data.tables.format import FORMATS, DistinctScan, HowToRead, TableFormat
from shoal.data.tables.formats.parquet import read_scanned
from shoal.data.tables.frames import from_frame, from_query
from shoal.data.tables.parquet import scan_distinct
from shoal.data.tables.parquet_write import write_parquet
from shoal.data.tables.sql_cells import refuse_alike, sql_type
from shoal.data.tables.table import Source, Table
from shoal.errors import DataError

_TABLE = "data"


class Database(TableFormat):
    """One table of a database, found by its name or because there is no other."""

    reads_distinct = True
    stands_in_files = False  # views show other files, and journals stand beside the file
    scannable: ClassVar[type[DatabaseTable]]
    """What a database scans, where the table is not held."""

    @abstractmethod
    def fetch(self, path: Path, reading: HowToRead) -> Table:
        """Read the table."""

    def scan(self, database: duckdb.DuckDBPyConnection, seen: Look, reading: HowToRead) -> DistinctScan:
        """See `shoal.data.tables.parquet.scan_distinct`."""
        return scan_distinct(database, self.scannable(seen.path, reading.table), reading.markers, reading.drops)

    def read(self, seen: Look, reading: HowToRead) -> Table:
        """Read the table that was asked for, or the only one."""
        if reading.drops is not None:
            scanned = self.scannable(seen.path, reading.table)
            found = read_scanned(scanned, reading)
            return replace(found, source=replace(found.source, notes=tuple(scanned.notes)))
        table = self.fetch(seen.path, reading)
        return replace(table, source=replace(table.source, name=stem_of(seen.path), format=self.name))

    def file_name(self, source: Source) -> str:
        """Always the same."""
        return self.files[0]

    def read_back(self, path: str | os.PathLike[str], names: Iterable[str], reading: HowToRead) -> Table:
        """The only table."""
        return self.read(look(path), replace(reading, table=None))


class Sqlite(Database):
    """SQLite, by Python's own library."""

    name = "sqlite"
    place = 4
    scannable = SqliteTable
    files = ("data.sqlite",)

    def looks_like(self, seen: Look) -> bool:
        """By its first bytes."""
        return seen.raw.startswith(b"SQLite format 3\0")

    def fetch(self, path: Path, reading: HowToRead) -> Table:
        """Columns of texts, numbers or neither; SQLite has no dates, so these are texts."""
        found = SqliteTable(path, reading.table)
        with found.opened() as (database, columns):
            wanted = found.wanted
            rows = database.execute(f"SELECT * FROM {identifier(wanted or '')}").fetchall()
        if not rows:
            raise DataError(f"{path}: the table {wanted!r} has no rows; there is nothing to anonymise")
        cells = {name: list(column) for name, column in zip(columns, zip(*rows, strict=True), strict=True)}
        table = from_frame(cells, markers=reading.markers, header=reading.header)
        return replace(table, source=Source(table=wanted, notes=table.source.notes))

    def write(self, table: Table, path: str | os.PathLike[str]) -> None:
        """One table; a missing cell is a null, unless it was spelled in a column of texts."""
        refuse_alike(table, "SQLite")
        name = identifier(table.source.table or _TABLE)
        kinds = {"DOUBLE": "REAL", "BIGINT": "INTEGER", "BOOLEAN": "INTEGER"}
        types = ", ".join(f"{identifier(n)} {kinds.get(sql_type(c), 'TEXT')}" for n, c in table.columns.items())
        cells = [_plain_cells(table, n) for n in table.names]
        try:
            with closing(sqlite3.connect(os.fspath(path))) as database, database:
                database.execute(f"CREATE TABLE {name} ({types})")
                places = ", ".join("?" * len(cells))
                database.executemany(f"INSERT INTO {name} VALUES ({places})", zip(*cells, strict=True))
        except sqlite3.OperationalError as error:
            raise OSError(
                28 if "full" in str(error) else 5, "the database could not be written", os.fspath(path)
            ) from None


class DuckDb(Database):
    """A file of duckdb."""

    name = "duckdb"
    place = 5
    scannable = DuckDbTable
    files = ("data.parquet",)

    def looks_like(self, seen: Look) -> bool:
        """By the bytes after a checksum."""
        return seen.raw[8:12] == b"DUCK"

    def fetch(self, path: Path, reading: HowToRead) -> Table:
        """Columns in the types that they have."""
        found = DuckDbTable(path, reading.table)
        try:
            with connection() as database:
                table = from_query(database, f"SELECT * FROM {found.attached(database)[0]}", reading)
        except duckdb.Error:
            raise DataError(found.damage()) from None
        return replace(table, source=Source(table=found.wanted, notes=table.source.notes))

    def write(self, table: Table, path: str | os.PathLike[str]) -> None:
        """As Parquet."""
        write_parquet(table, path)


def _plain_cells(table: Table, name: str) -> list[object]:
    """The cells of a column as SQLite takes them; spelled missing texts as they were spelled."""
    column = table[name]
    if column.values.dtype.kind == "M":
        spelled = [*column.texts()[: len(column.values)], *(None for _ in column.markers)]
    elif column.is_text or not len(column.values):
        spelled = [*map(str, column.values), *column.markers]
    else:
        spelled = [*column.values.tolist(), *(None for _ in column.markers)]
    return [spelled[code] for code in column.codes.tolist()]


FORMATS.register(Sqlite())
FORMATS.register(DuckDb())
