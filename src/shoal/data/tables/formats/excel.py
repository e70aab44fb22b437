"""A sheet of an Excel workbook (.xlsx), its first row the names; needs openpyxl. Of formulas the last values count."""

from __future__ import annotations

import datetime
import io
import os
import zipfile
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from shoal.data.sniff import Look, look
from shoal.data.tables.files import extra, one_of, stem_of
from shoal.data.tables.format import FORMATS, HowToRead, TableFormat
from shoal.data.tables.frames import from_frame
from shoal.data.tables.header import refuse_named_by_record
from shoal.data.tables.table import Column, Source, Table, spell
from shoal.errors import DataError

_MOST_ROWS = 1_048_575  # and a row of names
_OTHERS = {b"word/": "a Word document", b"ppt/": "a presentation"}
_EPOCH = datetime.datetime(2000, 1, 1)


class Excel(TableFormat):
    """The sheet that was asked for, or the only one that holds anything."""

    name = "excel"
    place = 6
    files = ("data.xlsx",)

    def looks_like(self, seen: Look) -> bool:
        """A zip archive whose first entries are those of a workbook, or whose name says so."""
        if not seen.raw.startswith(b"PK\x03\x04"):
            return False
        is_named = seen.path.suffix.casefold() in (".xlsx", ".xlsm")
        return is_named or b"[Content_Types].xml" in seen.raw[:4096] or b"xl/" in seen.raw[:4096]

    def read(self, seen: Look, reading: HowToRead) -> Table:
        """Cells in the types that they have; a column of several types is text."""
        what = next((what for part, what in _OTHERS.items() if part in seen.raw), None)
        if what is not None and b"xl/" not in seen.raw:
            raise DataError(f"{seen.path}: is {what}; save the table that it holds as .xlsx or CSV")
        openpyxl = extra("openpyxl", "an Excel workbook")
        try:
            book = openpyxl.load_workbook(seen.path, read_only=True, data_only=True)
            sheets = {sheet.title: sheet for sheet in book.worksheets}
            rows = {name: _rows(sheet) for name, sheet in sheets.items()}
            book.close()
        except Exception:  # zip, XML and its own; their texts may quote cells
            raise DataError(f"{seen.path}: the workbook is damaged or protected; save it again as .xlsx") from None
        filled = [name for name, held in rows.items() if held]
        if not filled:
            raise DataError(f"{seen.path}: no sheet holds anything")
        wanted = one_of(seen.path, "sheet", filled, reading.table)
        columns = _columns(str(seen.path), rows[wanted], reading)
        return Table.of(columns, Source(stem_of(seen.path), self.name, table=wanted))

    def file_name(self, source: Source) -> str:
        """Always the same."""
        return self.files[0]

    def write(self, table: Table, path: str | os.PathLike[str]) -> None:
        """One sheet; a text that looks like a formula stays a text. The file holds no time and no author."""
        openpyxl = extra("openpyxl", "an Excel workbook")
        cell_of = extra("openpyxl.cell", "an Excel workbook").WriteOnlyCell
        if table.n_rows > _MOST_ROWS:
            raise DataError(f"a sheet holds {_MOST_ROWS:,} rows, and there are {table.n_rows:,}; give the table as CSV")
        book = openpyxl.Workbook(write_only=True)
        sheet = book.create_sheet(table.source.table or "data")

        def cell(value: Any) -> Any:
            made = cell_of(sheet, value)
            if isinstance(value, str):
                made.data_type = "s"
            return made

        sheet.append([cell(name) for name in table.names])
        for row in zip(*(_written(column) for column in table.columns.values()), strict=True):
            sheet.append([cell(value) for value in row])
        held = io.BytesIO()
        book.properties.creator = "shoal"
        book.properties.created = _EPOCH
        book.save(held)
        _repack(held, path)

    def read_back(self, path: str | os.PathLike[str], names: Iterable[str], reading: HowToRead) -> Table:
        """The only sheet."""
        return self.read(look(path), replace(reading, table=None))


def _rows(sheet: Any) -> list[tuple[Any, ...]]:
    """The rows of a sheet from the first to the last that hold anything."""
    rows = [tuple(row) for row in sheet.iter_rows(values_only=True)]
    while rows and all(value is None for value in rows[-1]):
        rows.pop()
    while rows and all(value is None for value in rows[0]):
        rows.pop(0)
    return rows


def _columns(path: str, rows: list[tuple[Any, ...]], reading: HowToRead) -> list[Column]:
    names, body = rows[0], rows[1:]
    if reading.header == "none":
        names, body = tuple(f"c{i}" for i in range(1, len(rows[0]) + 1)), rows
    width = max((i + 1 for row in rows for i, value in enumerate(row) if value is not None), default=0)
    if any(name is None or not str(name).strip() for name in names[:width]):
        raise DataError(f"{path}: the first row does not name every column; name them, or say --header none")
    if len({str(name).strip() for name in names[:width]}) < width:
        raise DataError(f"{path}: two columns have the same name; rename one of them")
    if not body:
        raise DataError(f"{path}: has columns but no rows; there is nothing to anonymise")
    cells = {
        str(name).strip(): _of_one_type([row[i] if i < len(row) else None for row in body])
        for i, name in enumerate(names[:width])
    }
    columns = list(from_frame(cells, markers=reading.markers, header="first").columns.values())
    if reading.header is None:
        refuse_named_by_record(path, columns, None)
    return columns


def _of_one_type(cells: list[Any]) -> list[Any]:
    """The cells as they are if they are of one type; else all as texts."""
    kinds = {type(cell) for cell in cells if cell is not None}
    if kinds <= {int, float}:
        return [None if cell is None else float(cell) for cell in cells] if float in kinds else cells
    if len(kinds) <= 1 and kinds <= {str, bool, datetime.datetime, datetime.date}:
        return cells
    return [None if cell is None else cell if isinstance(cell, str) else spell(np.array([cell]))[0] for cell in cells]


def _written(column: Column) -> list[Any]:
    """The cells of a column as openpyxl takes them; spelled missing texts as they were spelled."""
    if column.is_text or not len(column.values):
        held = [*map(str, column.values), *column.markers]
    else:
        held = [*column.values.tolist(), *(None for _ in column.markers)]
    return [held[code] for code in column.codes.tolist()]


def _repack(held: io.BytesIO, path: str | os.PathLike[str]) -> None:
    """The same archive without the time at which it was made, so that the same table gives the same bytes."""
    with zipfile.ZipFile(held) as made, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as target:
        for name in sorted(made.namelist()):
            content = made.read(name)
            if name == "docProps/core.xml":
                start, end = content.index(b"<dcterms:modified"), content.index(b"</dcterms:modified>")
                value = content.index(b">", start) + 1
                content = content[:value] + _EPOCH.strftime("%Y-%m-%dT%H:%M:%SZ").encode() + content[end:]
            target.writestr(zipfile.ZipInfo(name, (2000, 1, 1, 0, 0, 0)), content, zipfile.ZIP_DEFLATED)


FORMATS.register(Excel())
