"""Data frames in, and the same kind of frame out: pandas, polars, pyarrow, duckdb, or a plain dict."""

from __future__ import annotations

import datetime
import numbers
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import duckdb
import narwhals.stable.v1 as nw
import numpy as np
from narwhals.stable.v1.dependencies import (
    is_pandas_dataframe,
    is_polars_dataframe,
    is_polars_lazyframe,
    is_pyarrow_table,
)

from shoal.arrays import Ints, Mask
from shoal.data.database import identifier
from shoal.data.tables import frames_back
from shoal.data.tables.dictionary import TextEncoder
from shoal.data.tables.format import HowToRead
from shoal.data.tables.header import refuse_named_by_record
from shoal.data.tables.ordered_column import OrderedColumn
from shoal.data.tables.parquet import to_column
from shoal.data.tables.sql_types import plain, refuse_type
from shoal.data.tables.table import MARKERS, Column, Source, Table, encode_cells
from shoal.errors import DataError

_NULL_TYPES = ("NoneType", "NAType", "NaTType")


def from_query(database: duckdb.DuckDBPyConnection, query: str, reading: HowToRead) -> Table:
    """What a query finds, as a table."""
    return from_frame(database.sql(query), markers=reading.markers, header=reading.header)


def from_frame(frame: Any, markers: Sequence[str] = MARKERS, header: str | None = None) -> Table:
    """Make a table of a data frame.

    Parameters
    ----------
    frame : pandas or polars frame, pyarrow table, duckdb relation, mapping of sequences, or Table
        An index is not read. Ordered categories of pandas keep their order. Times are kept to the microsecond; those
        with a zone become UTC, with a note.
    markers : sequence of str
        The texts that mean a missing value, besides the frame's own nulls.
    header : {"first"}, optional
        Insist that the columns have the right names; else names that look like a record are refused.

    Raises
    ------
    DataError
        If it is none of these, or a column holds other things than texts, numbers, truth values or times.
    """
    if isinstance(frame, Table):
        return frame
    notes: list[str] = []
    if isinstance(frame, Mapping):
        columns = [_from_sequence(_name(name), cells, markers) for name, cells in frame.items()]
    elif isinstance(frame, duckdb.DuckDBPyRelation):
        columns = _from_relation(frame, markers, notes)
    elif any(
        check(frame) for check in (is_pandas_dataframe, is_polars_dataframe, is_polars_lazyframe, is_pyarrow_table)
    ):
        columns = _from_narwhals(frame, markers, notes)
    else:
        raise DataError(
            f"{type(frame).__name__} is not a table; give a pandas or polars frame, a pyarrow table, "
            "a duckdb relation, or a dict of sequences"
        )
    table = Table.of(columns, Source(format="frame", notes=tuple(notes)))
    if not columns or not table.n_rows:
        raise DataError(f"the frame has no {'rows' if columns else 'columns'}; there is nothing to anonymise")
    if all(isinstance(label, str) for label in getattr(frame, "columns", frame)):  # others come from no file
        refuse_named_by_record("the frame", columns, header)
    return table


def to_frame(table: Table, like: Any) -> Any:
    """Give a table the kind of frame that ``like`` is.

    All columns of the table come in its order. A column whose values still fit, without loss, the type that
    it has in ``like`` gets that type; else float for numbers, str for texts, and so on. The index is new.
    """
    if isinstance(like, Table):
        return table
    if isinstance(like, Mapping):
        return frames_back.to_dict(table, like)
    if isinstance(like, duckdb.DuckDBPyRelation):
        return frames_back.to_relation(table, like)
    if is_pandas_dataframe(like):
        return frames_back.to_pandas(table, like)
    if is_pyarrow_table(like):
        return frames_back.to_pyarrow(table, like)
    if is_polars_lazyframe(like):
        return frames_back.to_polars(table, like, like.collect_schema()).lazy()
    if is_polars_dataframe(like):
        return frames_back.to_polars(table, like, like.schema)
    raise DataError(f"{type(like).__name__} is not a frame to imitate; give the one that was read")


def _name(label: object) -> str:
    name = str(label)
    if not name.strip():
        raise DataError("a column of the frame has no name; give it one")
    return name


