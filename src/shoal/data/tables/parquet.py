"""Parquet files, read by duckdb, every column in the type that it has there."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Sequence
from typing import Any

import duckdb
import numpy as np
import numpy.typing as npt

from shoal.arrays import Codes
from shoal.data.database import bound, connection, file_literal
from shoal.data.tables.dictionary import TextEncoder, from_distinct
from shoal.data.tables.table import Column, encode_cells
from shoal.errors import DataError

_INTEGERS = {"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT"}
_FLOATS = {"FLOAT", "DOUBLE", "DECIMAL"}
_TIMES = {"DATE", "TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS", "TIMESTAMP WITH TIME ZONE"}
_TEXTS = {"VARCHAR", "ENUM", "UUID"}
_FEW_DISTINCT = 1 << 15
_ROWS_AT_ONCE = 1 << 15
ROW_BYTES, CELL_BYTES = 300, 40  # of distinct rows in all steps of a release, by the peaks of bench_scale_memory


def read_parquet(path: os.PathLike[str], *, markers: Collection[str]) -> list[Column]:
    """Read all columns of a Parquet file.

    Integers become int64, floats and decimals float64 (nan and null are missing), dates and times
    datetime64[us] in UTC, texts str; the markers of missing values apply to texts only.

    Raises
    ------
    DataError
        If the file is damaged or has no rows, or a column has a nested, binary or other odd type.
    """
    return _read(path, markers, None)[0]


def read_distinct(
    path: os.PathLike[str], *, markers: Collection[str], drops: Callable[[str], bool]
) -> tuple[list[Column], Codes]:
    """Read every distinct row of a Parquet file once, and how many records it stands for.

    The file is scanned, and never held: what needs memory are the distinct rows. Columns that `drops` says are not
    read, tell no rows apart, and come back without values.

    Raises
    ------
    DataError
        As `read_parquet`, or where the distinct rows do not fit into what `shoal.data.database.bounded` gives.
    """
    columns, weights = _read(path, markers, drops)
    assert weights is not None
    return columns, weights


def _read(
    path: os.PathLike[str], markers: Collection[str], drops: Callable[[str], bool] | None
) -> tuple[list[Column], Codes | None]:
    """All rows or, where it is said which columns to drop, the distinct ones with their weights."""
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
            scan, weights = f"{scan} AS file({aliases})", None
            dropped = {name for name in names if drops is not None and drops(name)}
            if drops is not None:
                kept = [f"c{i}" for i, name in enumerate(names) if name not in dropped]
                scan, weights = "distinct_rows", collapse_rows(database, path, scan, kept)
            return [
                Column(name, np.zeros(len(weights), dtype=np.int32), np.empty(0, dtype=object), (None,))
                if weights is not None and name in dropped
                else _read_texts(database, scan, plain(f"c{i}", kind), name, markers)
                if _family(kind) in _TEXTS
                else to_column(name, kind, _fetch(database, scan, plain(f"c{i}", kind)), markers)
                for i, (name, kind) in enumerate(zip(names, types, strict=True))
            ], weights
    except duckdb.OutOfMemoryException:
        how = "leave out columns" if drops is None else "drop columns that tell records apart, or raise memory"
        raise DataError(f"{path}: its columns do not fit into the memory for reading; {how}") from None
    except duckdb.ConversionException:
        raise DataError(f"{path}: a column holds integers beyond 64 bits with sign; turn it into text") from None
    except duckdb.Error:
        raise DataError(f"{path}: the Parquet file is damaged or of an unknown make; export it again") from None


def collapse_rows(database: duckdb.DuckDBPyConnection, path: os.PathLike[str], scan: str, kept: Sequence[str]) -> Codes:
    """Make the table of distinct rows; how many records each stands for."""
    told, memory = ", ".join(kept) or "1", bound()
    database.execute("SET preserve_insertion_order = false")
    database.execute(f"CREATE TEMP TABLE distinct_rows AS SELECT {told}, count(*) AS n FROM {scan} GROUP BY {told}")
    database.execute("SET preserve_insertion_order = true")
    weights = database.execute("SELECT n FROM distinct_rows").fetchnumpy()["n"]
    if memory and len(weights) * (ROW_BYTES + CELL_BYTES * len(kept)) > memory:
        raise DataError(
            f"{path}: {len(weights):,} rows are distinct, too many for {memory / 1e9:.3g} GB; drop columns that tell "
            "records apart, or raise memory"
        )
    if int(weights.sum(dtype=np.int64)) > np.iinfo(np.int32).max:
        raise DataError(f"{path}: has more than {np.iinfo(np.int32).max:,} records; split it")
    return np.ma.getdata(weights).astype(np.int32)


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
