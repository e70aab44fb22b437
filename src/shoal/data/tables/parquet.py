"""Parquet files, and whatever else a database scans, read by duckdb, every column in the type that it has there."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import numpy.typing as npt

from shoal.arrays import Codes, Ints
from shoal.data.database import connection, lacks_room
from shoal.data.tables.dictionary import TextEncoder, from_distinct
from shoal.data.tables.format import DistinctScan
from shoal.data.tables.one_each import is_one_each
from shoal.data.tables.parquet_files import ParquetFiles
from shoal.data.tables.room import (
    VALUE_BYTES,
    TooManyDistinct,
    does_fit,
    refuse_too_many,
    refuse_too_many_held,
    refuse_uncountable,
    refuse_values,
    text_bytes,
)
from shoal.data.tables.scannable import Scannable
from shoal.data.tables.spill import ROWS_AT_ONCE, SpilledRows, SpillFolder, spread
from shoal.data.tables.sql_types import FLOATS, INTEGERS, TEXTS, TIMES, family, plain, portable, portable_type
from shoal.data.tables.table import Column, encode_cells
from shoal.errors import DataError
from shoal.scratch import NoRoom

_FEW_DISTINCT = 1 << 15
_NEAR = 1 << 20  # of whole numbers, the greatest distance at which places are kept for all between them
_UNSIGNED = {"UTINYINT": 1 << 8, "USMALLINT": 1 << 16, "UINTEGER": 1 << 32}
_ROWS_AT_ONCE = 1 << 15
_COUNTED_AT_ONCE = 32  # columns; what duckdb takes for the ends of each is beyond its limit


def read_parquet(source: os.PathLike[str] | Scannable, *, markers: Collection[str]) -> list[Column]:
    """Read all columns of a Parquet file, or of several.

    Integers become int64, floats and decimals float64 (nan and null are missing), dates and times
    datetime64[us] in UTC, texts str; the markers of missing values apply to texts only.

    Raises
    ------
    DataError
        If the file is damaged or has no rows, or a column has a nested, binary or other odd type.
    """
    return _read(source, markers, None).columns


@dataclass(frozen=True)
class Read:
    """Columns of a file: of all records, of distinct rows with their weights, or of rows that lie in files."""

    columns: list[Column]
    weights: Codes | None = None
    spilled: SpilledRows | None = None


def read_distinct(
    source: os.PathLike[str] | Scannable,
    *,
    markers: Collection[str],
    drops: Callable[[str], bool],
    person: Collection[str] = (),
    spills: bool = False,
) -> Read:
    """Read every distinct row of a Parquet file, or of what else is scanned, once; and how many records it stands for.

    The file is scanned, and never held: what needs memory are the distinct rows. Columns that `drops` says are not
    read, tell no rows apart, and come back without values.

    The columns of `person` say whose a record is. If every record is another person's they are treated like others;
    else, or if that is not known, all records are read, in their order, and the columns of `person` too: no weights
    come back.

    Distinct rows that do not fit into what `shoal.data.memory.bounded` gives are written to files if `spills` says
    so. The columns then hold their values, and no rows (`shoal.data.tables.spill`).

    Raises
    ------
    DataError
        As `read_parquet`, or where the distinct rows do not fit, and are not to be written to files.
    """
    return _read(source, markers, drops, person, spills=spills)


def _read(
    source: os.PathLike[str] | Scannable,
    markers: Collection[str],
    drops: Callable[[str], bool] | None,
    person: Collection[str] = (),
    *,
    spills: bool = False,
) -> Read:
    """All rows or, where it is said which columns to drop, the distinct ones with their weights."""
    scanned = scannable(source)
    path = scanned.path
    with _told_errors(scanned, is_weighed=drops is not None), connection() as database:
        seen = scanned.described(database, lambda name: drops is None or not drops(name) or name in person)
        scan, names, types = seen.scan, seen.names, seen.types
        kept = [name for name in names if drops is None or not drops(name)]
        keys = [i for i, name in enumerate(names) if name in person]
        if drops is not None and (not keys or _is_one_each(database, scan, {i: types[i] for i in keys}, markers)):
            cells = {f"c{i}": portable(f"c{i}", kind) for i, kind in enumerate(types) if names[i] in kept}
            with scanned.collapsed(cells) as parts:
                if parts is not None:
                    held = [portable_type(kind) for kind in types]
                    return _read_collapsed(database, path, parts, names, held, markers, kept, "sum(n)", spills)
            return _read_collapsed(database, path, scan, names, types, markers, kept, spills=spills)
        if drops is not None:
            kept = [name for name in names if name in {*kept, *person}]
            n_texts = sum(family(types[i]) in TEXTS for i in keys)
            refuse_too_many_held(path, seen.n_records, len(kept), n_texts, "some may be of one person")
        nothing = absent(seen.n_records)
        columns = [
            replace(nothing, name=name)
            if name not in kept
            else _read_texts(database, scan, plain(f"c{i}", kind), name, markers)
            if family(kind) in TEXTS
            else to_column(name, kind, _fetch(database, scan, plain(f"c{i}", kind)), markers)
            for i, (name, kind) in enumerate(zip(names, types, strict=True))
        ]
        return Read(columns)


def scannable(source: str | os.PathLike[str] | Scannable) -> Scannable:
    """What is scanned; a path is that of one Parquet file."""
    return source if isinstance(source, Scannable) else ParquetFiles(Path(source))


@contextmanager
def _told_errors(scanned: Scannable, *, is_weighed: bool) -> Iterator[None]:
    """Say in a sentence why a file cannot be read."""
    try:
        yield
    except duckdb.OutOfMemoryException:
        how = "drop columns that tell records apart, or raise memory" if is_weighed else "leave out columns"
        raise NoRoom(f"{scanned.path}: its columns do not fit into the memory for reading; {how}") from None
    except duckdb.ConversionException:
        raise DataError(
            f"{scanned.path}: a column holds integers beyond 64 bits with sign; turn it into text"
        ) from None
    except duckdb.Error as error:
        if lacks_room(error):
            raise NoRoom(f"{scanned.path}: there is no room in the temporary folder to read it; make room") from None
        raise DataError(scanned.damage()) from None


def scan_distinct(
    database: duckdb.DuckDBPyConnection,
    source: os.PathLike[str] | Scannable,
    markers: Collection[str],
    drops: Callable[[str], bool] | None = None,
) -> DistinctScan:
    """What is to be scanned, by a path a Parquet file; texts and whole numbers as small numbers where they are few."""
    scanned = scannable(source)
    seen = scanned.described(database, lambda name: drops is None or not drops(name))
    scan, names, types, n_records = seen.scan, seen.names, seen.types, seen.n_records
    kept = [i for i, name in enumerate(names) if drops is None or not drops(name)]
    coded, _ = _numbered(database, scanned.path, scan, names, {i: types[i] for i in kept})
    cells = [coded[i].cell if i in coded else plain(f"c{i}", types[i]) for i in kept]

    def column(place: int, fetched: npt.NDArray[Any]) -> Column:
        i = kept[place]
        if i not in coded:
            return to_column(names[i], types[i], fetched, markers)
        values, numbers = coded[i].values, np.ma.getdata(fetched).astype(np.int64)
        if isinstance(values, range):
            return encode_cells(names[i], numbers + values.start, numbers == len(values))
        return from_distinct(names[i], np.arange(len(numbers)), [[*values, None][j] for j in numbers], markers)

    return DistinctScan(scan, tuple(names[i] for i in kept), tuple(cells), column, lambda n: n == n_records)


def _read_collapsed(
    database: duckdb.DuckDBPyConnection,
    path: os.PathLike[str],
    scan: str,
    names: Sequence[str],
    types: Sequence[str],
    markers: Collection[str],
    told: Collection[str],
    counted: str = "count(*)",
    spills: bool = False,
) -> Read:
    """The distinct rows, told apart by small numbers in the place of texts and whole numbers, where they are few."""
    kept = [i for i, name in enumerate(names) if name in told]
    coded, taken = _numbered(database, path, scan, names, {i: types[i] for i in kept}, counted)
    cells = ", ".join(f"{coded[i].cell if i in coded else plain(f'c{i}', types[i])} AS c{i}" for i in kept) or "1"
    more = "" if counted == "count(*)" else ", n"
    rows = f"(SELECT {cells}{more} FROM {scan})"
    n_rows = collapse_rows(database, path, rows, [f"c{i}" for i in kept], counted)
    texts = [i for i in kept if i not in coded and family(types[i]) in TEXTS]
    for i in kept:
        if family(types[i]) in TIMES:
            n_values = n_different(database, f"c{i}")
            taken += VALUE_BYTES * n_values
            refuse_values(path, names[i], n_values, taken)
    if spills and kept and not texts and not does_fit(n_rows, len(kept), taken):
        return _spilled(database, path, names, types, markers, kept, coded, taken)
    weights = weights_of_rows(database, path, len(kept), names, taken)
    numbers = ", ".join(f"c{i}" for i in coded)
    fetched = database.execute(f"SELECT {numbers} FROM distinct_rows").fetchnumpy() if coded else {}
    nothing, columns = absent(len(weights)), []
    for i, (name, kind) in enumerate(zip(names, types, strict=True)):
        if i not in kept:
            columns.append(replace(nothing, name=name))
        elif i in coded:
            columns.append(coded[i].column(str(path), name, np.ma.getdata(fetched.pop(f"c{i}")), weights, markers))
        elif family(kind) in TEXTS:
            columns.append(_read_texts(database, "distinct_rows", f"c{i}", name, markers))
        else:
            columns.append(to_column(name, kind, _fetch(database, "distinct_rows", f"c{i}"), markers))
    return Read(columns, weights)


def _spilled(
    database: duckdb.DuckDBPyConnection,
    path: os.PathLike[str],
    names: Sequence[str],
    types: Sequence[str],
    markers: Collection[str],
    kept: Sequence[int],
    coded: Mapping[int, _Numbered],
    taken: int,
) -> Read:
    """Write the distinct rows to a file, as codes; columns have their dictionaries."""
    columns: dict[int, Column] = {}
    counts: dict[str, Ints] = {}
    places: dict[int, Codes] = {}
    for i in kept:
        told = database.execute(f"SELECT c{i}, CAST(sum(n) AS BIGINT) AS n FROM distinct_rows GROUP BY c{i}")
        found = told.fetchnumpy()
        cells, weights = found[f"c{i}"], np.ma.getdata(found["n"]).astype(np.int32)
        if i in coded:
            numbers = np.ma.getdata(cells)
            columns[i] = coded[i].column(str(path), names[i], numbers, weights, markers)
            places[i] = np.zeros(int(numbers.max()) + 1, dtype=np.int32)
            places[i][numbers] = columns[i].codes
        else:
            columns[i] = to_column(names[i], types[i], cells, markers)
        if family(types[i]) not in TEXTS | TIMES:
            taken += VALUE_BYTES * len(columns[i].values)
            refuse_values(path, names[i], len(columns[i].values), taken)
        counts[names[i]] = columns[i].counts(weights)
    folder = SpillFolder()
    file, asked = folder.new(len(kept)), ", ".join([*(f"c{i}" for i in kept), "n"])
    n_rows, n_records = _size(database)
    for begin in range(0, n_rows, ROWS_AT_ONCE):
        some = f"rowid >= {begin} AND rowid < {begin + ROWS_AT_ONCE}"
        fetched = database.execute(f"SELECT {asked} FROM distinct_rows WHERE {some}").fetchnumpy()
        rows = np.empty((len(fetched["n"]), len(kept) + 1), dtype=np.int32)
        for j, i in enumerate(kept):
            cells = fetched[f"c{i}"]
            rows[:, j] = places[i][np.ma.getdata(cells)] if i in coded else _codes_in(columns[i], types[i], cells)
        rows[:, -1] = np.ma.getdata(fetched["n"])
        file.append(rows)
    told_of = [columns.get(i, replace(absent(0), name=name)) for i, name in enumerate(names)]
    spilled = SpilledRows(folder, file, tuple(names[i] for i in kept), counts, n_records)
    return Read(spread(told_of), spilled=spilled)


def _codes_in(column: Column, kind: str, cells: npt.NDArray[Any]) -> Codes:
    """The codes of some cells in a column that has all of their values."""
    some = to_column(column.name, kind, cells, ())
    places = np.append(np.searchsorted(column.values, some.values), len(column.values))
    return places.astype(np.int32)[some.codes]


def absent(n_rows: int) -> Column:
    """A column that was not read."""
    return Column("", np.zeros(n_rows, dtype=np.int32), np.empty(0, dtype=object), (None,))


def _is_one_each(
    database: duckdb.DuckDBPyConnection, scan: str, types: Mapping[int, str], markers: Collection[str]
) -> bool:
    """Whether it is known that these columns, a key of persons, are different in all records."""
    if any(family(kind) in FLOATS for kind in types.values()):
        return False
    cells = [(plain(f"c{i}", kind), family(kind) in TEXTS) for i, kind in types.items()]
    return is_one_each(database, scan, cells, markers)


@dataclass(frozen=True)
class _Numbered:
    """A column whose cells a scan can number: by their place among the texts, or by the distance to the least one.

    Attributes
    ----------
    cell : str
        The SQL of the number; one more than the last where the cell is null.
    values : sequence of str, or range
        What the numbers stand for.
    n_null : int
        How many cells are null.
    """

    cell: str
    values: Sequence[str] | range
    n_null: int

    @classmethod
    def of(cls, number: str, values: Sequence[str] | range, n_null: int) -> _Numbered:
        width = next(kind for kind, most in _UNSIGNED.items() if len(values) < most)
        return cls(f"CAST(coalesce({number}, {len(values)}) AS {width})", values, n_null)

    def column(
        self, path: str, name: str, numbers: npt.NDArray[Any], weights: Codes, markers: Collection[str]
    ) -> Column:
        n_values = len(self.values)
        counts = np.bincount(numbers, weights, minlength=n_values + 1)
        if int(counts[n_values]) != self.n_null:
            raise DataError(f"{path}: it changed while it was read; try again when nobody writes to it")
        if isinstance(self.values, range):
            used = np.flatnonzero(counts)
            place = np.zeros(n_values + 1, dtype=np.int32)
            place[used] = np.arange(len(used))
            present = used[used < n_values].astype(np.int64) + self.values.start
            return Column(name, place[numbers], present, (None,) if self.n_null else ())
        distinct: list[str | None] = [*self.values, None] if self.n_null else list(self.values)
        return from_distinct(name, numbers, distinct, markers)


def _numbered(
    database: duckdb.DuckDBPyConnection,
    path: os.PathLike[str],
    scan: str,
    names: Sequence[str],
    types: Mapping[int, str],
    counted: str = "count(*)",
) -> tuple[dict[int, _Numbered], int]:
    """Those of the columns that have few texts, or whole numbers that lie near each other.

    And about how many bytes the different texts of all columns take.
    """
    texts = [i for i, kind in types.items() if family(kind) in TEXTS]
    wholes = [i for i, kind in types.items() if family(kind) in INTEGERS]
    n_null: dict[int, Any] = {}
    ends: dict[int, Any] = {}
    either = [*texts, *wholes]
    for begin in range(0, len(either), _COUNTED_AT_ONCE):
        some = either[begin : begin + _COUNTED_AT_ONCE]
        asked = [f"CAST(coalesce({counted} FILTER (WHERE c{i} IS NULL), 0) AS BIGINT)" for i in some]
        asked += [f"{end}(c{i})" if i in wholes else "NULL" for i in some for end in ("min", "max")]
        told = list(database.execute(f"SELECT {', '.join(asked)} FROM {scan}").fetchone() or ())
        n_null |= zip(some, told, strict=False)
        ends |= zip(some, zip(told[len(some) :: 2], told[len(some) + 1 :: 2], strict=True), strict=True)
    found, taken = {}, 0
    for i in wholes:
        low, high = ends[i]
        if low is not None and high - low < _NEAR and high < 2**63:
            found[i] = _Numbered.of(f"CAST(c{i} AS BIGINT) - ({low})", range(low, high + 1), n_null[i])
    for i in texts:
        cell = plain(f"c{i}", types[i])
        database.execute(f"CREATE OR REPLACE TEMP TABLE found AS SELECT DISTINCT {cell} AS text FROM {scan}")
        n_texts, n_bytes = sizes_of_texts(database, "found")
        taken += text_bytes(n_texts, n_bytes)
        refuse_values(path, names[i], n_texts, taken)
        if 0 < n_texts <= _FEW_DISTINCT:
            database.execute(f"CREATE TYPE t{i} AS ENUM (SELECT text FROM found WHERE text IS NOT NULL ORDER BY text)")
            listed = database.execute(f"SELECT enum_range(NULL::t{i})").fetchone()
            # A cast that may fail looks at each cell; one that cannot, at each entry of a dictionary.
            number = f"enum_code(TRY_CAST({cell} AS t{i}))"
            found[i] = _Numbered.of(number, list(listed[0]) if listed else [], n_null[i])
    return dict(sorted(found.items())), taken


def sizes_of_texts(database: duckdb.DuckDBPyConnection, table: str) -> tuple[int, int]:
    """How many texts stand in a column `text`, and how many bytes they have."""
    told = f"SELECT count(text), CAST(coalesce(sum(strlen(text)), 0) AS BIGINT) FROM {table}"
    found = database.execute(told).fetchone()
    return (int(found[0]), int(found[1])) if found else (0, 0)


def n_different(database: duckdb.DuckDBPyConnection, cell: str) -> int:
    """How many values the distinct rows have in a column."""
    found = database.execute(f"SELECT count(DISTINCT {cell}) FROM distinct_rows").fetchone()
    return int(found[0]) if found else 0


def collapse_rows(
    database: duckdb.DuckDBPyConnection,
    path: os.PathLike[str],
    scan: str,
    kept: Sequence[str],
    counted: str = "count(*)",
) -> int:
    """Make the table of distinct rows, with the records of each, which `counted` says in SQL; how many rows it has."""
    told = ", ".join(kept) or "1"
    database.execute("SET preserve_insertion_order = false")
    number = f"CAST({counted} AS BIGINT) AS n"
    database.execute(f"CREATE TEMP TABLE distinct_rows AS SELECT {told}, {number} FROM {scan} GROUP BY {told}")
    database.execute("SET preserve_insertion_order = true")
    n_rows, n_records = _size(database)
    refuse_uncountable(path, n_records)
    return n_rows


def weights_of_rows(
    database: duckdb.DuckDBPyConnection, path: os.PathLike[str], n_columns: int, names: Sequence[str], taken: int = 0
) -> Codes:
    """How many records each of the distinct rows stands for, if they fit beside what is taken already.

    The names are those of all columns, for whoever has to do without the rows.
    """
    n_rows, n_records = _size(database)
    try:
        refuse_too_many(path, n_rows, n_columns, taken=taken)
    except TooManyDistinct as error:
        error.names, error.n_records = tuple(names), n_records
        raise
    return np.ma.getdata(database.execute("SELECT n FROM distinct_rows").fetchnumpy()["n"]).astype(np.int32)


def _size(database: duckdb.DuckDBPyConnection) -> tuple[int, int]:
    """How many distinct rows there are, and how many records."""
    told = database.execute("SELECT count(*), CAST(coalesce(sum(n), 0) AS BIGINT) FROM distinct_rows").fetchone()
    return (int(told[0]), int(told[1])) if told else (0, 0)


def to_column(name: str, kind: str, fetched: npt.NDArray[Any], markers: Collection[str]) -> Column:
    """Make a column of what duckdb fetched: an array, masked where null."""
    cells, missing, found = np.ma.getdata(fetched), np.ma.getmaskarray(fetched), family(kind)
    if found in TEXTS:
        encoder = TextEncoder()
        cells[missing] = None
        encoder.add(cells.tolist())
        return encoder.column(name, markers)
    if found in TIMES:
        return encode_cells(name, cells.astype(np.int64).view("datetime64[us]"), missing)
    if found in FLOATS:
        return encode_cells(name, cells, missing | np.isnan(cells))
    return encode_cells(name, cells.astype(bool if found == "BOOLEAN" else np.int64), missing)


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
