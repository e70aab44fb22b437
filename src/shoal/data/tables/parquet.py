"""Parquet files, read by duckdb, every column in the type that it has there."""

from __future__ import annotations

import os
from collections.abc import Collection
from typing import Any

import duckdb
import numpy as np
import numpy.typing as npt

from shoal.data.database import connection, file_literal
from shoal.data.tables.dictionary import TextEncoder, from_distinct
from shoal.data.tables.table import Column, encode_cells
from shoal.errors import DataError

_INTEGERS = {"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT"}
_FLOATS = {"FLOAT", "DOUBLE", "DECIMAL"}
_TIMES = {"DATE", "TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS", "TIMESTAMP WITH TIME ZONE"}
_TEXTS = {"VARCHAR", "ENUM", "UUID"}
_FEW_DISTINCT = 1 << 15
_ROWS_AT_ONCE = 1 << 15


def read_parquet(path: os.PathLike[str], *, markers: Collection[str]) -> list[Column]:
    """Read all columns of a Parquet file.

    Integers become int64, floats and decimals float64 (nan and null are missing), dates and times
    datetime64[us] in UTC, texts str; the markers of missing values apply to texts only.

    Raises
    ------
    DataError
        If the file is damaged or has no rows, or a column has a nested, binary or other odd type.
    """
    scan = f"read_parquet({file_literal(path)})"
    try:
        with connection() as database:
            described = database.execute(f"DESCRIBE SELECT * FROM {scan}").fetchall()
            types = [str(row[1]) for row in described]
            for name, kind in zip((row[0] for row in described), types, strict=True):
                refuse_type(str(path), str(name), kind)
            # duckdb renames columns that differ only in case; the schema has the true names, the root first.
            schema = database.execute(f"SELECT name FROM parquet_schema({file_literal(path)})").fetchall()
            names = [str(row[0]) for row in schema[1:]]
            counted = database.execute(f"SELECT count(*) FROM {scan}").fetchone()
            if not counted or not counted[0]:
                raise DataError(f"{path}: has columns but no rows; there is nothing to anonymise")
            aliases = ", ".join(f"c{i}" for i in range(len(types)))
            scan = f"{scan} AS file({aliases})"
            return [
                _read_texts(database, scan, plain(f"c{i}", kind), name, markers)
                if _family(kind) in _TEXTS
                else to_column(name, kind, _fetch(database, scan, plain(f"c{i}", kind)), markers)
                for i, (name, kind) in enumerate(zip(names, types, strict=True))
            ]
    except duckdb.OutOfMemoryException:
        raise DataError(f"{path}: its columns do not fit into half of the memory; leave out columns") from None
    except duckdb.ConversionException:
        raise DataError(f"{path}: a column holds integers beyond 64 bits with sign; turn it into text") from None
    except duckdb.Error:
        raise DataError(f"{path}: the Parquet file is damaged or of an unknown make; export it again") from None


def refuse_type(where: str, name: str, kind: str) -> None:
    """Refuse a column without a name, or with an SQL type that is no single value."""
    if not name.strip():
        raise DataError(f"{where}: a column has no name; give it one")
    if _family(kind) not in _INTEGERS | _FLOATS | _TIMES | _TEXTS | {"BOOLEAN"}:
        raise DataError(
            f"{where}: the column {name!r} has the type {_family(kind)}, which is no single value; "
            "leave it out or turn it into text or numbers"
        )


def _family(kind: str) -> str:
    """The name of an SQL type without its parameters."""
    return "LIST" if kind.endswith("]") else kind.split("(")[0].strip()


def plain(cell: str, kind: str) -> str:
    """The SQL that turns a cell into what :func:`to_column` takes."""
    family = _family(kind)
    if family in _TEXTS:
        return f"CAST({cell} AS VARCHAR)"
    if family in _TIMES:
        return f"epoch_us({cell})"
    if family in _FLOATS:
        return f"CAST({cell} AS DOUBLE)"
    return cell if family == "BOOLEAN" else f"CAST({cell} AS BIGINT)"


def to_column(name: str, kind: str, fetched: npt.NDArray[Any], markers: Collection[str]) -> Column:
    """Make a column of what duckdb fetched: an array, masked where null."""
    cells, missing = np.ma.getdata(fetched), np.ma.getmaskarray(fetched)
    family = _family(kind)
    if family in _TEXTS:
        encoder = TextEncoder()
        cells[missing] = None
        encoder.add(cells.tolist())
        return encoder.column(name, markers)
    if family in _TIMES:
        return encode_cells(name, cells.astype(np.int64).view("datetime64[us]"), missing)
    if family in _FLOATS:
        return encode_cells(name, cells, missing | np.isnan(cells))
    return encode_cells(name, cells.astype(bool if family == "BOOLEAN" else np.int64), missing)


def _read_texts(
    database: duckdb.DuckDBPyConnection, scan: str, cell: str, name: str, markers: Collection[str]
) -> Column:
    database.execute(f"CREATE OR REPLACE TEMP TABLE found AS SELECT DISTINCT {cell} AS text FROM {scan}")
    counted = database.execute("SELECT count(*), count(*) - count(text) FROM found").fetchone()
    n_distinct, n_null = counted or (0, 0)
    if n_distinct > _FEW_DISTINCT or n_distinct == n_null:
        encoder = TextEncoder()
        cells = database.execute(f"SELECT {cell} FROM {scan}")
        while rows := cells.fetchmany(_ROWS_AT_ONCE):
            encoder.add([text for (text,) in rows])
        return encoder.column(name, markers)
    database.execute("DROP TYPE IF EXISTS texts")
    database.execute("CREATE TYPE texts AS ENUM (SELECT text FROM found WHERE text IS NOT NULL ORDER BY text)")
    fetched_codes = _fetch(database, scan, f"enum_code(CAST({cell} AS texts))")
    fetched = database.execute("SELECT enum_range(NULL::texts)").fetchone()
    distinct: list[str | None] = list(fetched[0]) if fetched else []
    codes = np.ma.filled(fetched_codes.astype(np.int32), len(distinct))
    return from_distinct(name, codes, [*distinct, None] if n_null else distinct, markers)


def _fetch(database: duckdb.DuckDBPyConnection, scan: str, cell: str) -> npt.NDArray[Any]:
    cells: npt.NDArray[Any] = database.execute(f"SELECT {cell} AS cell FROM {scan}").fetchnumpy()["cell"]
    return cells
