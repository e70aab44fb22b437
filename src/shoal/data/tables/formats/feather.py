"""Feather, the file form of Arrow; needs pyarrow."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace

from shoal.data.sniff import Look, look
from shoal.data.tables.files import extra, stem_of
from shoal.data.tables.format import FORMATS, HowToRead, TableFormat
from shoal.data.tables.frames import from_frame
from shoal.data.tables.sql_cells import refuse_alike, sql_type, typed_cells
from shoal.data.tables.table import Source, Table
from shoal.errors import DataError


class Feather(TableFormat):
    """Columns with types."""

    name = "feather"
    place = 3
    files = ("data.feather",)

    def looks_like(self, seen: Look) -> bool:
        """By its first bytes."""
        return seen.raw.startswith(b"ARROW1") or seen.raw.startswith(b"FEA1")

    def read(self, seen: Look, reading: HowToRead) -> Table:
        """Read all columns; markers of missing values apply to texts."""
        feather = extra("pyarrow.feather", "a Feather file")
        try:
            frame = feather.read_table(os.fspath(seen.path))
        except Exception:  # of the library's own kinds, whose texts may quote cells
            raise DataError(f"{seen.path}: the Feather file is damaged; export it again") from None
        table = from_frame(frame, markers=reading.markers, header=reading.header)
        return replace(table, source=Source(stem_of(seen.path), self.name, notes=table.source.notes))

    def file_name(self, source: Source) -> str:
        """Always the same."""
        return self.files[0]

    def write(self, table: Table, path: str | os.PathLike[str]) -> None:
        """A missing cell is a null, unless it was spelled in a column of texts."""
        feather, arrow = (extra(module, "a Feather file") for module in ("pyarrow.feather", "pyarrow"))
        refuse_alike(table, "Feather")
        columns = {}
        for name, column in table.columns.items():
            cells = typed_cells(column)  # below a null stands some value of the column, the same each time
            if sql_type(column) == "DATE":
                cells = cells.astype("datetime64[D]")
            missing = None if column.is_text or not len(column.values) else column.missing
            columns[name] = arrow.array(cells, mask=missing)
        feather.write_feather(arrow.table(columns), os.fspath(path), compression="zstd")

    def read_back(self, path: str | os.PathLike[str], names: Iterable[str], reading: HowToRead) -> Table:
        """As any reader would."""
        return self.read(look(path), reading)


FORMATS.register(Feather())
