"""Sketches in a Parquet file: a list of components a record, its class if it has one, and nothing else.

The columns are ``sketch``, a list of integers of the smallest size that holds them all or of doubles, and ``label``, a
text. The file's own key-value pairs hold the grid of real components under ``shoal_step``. The same sketches give the
same bytes.
"""

from __future__ import annotations

import errno
import math
import os
from pathlib import Path

import duckdb
import numpy as np
import numpy.typing as npt

from shoal.arrays import Codes, Floats
from shoal.data.database import connection, file_literal, literal
from shoal.data.sniff import look
from shoal.data.sparse.sketches import Sketches
from shoal.errors import DataError, did_you_mean

SKETCH, LABEL = "sketch", "label"
"""The names of the columns."""

_STEP = "shoal_step"
_INTEGERS = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT")
_FLOATS = ("FLOAT", "DOUBLE")
_SIZES = (("SMALLINT", np.int16), ("INTEGER", np.int32), ("BIGINT", np.int64))


def write_sketches(sketches: Sketches, path: str | os.PathLike[str]) -> None:
    """Write sketches as Parquet, in the order that they have.

    Raises
    ------
    OSError
        If the file cannot be written, for example because the disk is full. What was written stays there.
    DataError
        If a component is not a finite number, or a class is a text that no file can hold.
    """
    if not np.isfinite(sketches.components).all():
        raise DataError("a component is not a finite number; nothing was written")
    n_records, counts = len(sketches), sketches.counts
    entries = {
        "record": np.repeat(np.arange(n_records), counts),
        "place": np.arange(len(sketches.components)),
        "component": sketches.components,
    }
    records: dict[str, npt.NDArray[np.generic]] = {"record": np.arange(n_records)}
    selected = f"coalesce(components, []) AS {SKETCH}"
    if sketches.labels is not None:
        names = np.empty(len(sketches.classes), dtype=object)
        names[:] = sketches.classes
        records["class"] = names[sketches.labels]
        selected += f", CAST(class AS VARCHAR) AS {LABEL}"
    # A list of all components of a record, in order; the outer join keeps a record that has none.
    query = f"""
        SELECT {selected} FROM records LEFT JOIN (
            SELECT record, list(CAST(component AS {_sql_type(sketches)}) ORDER BY place) AS components
            FROM entries GROUP BY record
        ) USING (record) ORDER BY record
    """
    try:
        "".join(sketches.classes).encode()  # fails before there is a file that a failure would leave behind
        with connection() as database:
            database.register("entries", entries)
            database.register("records", records)
            copy_query(database, query, path, sketches.step)
    except (duckdb.Error, UnicodeEncodeError):
        raise DataError("a class holds half a character (a lone surrogate), which no file can; rename it") from None


def copy_query(database: duckdb.DuckDBPyConnection, query: str, path: str | os.PathLike[str], step: float) -> None:
    """Write what a query finds, the columns of sketches, into a file.

    Raises
    ------
    OSError
        If the file cannot be written.
    """
    options = f"FORMAT parquet, COMPRESSION zstd, KV_METADATA {{{_STEP}: {literal(repr(float(step)))}}}"
    try:
        database.execute(f"COPY ({query}) TO {literal(os.path.abspath(path))} ({options})")
    except duckdb.IOException as error:
        code = errno.ENOSPC if "space left" in str(error) else errno.EIO
        raise OSError(code, os.strerror(code), os.fspath(path)) from None


def is_file_of_integers(database: duckdb.DuckDBPyConnection, path: Path) -> bool:
    """Refuse a file that does not hold sketches of whole numbers; whether they have classes."""
    described = database.execute(f"DESCRIBE SELECT * FROM read_parquet({file_literal(path)})").fetchall()
    kinds = {str(r[0]): str(r[1]) for r in described}
    _refuse_columns(path, kinds)
    if kinds[SKETCH].removesuffix("[]") not in _INTEGERS:
        raise DataError(f"{path}: its components are real numbers, and whole ones are looked at one by one")
    return LABEL in kinds