def _from_relation(relation: duckdb.DuckDBPyRelation, markers: Collection[str], notes: list[str]) -> list[Column]:
    described = [(str(name), str(kind)) for name, kind in zip(relation.columns, relation.types, strict=True)]
    for name, kind in described:
        refuse_type("the relation", name, kind)
        if kind.endswith("TIME ZONE"):
            notes.append(utc_note(name))
    # All columns in one execution: a relation may give its rows in another order each time.
    cells = ", ".join(f"{plain(identifier(name), kind)} AS c{i}" for i, (name, kind) in enumerate(described))
    try:
        fetched = relation.project(cells).fetchnumpy()
    except duckdb.Error:
        raise DataError("the duckdb relation cannot be run; try it alone, and mind integers beyond 64 bits") from None
    return [to_column(name, kind, fetched[f"c{i}"], markers) for i, (name, kind) in enumerate(described)]


def _from_narwhals(native: Any, markers: Collection[str], notes: list[str]) -> list[Column]:
    labels = list(native.columns) if is_pandas_dataframe(native) else []
    if len({str(label) for label in labels}) < len(labels):
        names = [str(label) for label in labels]
        place = next(i for i, name in enumerate(names) if name in names[:i])
        raise DataError(
            f"the columns {names.index(names[place]) + 1} and {place + 1} have the same name; rename one of them"
        )
    try:
        frame = nw.from_native(native)
        eager = frame.collect() if isinstance(frame, nw.LazyFrame) else frame
        return [
            _from_series(_name(label), series, markers, notes)
            for label, series in zip(eager.columns, eager.iter_columns(), strict=True)
        ]
    except (DataError, MemoryError):
        raise
    except Exception as error:  # each library has errors of its own, and their texts may quote cells
        raise DataError(f"the frame cannot be read ({type(error).__name__} in its library)") from None


def _from_series(name: str, series: Any, markers: Collection[str], notes: list[str]) -> Column:
    dtype = series.dtype
    native = series.to_native()
    if dtype == nw.Categorical and hasattr(native, "cat") and hasattr(native.cat, "codes"):
        return _from_categories(name, native, markers)
    if dtype == nw.Object:
        return _from_objects(name, native.tolist() if hasattr(native, "tolist") else native.to_list(), markers)
    missing = np.asarray(series.is_null().to_numpy(), dtype=bool)
    if missing.all():
        return Column(name, np.zeros(len(missing), np.int32), np.empty(0, object), (None,))
    present = series.drop_nulls()
    if dtype in (nw.String, nw.Categorical, nw.Enum):
        encoder = TextEncoder()
        encoder.add(present.cast(nw.String).to_list())
        return _spread(encoder.column(name, markers), missing)
    if dtype == nw.Boolean:
        return _spread(encode_cells(name, present.to_numpy().astype(bool)), missing)
    if dtype.is_integer():
        return _spread(encode_cells(name, _as_int64(name, present.to_numpy())), missing)
    if dtype.is_float() or dtype.is_decimal():
        return _spread(encode_cells(name, present.cast(nw.Float64).to_numpy().astype(np.float64)), missing)
    if dtype in (nw.Date, nw.Datetime):
        if getattr(dtype, "time_zone", None):
            notes.append(utc_note(name))
        times = present.cast(nw.Datetime("us")) if dtype == nw.Date else present
        since = times.dt.timestamp("us").to_numpy().astype(np.int64)
        return _spread(encode_cells(name, since.view("datetime64[us]")), missing)
    raise _odd_type(name, str(dtype))


def _from_categories(name: str, native: Any, markers: Collection[str]) -> Column:
    numbers_ = native.cat.codes.to_numpy()
    missing = numbers_ < 0
    if missing.all():
        return Column(name, np.zeros(len(missing), np.int32), np.empty(0, object), (None,))
    used, codes = np.unique(numbers_[~missing], return_inverse=True)  # a category without rows is no value
    categories = native.cat.categories[used].tolist()
    column = _from_objects(name, categories, markers)
    if native.cat.ordered and column.values.dtype.kind != "M":  # times are in order anyway
        texts = column.texts()
        order = tuple(dict.fromkeys(texts[code] for code in column.codes if code < len(column.values)))
        column = OrderedColumn(name, column.codes, column.values, column.markers, order)
    return _spread(replace(column, codes=column.codes[codes]), missing)


