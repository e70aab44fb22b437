"""The cells of a table as duckdb sees them."""

from __future__ import annotations

import errno
import os
from typing import Any

import duckdb
import numpy as np
import numpy.typing as npt

from shoal.data.database import connection, identifier, literal
from shoal.data.tables.table import Column, Table
from shoal.errors import DataError


def copy_cells(table: Table, path: str | os.PathLike[str], how: str, format: str) -> None:
    """Write a table into a file by duckdb; `how` is what COPY takes in brackets."""
    refuse_alike(table, format)
    target = literal(os.path.abspath(path))
    try:
        with connection() as database:
            database.execute(f"COPY ({_select_cells(database, table)}) TO {target} ({how})")
    except duckdb.IOException as error:
        code = errno.ENOSPC if "space left" in str(error) else errno.EIO
        raise OSError(code, os.strerror(code), os.fspath(path)) from None
    except duckdb.Error:
        raise DataError(f"the table cannot be written as {format}; give it as CSV") from None


def _select_cells(database: duckdb.DuckDBPyConnection, table: Table) -> str:
    """The SQL that selects all columns of a table by their names, once duckdb sees its cells."""
    cells = register_cells(database, table)
    return "SELECT " + ", ".join(f"{cell} AS {identifier(name)}" for name, cell in cells.items()) + " FROM cells"


def refuse_alike(table: Table, format: str) -> None:
    """Refuse names that differ only in case, which a database takes for one."""
    folded = [name.casefold() for name in table.columns]
    if len(set(folded)) < len(folded):
        twice = next(name for i, name in enumerate(table.columns) if folded[i] in folded[:i])
        raise DataError(f"{format} is written without names that differ only in case; rename the column {twice!r}")


def register_cells(database: duckdb.DuckDBPyConnection, table: Table) -> dict[str, str]:
    """Show duckdb the cells of a table as ``cells``; the SQL of each column's cells, null where one is missing.

    Which cells are missing is a column of its own: duckdb before 2.0 takes no notice of the mask of an array.
    """
    arrays, cells = {}, {}
    for i, (name, column) in enumerate(table.columns.items()):
        arrays[f"c{i}"] = typed_cells(column)
        cell = f"c{i}"
        if column.has_missing and not column.is_text:
            arrays[f"missing{i}"] = column.missing
            cell = f"CASE WHEN missing{i} THEN NULL ELSE c{i} END"
        cells[name] = f"CAST({cell} AS {sql_type(column)})"
    database.register("cells", arrays)
    return cells


def typed_cells(column: Column) -> npt.NDArray[Any]:
    """All cells of a column in its type; the spellings of missing texts are texts, other missing cells any value."""
    n_values = len(column.values)
    if column.is_text or not n_values:
        dictionary = np.empty(n_values + len(column.markers), dtype=object)
        dictionary[:n_values] = column.values
        dictionary[n_values:] = column.markers
        return dictionary[column.codes]
    return column.values[np.where(column.missing, 0, column.codes)]


def sql_type(column: Column) -> str:
    """The SQL type of a column's values; times that are all midnight are dates."""
    kind = column.values.dtype.kind
    if kind == "M":
        return "DATE" if bool((column.values == column.values.astype("datetime64[D]")).all()) else "TIMESTAMP"
    return {"f": "DOUBLE", "i": "BIGINT", "b": "BOOLEAN"}.get(kind, "VARCHAR")
