"""Parquet, every column in the type that it has."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from shoal.data.sniff import Look, look
from shoal.data.tables.files import stem_of
from shoal.data.tables.format import FORMATS, DistinctScan, HowToRead, TableFormat
from shoal.data.tables.header import refuse_named_by_record
from shoal.data.tables.parquet import Read, read_distinct, read_parquet, scan_distinct
from shoal.data.tables.parquet_files import ParquetFiles
from shoal.data.tables.parquet_write import write_parquet
from shoal.data.tables.parts import PartsLook
from shoal.data.tables.scannable import Scannable
from shoal.data.tables.spill import SpilledTable
from shoal.data.tables.table import Source, Table

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


class Parquet(TableFormat):
    """Columns with types; nothing is compressed around it."""

    name = "parquet"
    place = 1
    files = ("data.parquet",)
    reads_distinct = True

    def looks_like(self, seen: Look) -> bool:
        """By its first four bytes."""
        return seen.is_parquet

    def read(self, seen: Look, reading: HowToRead) -> Table:
        """Read all columns; markers of missing values apply to texts."""
        return read_scanned(_files(seen), reading)

    def scan(self, database: DuckDBPyConnection, seen: Look, reading: HowToRead) -> DistinctScan:
        """See `shoal.data.tables.parquet.scan_distinct`."""
        return scan_distinct(database, _files(seen), reading.markers, reading.drops)

    def file_name(self, source: Source) -> str:
        """Always the same."""
        return self.files[0]

    def write(self, table: Table, path: str | os.PathLike[str]) -> None:
        """A missing cell is a null, unless it was spelled in a column of texts."""
        write_parquet(table, path)

    def read_back(self, path: str | os.PathLike[str], names: Iterable[str], reading: HowToRead) -> Table:
        """As any reader would."""
        return self.read(look(path), reading)

    def scan_back(
        self, database: DuckDBPyConnection, path: str | os.PathLike[str], names: Iterable[str], reading: HowToRead
    ) -> DistinctScan:
        """As `scan` does."""
        return scan_distinct(database, Path(path), reading.markers)


def _files(seen: Look) -> ParquetFiles:
    return ParquetFiles(seen.path, seen.parts if isinstance(seen, PartsLook) else None)


def read_scanned(source: Scannable, reading: HowToRead) -> Table:
    """What a database scans, as a table that is written as Parquet: all records, or every distinct row once."""
    if reading.drops is None:
        found = Read(read_parquet(source, markers=reading.markers))
    else:
        found = read_distinct(
            source,
            markers=reading.markers,
            drops=reading.drops,
            person=reading.person,
            spills=reading.spills,
        )
    refuse_named_by_record(str(source.path), found.columns, reading.header)
    table = Table.of(found.columns, Source(stem_of(source.path), Parquet.name))
    if found.spilled is not None:
        return SpilledTable.over(replace(table, is_one_each=bool(reading.person)), found.spilled)
    return replace(table, weights=found.weights, is_one_each=reading.tells_one_each(found.weights))


FORMATS.register(Parquet())