def _from_sequence(name: str, cells: Any, markers: Collection[str]) -> Column:
    if isinstance(cells, np.ndarray):
        if cells.ndim != 1:
            raise DataError(f"the column {name!r} has {cells.ndim} dimensions; give one value a row")
        if cells.dtype.kind in "iu":
            return encode_cells(name, _as_int64(name, cells))
        if cells.dtype.kind == "f":
            return encode_cells(name, cells.astype(np.float64))
        if cells.dtype.kind == "b":
            return encode_cells(name, cells)
        if cells.dtype.kind == "M":
            return encode_cells(name, cells.astype("datetime64[us]"))
        if cells.dtype.kind not in "OUT":
            raise _odd_type(name, str(cells.dtype))
        return _from_objects(name, cells.tolist(), markers)
    if isinstance(cells, (str, bytes)) or not (hasattr(cells, "__iter__") and hasattr(cells, "__len__")):
        raise DataError(f"the column {name!r} is not a sequence; give one value per row")
    return _from_objects(name, list(cells), markers)


def _from_objects(name: str, cells: list[Any], markers: Collection[str]) -> Column:
    """Python objects of one kind: their types are looked at once, not cell by cell."""
    types = set(map(type, cells))
    nulls = {t for t in types if t.__name__ in _NULL_TYPES}
    kinds = types - nulls
    if all(issubclass(t, (str, float)) for t in kinds) and any(issubclass(t, str) for t in kinds):
        # pandas marks a missing text by the number nan.
        if any(isinstance(c, float) and c == c for c in cells if not isinstance(c, str)):
            raise DataError(f"the column {name!r} mixes texts and numbers; turn it into one of them")
        encoder = TextEncoder()
        encoder.add([str(c) if isinstance(c, str) else None for c in cells])
        return encoder.column(name, markers)
    missing = np.fromiter((type(c) in nulls for c in cells), bool, len(cells))
    present = [c for c in cells if type(c) not in nulls] if nulls else cells
    if not present:
        return Column(name, np.zeros(len(cells), np.int32), np.empty(0, object), (None,) if cells else ())
    if all(issubclass(t, (bool, np.bool_)) for t in kinds):
        return _spread(encode_cells(name, np.array(present, dtype=bool)), missing)
    if any(issubclass(t, (bool, np.bool_)) for t in kinds):
        raise DataError(f"the column {name!r} mixes truth values with others; turn it into one kind")
    if all(issubclass(t, numbers.Integral) for t in kinds):
        return _spread(encode_cells(name, _as_int64(name, present)), missing)
    if all(issubclass(t, numbers.Number) and not issubclass(t, complex) for t in kinds):
        return _spread(encode_cells(name, np.array([float(c) for c in present])), missing)
    if all(issubclass(t, datetime.date) for t in kinds):
        return _spread(encode_cells(name, np.array([_utc(c) for c in present], dtype="datetime64[us]")), missing)
    if all(issubclass(t, np.datetime64) for t in kinds):
        return _spread(encode_cells(name, np.array(present, dtype="datetime64[us]")), missing)
    raise _odd_type(name, " and ".join(sorted(t.__name__ for t in kinds)))


def _utc(moment: datetime.date) -> datetime.date:
    if isinstance(moment, datetime.datetime) and moment.tzinfo is not None:
        return moment.astimezone(datetime.timezone.utc).replace(tzinfo=None)
    return moment


def _as_int64(name: str, cells: Any) -> Ints:
    try:
        array = np.array([int(c) for c in cells], np.int64) if isinstance(cells, list) else np.asarray(cells)
    except OverflowError:
        array = np.array([2**63], np.uint64)
    if array.dtype.kind == "u" and len(array) and int(array.max()) >= 2**63:
        raise DataError(f"the column {name!r} holds integers beyond 64 bits with sign; turn it into text")
    return array.astype(np.int64)


def _spread(present: Column, missing: Mask) -> Column:
    """Put the cells of a column where the others are not missing."""
    if not missing.any():
        return present
    markers = present.markers if None in present.markers else (*present.markers, None)
    codes = np.full(len(missing), len(present.values) + markers.index(None), dtype=np.int32)
    codes[~missing] = present.codes
    return replace(present, codes=codes, markers=markers)


def utc_note(name: str) -> str:
    """What is said of a column of times with a zone."""
    return f"the times of the column {name!r} were turned into UTC"


def _odd_type(name: str, kind: str) -> DataError:
    return DataError(
        f"the column {name!r} has the type {kind.split('(')[0]}, which is not a single value; "
        "leave it out or turn it into text or numbers"
    )
