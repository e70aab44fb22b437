"""Read a Parquet file of a table in slices, each slice for itself, so that rows which stand beside each other by chance
need not be held."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import duckdb

from shoal.arrays import Codes
from shoal.data.tables.parquet import read_distinct, read_parquet
from shoal.data.tables.parquet_files import ParquetFiles
from shoal.data.tables.room import refuse_too_many
from shoal.data.tables.scannable import Described
from shoal.data.tables.slices import Layout, SlicesApart
from shoal.data.tables.table import Column, Table
from shoal.errors import DataError

MOST_AT_ONCE = 200_000
"""Rows that are read as they stand in the file, at most."""
_ROW_BYTES, _VALUE_BYTES = 600, 150
"""What a distinct row, and a value of a dictionary, take beyond what they take in any release: most of it in the check,
by its peaks at 1.3 million rows of few values, and at three million of which each has a value of its own."""
_SHORT, _CHARACTER_BYTES = 32, 16
"""Characters of a text that are counted with its value, and what each further one takes: texts are copied several
times while they are compared; by the peak at 100,000 texts of 1,000 characters."""


def read_apart(path: Path, layout: Layout, *, markers: Collection[str], step: Callable[[int], int]) -> SlicesApart:
    """Read what stands in each slice of a bucket, with its number of records, and some rows.

    Parameters
    ----------
    step : callable
        Given the number of rows, how far apart the numbers of the buckets are of which rows are read as they stand. Of
        more rows than `MOST_AT_ONCE` every second one is taken, every third, and so on.

    Raises
    ------
    DataError
        If the file is damaged, or lacks a column; `TooManyDistinct` if a slice does not fit into what
        `shoal.data.memory.bounded` gives.
    """
    tables = []
    names: tuple[str, ...] = ()
    for one in layout.slices:
        wanted = {layout.bucket, *one.columns}
        found = read_distinct(ParquetFiles(path), markers=markers, drops=_but(wanted))
        names = tuple(c.name for c in found.columns)
        if found.weights is None:
            raise DataError(f"{path}: its slices cannot be read; restore the file")
        tables.append(_selected(found.columns, [layout.bucket, *one.columns], path, found.weights))
    held = SlicesApart(tuple(tables), names, tables[0])
    refuse_unheld(path, list(held.columns.values()), max(table.n_rows for table in tables))
    some = _SomeBuckets(path, bucket=layout.bucket, apart=step(tables[0].n_records))
    shown = _selected(read_parquet(some, markers=markers), [*layout.names], path)
    return SlicesApart(tuple(tables), names, shown)


def refuse_unheld(path: Path, columns: Sequence[Column], n_rows: int) -> None:
    """Refuse distinct rows of which the buckets, or their check, do not fit into what `bounded` gives."""
    taken = sum(_VALUE_BYTES * len(column.values) + _CHARACTER_BYTES * _n_further(column) for column in columns)
    more = _ROW_BYTES + taken // max(1, n_rows)
    refuse_too_many(path, n_rows, len(columns), more_bytes=more)


def _n_further(column: Column) -> int:
    """Characters of texts beyond those of short ones."""
    if column.values.dtype != object:
        return 0
    return sum(max(0, len(text) - _SHORT) for text in column.values.tolist())


def _but(wanted: Collection[str]) -> Callable[[str], bool]:
    return lambda name: name not in wanted


def _selected(columns: list[Column], names: list[str], path: Path, weights: Codes | None = None) -> Table:
    table = replace(Table.of(columns), weights=weights)
    lacking = [n for n in names if n not in table.columns]
    if lacking:
        raise DataError(f"{path}: has no column {lacking[0]!r}, which the manifest names; restore the file")
    return table.select(names)


@dataclass
class _SomeBuckets(ParquetFiles):
    """Rows of buckets whose numbers are so far apart, the first among them."""

    bucket: str = ""
    apart: int = 1

    def described(self, database: duckdb.DuckDBPyConnection, is_read: Callable[[str], bool]) -> Described:
        """What is scanned is a part."""
        whole = super().described(database, is_read)
        if self.bucket not in whole.names:
            raise DataError(f"{self.path}: has no column {self.bucket!r}, which the manifest names; restore the file")
        number = f"TRY_CAST(c{whole.names.index(self.bucket)} AS BIGINT)"
        told = ", ".join(f"c{i}" for i in range(len(whole.names)))
        some = (
            f"(SELECT {told}, row_number() OVER () AS place FROM {whole.scan} WHERE ({number} - 1) % {self.apart} = 0)"
        )
        counted = database.execute(f"SELECT count(*) FROM {some}").fetchone()
        n_rows = int(counted[0]) if counted else 0
        if not n_rows:
            raise DataError(f"{self.path}: the buckets are not numbered 1, 2, 3 and so on; restore the file")
        every = max(1, -(-n_rows // MOST_AT_ONCE))
        scan = f"(SELECT {told} FROM {some} WHERE (place - 1) % {every} = 0) AS file({told})"
        return replace(whole, scan=scan, n_records=-(-n_rows // every))
