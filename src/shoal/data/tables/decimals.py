"""Numbers with a decimal comma, as much of Europe writes them, read as the numbers that they are."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from shoal.data.tables.dictionary import from_distinct
from shoal.data.tables.offending import first_place
from shoal.data.tables.table import Column, Table
from shoal.errors import DataError

_POWER = r"(?:[eE][+-]?\d+)?"
_COMMA = re.compile(rf"\s*[+-]?(?:\d+,\d*|,\d+){_POWER}\s*")
_WHOLE = re.compile(rf"\s*[+-]?\d+{_POWER}\s*")
_DECIMALS = re.compile(r".*,(?!\d{3}(?!\d))\d").match  # three digits may be thousands
_POINT = re.compile(rf"\s*[+-]?(?:\d+\.\d*|\.\d+|\d{{1,3}}(?:\.\d{{3}})+,\d*){_POWER}\s*")


def with_points(path: str, columns: Sequence[Column]) -> list[Column]:
    """The same columns, those of numbers with a decimal comma with a point in its place.

    Raises
    ------
    DataError
        If some numbers of a column have a comma and others a point, or one has both: what they mean is open.
    """
    return [_with_points(path, column) for column in columns]


def noted(table: Table) -> Table:
    """The same table, with a note on the columns that look like numbers with a decimal comma and were read as texts."""
    found = [c.name for c in table.columns.values() if _is_number(c, _COMMA, _WHOLE) and any(map(_DECIMALS, c.values))]
    if table.source.format != "csv" or not found:
        return table
    note = (
        f"{', '.join(map(repr, found))}: read as text, though it may be numbers with a decimal comma; say "
        '--decimal , (decimal = ",") if so, or --decimal . if not'
    )
    return replace(table, source=replace(table.source, notes=(*table.source.notes, note)))


def _is_number(column: Column, *forms: re.Pattern[str]) -> bool:
    """Whether every value is of one of these forms, and one is of the first."""
    if not column.is_text or not any(form.fullmatch(str(v)) for v in column.values[:1] for form in forms):
        return False
    return all(any(form.fullmatch(v) for form in forms) for v in column.values) and any(
        forms[0].fullmatch(v) for v in column.values
    )


def _with_points(path: str, column: Column) -> Column:
    if _is_number(column, _COMMA, _WHOLE):
        texts: list[Any] = [str(value).replace(",", ".") for value in column.values]
        made = from_distinct(column.name, np.arange(len(texts), dtype=np.int32), texts)
        codes = np.concatenate([made.codes, len(texts) + np.arange(len(column.markers), dtype=np.int32)])
        return replace(column, codes=codes[column.codes].astype(np.int32), values=made.values)
    if _is_number(column, _COMMA, _WHOLE, _POINT):
        where = first_place(column, lambda value: bool(_POINT.fullmatch(value)))
        raise DataError(
            f"{path}, {where}, a number with a point where others of the column have a decimal comma; write all of "
            "them in one way, without marks between thousands"
        )
    return column
