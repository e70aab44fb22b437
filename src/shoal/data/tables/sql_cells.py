"""The cells of a table as duckdb sees them."""

from __future__ import annotations

from typing import Any

import duckdb
import numpy as np
import numpy.typing as npt

from shoal.data.tables.table import Column, Table


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