def read_sketches(path: str | os.PathLike[str]) -> Sketches:
    """Read a Parquet file with a column ``sketch`` of lists of numbers and, if need be, a text column ``label``.

    Any tool may have written it. Real components of a file that does not tell their grid get the coarsest power of two
    that they all are multiples of. That components lie on the grid that a file tells is not looked into.

    Raises
    ------
    DataError
        If the file is not there or damaged, has other columns, or holds a null, a nan or an infinite number.
    """
    where = Path(path)
    if not look(where).is_parquet:
        raise DataError(f"{where}: is not Parquet, and sketches are; give the data file of a release of sparse records")
    scan = f"read_parquet({file_literal(where)})"
    try:
        with connection() as database:
            kinds = {str(r[0]): str(r[1]) for r in database.execute(f"DESCRIBE SELECT * FROM {scan}").fetchall()}
            _refuse_columns(where, kinds)
            is_integral = kinds[SKETCH].removesuffix("[]") in _INTEGERS
            counts = _fetch(database, scan, f"len({SKETCH})")
            components = _fetch(database, scan, f"CAST(unnest({SKETCH}) AS {'BIGINT' if is_integral else 'DOUBLE'})")
            cells = _fetch(database, scan, LABEL) if LABEL in kinds else None
            told = database.execute(
                f"SELECT value FROM parquet_kv_metadata({file_literal(where)}) WHERE decode(key) = {literal(_STEP)}"
            ).fetchone()
    except duckdb.OutOfMemoryException:
        raise DataError(f"{where}: its sketches do not fit into half of the memory; split the file") from None
    except duckdb.ConversionException:
        raise DataError(
            f"{where}: a component is beyond 64 bits with sign, so this is not a file of sketches"
        ) from None
    except duckdb.Error:
        raise DataError(f"{where}: the Parquet file is damaged or of an unknown make; export it again") from None
    _refuse_nulls(where, counts, f"the column {SKETCH!r} holds a null; leave the record out or give its components")
    _refuse_nulls(where, components, "a sketch holds a null among its components; leave out the record")
    values = np.ma.getdata(components)
    if not np.isfinite(values).all():
        raise DataError(f"{where}: a component is not a finite number; leave out the record")
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(np.ma.getdata(counts), dtype=np.int64)])
    labels, classes = (None, ()) if cells is None else _classes(where, cells)
    step = _step(where, bytes(told[0])) if told else 1.0 if is_integral else coarsest_step(values)
    typed = values.astype(np.int64) if is_integral else values.astype(np.float64)
    return Sketches(starts, typed, step, labels, classes)


def coarsest_step(values: Floats) -> float:
    """The largest power of two that all numbers are multiples of; 1 where all are 0.

    >>> coarsest_step(np.array([0.5, -1.75, 0.0]))
    0.25
    """
    mantissas, exponents = np.frexp(values[values != 0])
    if not len(mantissas):
        return 1.0
    whole = np.abs(np.ldexp(mantissas, 53)).astype(np.int64)
    lowest = np.frexp((whole & -whole).astype(np.float64))[1] - 1  # the place of the last bit that is set
    return math.ldexp(1.0, int((exponents - 53 + lowest).min()))


def _sql_type(sketches: Sketches) -> str:
    if not sketches.is_integral:
        return "DOUBLE"
    return integer_type(int(sketches.components.min(initial=0)), int(sketches.components.max(initial=0)))


def integer_type(low: int, high: int) -> str:
    """The SQL type of the smallest size that holds whole numbers from the least to the largest."""
    return next(name for name, kind in _SIZES if np.iinfo(kind).min <= low and high <= np.iinfo(kind).max)


def _refuse_columns(path: Path, kinds: dict[str, str]) -> None:
    if SKETCH not in kinds:
        raise DataError(f"{path}: there is no column {SKETCH!r}; {did_you_mean(SKETCH, kinds)}")
    strangers = [name for name in kinds if name not in (SKETCH, LABEL)]
    if strangers:
        shown = ", ".join(map(repr, strangers[:12]))
        raise DataError(f"{path}: holds columns besides {SKETCH!r} and {LABEL!r}: {shown}; leave them out")
    kind = kinds[SKETCH].removesuffix("[]")
    if not kinds[SKETCH].endswith("[]") or kind not in (*_INTEGERS, *_FLOATS):
        raise DataError(
            f"{path}: the column {SKETCH!r} has the type {kinds[SKETCH]}; give lists of integers or of doubles"
        )
    if kinds.get(LABEL, "VARCHAR") != "VARCHAR":
        raise DataError(f"{path}: the column {LABEL!r} has the type {kinds[LABEL]}; give the classes as text")


def _refuse_nulls(path: Path, cells: npt.NDArray[np.generic], what: str) -> None:
    if np.ma.getmaskarray(cells).any():
        raise DataError(f"{path}: {what}")


def _classes(path: Path, cells: npt.NDArray[np.generic]) -> tuple[Codes, tuple[str, ...]]:
    _refuse_nulls(path, cells, f"the column {LABEL!r} holds a null; give every record a class, or leave out the column")
    texts: list[str] = np.ma.getdata(cells).tolist()
    classes = tuple(sorted(set(texts)))
    code_of = {name: code for code, name in enumerate(classes)}
    return np.fromiter(map(code_of.__getitem__, texts), np.int32, len(texts)), classes


def _step(path: Path, told: bytes) -> float:
    try:
        step = float(told.decode())
    except ValueError:
        step = math.nan
    if not (math.isfinite(step) and step > 0):
        raise DataError(f"{path}: its key {_STEP!r} is not a positive number; fetch or export the file again")
    return step


def _fetch(database: duckdb.DuckDBPyConnection, scan: str, cell: str) -> npt.NDArray[np.generic]:
    cells: npt.NDArray[np.generic] = database.execute(f"SELECT {cell} AS cell FROM {scan}").fetchnumpy()["cell"]
    return cells
