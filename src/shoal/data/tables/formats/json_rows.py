"""JSON lines: an object a row, its keys the columns."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import replace

import duckdb
import numpy as np

from shoal.data.database import connection, file_literal
from shoal.data.sniff import Look, look
from shoal.data.tables.files import stem_of
from shoal.data.tables.format import FORMATS, HowToRead, TableFormat
from shoal.data.tables.frames import from_query
from shoal.data.tables.sql_cells import copy_cells
from shoal.data.tables.table import Source, Table
from shoal.errors import DataError


class JsonRows(TableFormat):
    """Objects of single values; a key that a row lacks is missing there."""

    name = "jsonl"
    place = 2
    files = ("data.jsonl",)

    def looks_like(self, seen: Look) -> bool:
        """By its first line, which is an object."""
        first = next((line for line in seen.lines if line.strip()), b"") if not seen.is_gzip else b""
        if not first.lstrip().startswith(b"{"):
            return False
        try:
            return isinstance(json.loads(first), dict)
        except (ValueError, RecursionError):
            return False

    def read(self, seen: Look, reading: HowToRead) -> Table:
        """Types are those of all rows together; texts that are dates everywhere become dates."""
        how = (
            "format = 'newline_delimited', records = true, sample_size = -1, convert_strings_to_integers = false, "
            "dateformat = '%Y-%m-%d', timestampformat = '%Y-%m-%d %H:%M:%S'"
        )
        try:
            with connection() as database:
                table = from_query(database, f"SELECT * FROM read_json({file_literal(seen.path)}, {how})", reading)
        except duckdb.Error:
            raise DataError(
                f"{seen.path}: is not one JSON object a line, or a key holds values that do not go together; mend it"
            ) from None
        return replace(table, source=Source(stem_of(seen.path), self.name, notes=table.source.notes))

    def file_name(self, source: Source) -> str:
        """Always the same."""
        return self.files[0]

    def write(self, table: Table, path: str | os.PathLike[str]) -> None:
        """A missing cell is a null."""
        for name, column in table.columns.items():
            if column.values.dtype.kind == "f" and not np.isfinite(column.values).all():
                raise DataError(f"the column {name!r} holds an infinite number, which JSON has not; replace it")
        copy_cells(table, path, "FORMAT json", "JSON lines")

    def read_back(self, path: str | os.PathLike[str], names: Iterable[str], reading: HowToRead) -> Table:
        """As any reader would."""
        return self.read(look(path), reading)


FORMATS.register(JsonRows())
