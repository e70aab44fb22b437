"""A table as the kind of frame that it came from, each column in its old type where that loses nothing."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Mapping
from typing import Any

import duckdb
import narwhals.stable.v1 as nw
import numpy as np
import numpy.typing as npt

from shoal.data.database import identifier
from shoal.data.tables.sql_cells import register_cells, sql_type, typed_cells
from shoal.data.tables.table import Column, Table

_KINDS = {"O": "text", "f": "float", "i": "int", "b": "bool", "M": "time"}


def to_dict(table: Table, like: Mapping[Any, Any]) -> dict[Any, Any]:
    """A dict of arrays or tuples where ``like`` has them, else of lists; None where a cell is missing."""
    labels = {str(label): label for label in like}
    result: dict[Any, Any] = {}
    for name, column in table.columns.items():
        label = labels.get(name, name)
        before = like.get(label, [])
        if isinstance(before, np.ndarray):
            result[label] = _array(column, before.dtype)
            continue
        cells = _cells(column).tolist()
        if sql_type(column) == "DATE" and {type(c) for c in before} <= {datetime.date, type(None)}:
            cells = [None if c is None else c.date() for c in cells]
        result[label] = tuple(cells) if isinstance(before, tuple) else cells
    return result


def to_pandas(table: Table, like: Any) -> Any:
    """A pandas frame with a new index."""
    pandas: Any = nw.get_native_namespace(like)
    labels = {str(label): label for label in like.columns}

    def natural(column: Column) -> Any:
        missing = column.missing
        if column.values.dtype.kind in "ib" and missing.any():
            nullable = pandas.arrays.IntegerArray if column.values.dtype.kind == "i" else pandas.arrays.BooleanArray
            return pandas.Series(nullable(column.values[np.where(missing, 0, column.codes)], missing))
        return pandas.Series(_cells(column).tolist() if column.is_text else _array(column))

    def cast(series: Any, dtype: Any) -> Any:
        categories = getattr(dtype, "categories", None)
        if categories is not None and not series.dropna().isin(categories).all():
            raise ValueError("a value is none of the categories, which pandas would make missing")
        made = (series.dt.tz_localize("UTC") if getattr(dtype, "tz", None) else series).astype(dtype)
        # A category that no published record has would tell of one that was changed or left out.
        return made if categories is None else made.cat.remove_unused_categories()

    def back(series: Any, dtype: Any) -> Any:
        zoned = getattr(series.dtype, "tz", None)
        return (series.dt.tz_convert("UTC").dt.tz_localize(None) if zoned else series).astype(dtype)

    series = {}
    for name, column in table.columns.items():
        label = labels.get(name, name)
        series[label] = natural(column)
        if column.is_text and name in labels and like[label].dtype == object:
            series[label] = pandas.Series(_cells(column), dtype=object)
        elif name in labels and _is_kind(column, nw.from_native(like[label], series_only=True).dtype):
            series[label] = _restored(series[label], natural(_distinct(column)), like[label].dtype, cast, back)
    return pandas.DataFrame(series, columns=list(series))


def to_polars(table: Table, like: Any, schema: Mapping[str, Any]) -> Any:
    """A polars frame; ``schema`` has the types of ``like``."""
    polars: Any = nw.get_native_namespace(like)

    def natural(column: Column) -> Any:
        if column.is_text:
            return polars.Series(column.name, _cells(column).tolist(), dtype=polars.String)
        if column.has_missing:
            dtype = polars.Series(column.values).dtype
            return polars.Series(column.name, column.cells().tolist(), dtype=dtype)
        return polars.Series(column.name, _array(column))

    def cast(series: Any, dtype: Any) -> Any:
        zone = getattr(dtype, "time_zone", None)
        if isinstance(dtype, polars.Enum):  # one that lists no value but those of published records
            shown = set(series.drop_nulls().to_list())
            if not shown <= set(dtype.categories):
                raise ValueError("a value is none of the categories")
            dtype = polars.Enum([c for c in dtype.categories if c in shown])
        return (series.dt.replace_time_zone("UTC").dt.convert_time_zone(zone) if zone else series).cast(dtype)

    def back(series: Any, dtype: Any) -> Any:
        zone = getattr(series.dtype, "time_zone", None)
        return (series.dt.convert_time_zone("UTC").dt.replace_time_zone(None) if zone else series).cast(dtype)

    series = []
    for name, column in table.columns.items():
        made = natural(column)
        if name in schema:
            known = nw.from_native(polars.Series(name, [], dtype=schema[name]), series_only=True).dtype
            if _is_kind(column, known):
                made = _restored(made, natural(_distinct(column)), schema[name], cast, back)
        series.append(made)
    return polars.DataFrame(series)


def to_pyarrow(table: Table, like: Any) -> Any:
    """A pyarrow table."""
    pyarrow: Any = nw.get_native_namespace(like)
    known = nw.from_native(like, eager_only=True).schema

    def natural(column: Column) -> Any:
        if column.is_text:
            return pyarrow.array(_cells(column).tolist(), pyarrow.string())
        missing = column.missing
        return pyarrow.array(column.values[np.where(missing, 0, column.codes)], mask=missing)

    def cast(array: Any, dtype: Any) -> Any:
        return (array.dictionary_encode() if pyarrow.types.is_dictionary(dtype) else array).cast(dtype)

    arrays = {}
    for name, column in table.columns.items():
        arrays[name] = natural(column)
        if name in known and _is_kind(column, known[name]):
            dtype = like.schema.field(name).type
            arrays[name] = _restored(arrays[name], natural(_distinct(column)), dtype, cast, cast)
    return pyarrow.table(arrays)


def to_relation(table: Table, like: duckdb.DuckDBPyRelation) -> duckdb.DuckDBPyRelation:
    """A duckdb relation over a table in memory, on a connection of its own."""
    types = {str(name): str(kind) for name, kind in zip(like.columns, like.types, strict=True)}
    database = duckdb.connect(":memory:")
    selected = []
    for name, cell in register_cells(database, table).items():
        column, wanted = table[name], types.get(name, "")
        if _sql_kind(wanted) == _kind(column) and not wanted.startswith("ENUM"):  # it would list unpublished values
            try:
                changed = f"TRY_CAST(TRY_CAST({cell} AS {wanted}) AS {sql_type(column)}) IS DISTINCT FROM {cell}"
                found = database.execute(f"SELECT count(*) FROM cells WHERE {changed}").fetchone()
                if found and not found[0]:
                    cell = f"CAST({cell} AS {wanted})"
            except duckdb.Error:
                pass  # a type of the other connection's own, or one that needs an extension
        selected.append(f"{cell} AS {identifier(name)}")
    database.execute(f"CREATE TABLE data AS SELECT {', '.join(selected)} FROM cells")
    database.unregister("cells")
    return database.table("data")


def _restored(natural: Any, distinct: Any, dtype: Any, cast: Callable[..., Any], back: Callable[..., Any]) -> Any:
    """``natural`` in another type if all distinct values survive the way there and back."""
    own = distinct.type if hasattr(distinct, "type") else distinct.dtype
    try:
        return cast(natural, dtype) if back(cast(distinct, dtype), own).equals(distinct) else natural
    except Exception:  # each library has errors of its own for a value that does not fit
        return natural


def _cells(column: Column) -> npt.NDArray[Any]:
    """Python objects; a missing text as it was spelled, else None."""
    return np.asarray(typed_cells(column)) if column.is_text else column.cells()


def _array(column: Column, dtype: npt.DTypeLike | None = None) -> npt.NDArray[Any]:
    """The cells in the type of the values, or in another that loses nothing; objects if it has no null."""
    missing = column.missing
    kind = column.values.dtype.kind
    if kind == "O" or (kind in "ib" and missing.any()):
        cells = _cells(column)
    else:
        dictionary = np.append(column.values, np.array("NaT" if kind == "M" else 0, column.values.dtype))
        cells = dictionary[np.minimum(column.codes, len(column.values))]
        if kind == "f":
            cells[missing] = np.nan
    wanted = np.dtype(dtype)
    if dtype is None or wanted == cells.dtype or cells.dtype == object:
        is_text = kind == "O" and wanted.kind == "U" and not any(c is None for c in cells)
        return cells.astype(str) if is_text and dtype is not None else cells
    if wanted.kind in {"i": "iu"}.get(kind, kind):
        changed = column.values.astype(wanted)
        if np.array_equal(changed.astype(column.values.dtype), column.values):
            return cells.astype(wanted)
    return cells


def _distinct(column: Column) -> Column:
    """Each value once, and each spelling of a missing text."""
    spelled = tuple(m for m in column.markers if m is not None) if column.is_text else ()
    codes = np.arange(len(column.values) + len(spelled), dtype=np.int32)
    return Column(column.name, codes, column.values, spelled)


def _kind(column: Column) -> str:
    return _KINDS[column.values.dtype.kind]


def _is_kind(column: Column, dtype: Any) -> bool:
    """Whether a type of a frame is meant for such values; a category may be of any."""
    if dtype in (nw.Categorical, nw.Enum) or not len(column.values):
        return True
    kind = _kind(column)
    return bool(
        (kind == "text" and dtype in (nw.String, nw.Object))
        or (kind == "int" and dtype.is_integer())
        or (kind == "float" and (dtype.is_float() or dtype.is_decimal()))
        or (kind == "bool" and dtype == nw.Boolean)
        or (kind == "time" and dtype in (nw.Date, nw.Datetime))
    )


def _sql_kind(kind: str) -> str:
    if kind.startswith(("VARCHAR", "ENUM", "UUID")):
        return "text"
    if kind.startswith(("FLOAT", "DOUBLE", "DECIMAL")):
        return "float"
    if kind.startswith("BOOL"):
        return "bool"
    if kind.startswith(("DATE", "TIMESTAMP")) and not kind.endswith("TIME ZONE"):
        return "time"
    return "int" if kind.endswith(("INT", "INTEGER")) else "other"
