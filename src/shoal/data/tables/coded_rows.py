"""The distinct rows of a file in a database that spills, where they do not fit into memory; read from there in parts.

Every cell is the number of its value in a dictionary of its column, which is held; equal numbers read the same. What is
asked of all rows is counted by the database.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

from shoal.arrays import Ints
from shoal.data.database import connection, lacks_room
from shoal.data.memory import bound
from shoal.data.sniff import Look, look
from shoal.data.tables.format import FORMATS, DistinctScan, HowToRead, TableFormat
from shoal.data.tables.parts import look_at
from shoal.data.tables.room import TooManyDistinct, n_that_fit, refuse_uncountable, value_bytes
from shoal.data.tables.table import Column, Table
from shoal.errors import DataError
from shoal.scratch import NoRoom

_SLACK = 1.1
"""Parts are dealt by a hash, and are not equally large: so much more of them than would fit if they were."""
TRIES = 4
MOST_PARTS = np.iinfo(np.uint16).max
_VALUE_BYTES = 16
_WIDTHS = {"UTINYINT": 1 << 8, "USMALLINT": 1 << 16, "UINTEGER": 1 << 32}


@contextmanager
def coded_rows(
    path: str | os.PathLike[str],
    names: Sequence[str],
    *,
    markers: Sequence[str],
    delimiter: str | None = None,
    n_beside: int = 1,
) -> Iterator[CodedRows]:
    """Scan a file that `shoal.data.tables.write.write_table` wrote, and show its distinct rows while the block lasts.

    As `shoal.data.tables.write.read_back` reads it: the same names, values and spellings of missing cells. Where
    several are open beside each other, their databases share the memory.

    Raises
    ------
    DataError
        If the file is damaged, or a column has so many different values that these do not fit into what
        `shoal.data.memory.bounded` gives.
    """
    known, reading = _format_of(look(path)), HowToRead(markers, delimiter, None, "first")
    with _collapsed(Path(path), lambda database: known.scan_back(database, path, names, reading), n_beside) as rows:
        yield rows


@contextmanager
def coded_originals(path: Path, reading: HowToRead, *, n_beside: int = 1) -> Iterator[CodedRows]:
    """The same of a file that a user gives, without the columns that `reading` drops."""
    seen = look_at(path)
    with _collapsed(path, lambda database: _format_of(seen).scan(database, seen, reading), n_beside) as rows:
        yield rows


def _format_of(seen: Look) -> TableFormat:
    return next(format for format in FORMATS.values() if format.looks_like(seen))


@contextmanager
def _collapsed(
    path: Path, scan: Callable[[duckdb.DuckDBPyConnection], DistinctScan], n_beside: int
) -> Iterator[CodedRows]:
    try:
        with connection(n_beside) as database:
            found = scan(database)
            Table.of([Column(name, np.zeros(0, np.int32), np.empty(0, object)) for name in found.names])
            yield _collapse(database, path, found)
    except duckdb.Error as error:
        if lacks_room(error):
            raise NoRoom(
                f"{path}: its distinct rows do not fit into the memory and the temporary folder that there are; raise "
                "memory, or make room"
            ) from None
        raise DataError(f"{path}: it is damaged, or the temporary folder cannot be written; write it again") from None


def _collapse(database: duckdb.DuckDBPyConnection, path: Path, scan: DistinctScan) -> CodedRows:
    """Make the table of distinct rows, and number their cells."""
    every = range(len(scan.names))
    told = ", ".join(f"c{i}" for i in every)
    cells = ", ".join(f"{cell} AS c{i}" for i, cell in enumerate(scan.cells))
    database.execute("SET preserve_insertion_order = false")
    database.execute(
        f"CREATE TEMP TABLE spelled AS SELECT {told}, count(*) AS n FROM (SELECT {cells} FROM {scan.source}) "
        f"GROUP BY {told}"
    )
    n_rows, n_records = _fetch_one(database, "SELECT count(*), CAST(sum(n) AS BIGINT) FROM spelled")
    if not scan.has_records(n_records or 0):
        raise DataError(f"{path}: it changed while it was read, or is not regular; write it again")
    refuse_uncountable(path, n_records)
    columns: dict[str, Column] = {}
    numbers, joins, taken = [], [], 0
    for i in every:
        dictionary, join = _numbered(database, scan, i)
        taken += value_bytes([dictionary]) if dictionary.is_text else _VALUE_BYTES * len(dictionary.values)
        if n_that_fit(0, taken) == 0:
            raise TooManyDistinct(path, len(dictionary.values), bound() or 0, f"values of {scan.names[i]!r} differ")
        columns[scan.names[i]] = replace(dictionary, name=scan.names[i])
        numbers.append(f"{f'm{i}.code' if join else f'spelled.c{i}'} AS c{i}")
        joins += [join] * bool(join)
    database.execute(f"CREATE TEMP TABLE coded AS SELECT {', '.join(numbers)}, n FROM spelled {' '.join(joins)}")
    database.execute("DROP TABLE spelled")
    if _fetch_one(database, "SELECT count(*) FROM coded")[0] != n_rows:
        raise DataError(f"{path}: it changed while it was read; try again when nobody writes to it")
    return CodedRows(path, columns, n_rows, n_records, taken, database)


def _numbered(database: duckdb.DuckDBPyConnection, scan: DistinctScan, i: int) -> tuple[Column, str]:
    """The dictionary of a column, each value once, and the SQL that joins its numbers; "" if cells are these."""
    database.execute(
        f"CREATE OR REPLACE TEMP TABLE found AS SELECT row_number() OVER () - 1 AS place, cell "
        f"FROM (SELECT DISTINCT c{i} AS cell FROM spelled)"
    )
    cells = database.execute("SELECT cell FROM found ORDER BY place").fetchnumpy()["cell"]
    column = scan.column(i, cells)
    codes = column.ranks()[column.codes]  # spellings of a missing cell that read the same are one
    spelled = tuple(sorted({m or "" for m in column.markers}))
    n_codes = len(column.values) + len(spelled)
    dictionary = Column(column.name, np.arange(n_codes, dtype=np.int32), column.values, spelled)
    plain = np.ma.getdata(cells)
    if plain.dtype.kind == "u" and np.array_equal(plain, codes):
        return dictionary, ""
    width = next(kind for kind, most in _WIDTHS.items() if n_codes < most)
    database.register("numbers", {"place": np.arange(len(codes)), "code": codes})
    database.execute(
        f"CREATE TEMP TABLE map{i} AS SELECT cell, CAST(code AS {width}) AS code FROM found JOIN numbers USING (place)"
    )
    database.unregister("numbers")
    return dictionary, f"JOIN map{i} m{i} ON spelled.c{i} IS NOT DISTINCT FROM m{i}.cell"


def more_parts(n_parts: int, largest: int, most: int) -> int:
    """How many parts to try where the largest of so many has more rows than fit."""
    return max(n_parts + 1, int(np.ceil(_SLACK * n_parts * largest / max(most, 1))))


def _fetch_one(database: duckdb.DuckDBPyConnection, query: str) -> tuple[Any, ...]:
    found: list[tuple[Any, ...]] = database.execute(query).fetchall()  # to the end, so that the connection is free
    return found[0]


@dataclass(frozen=True)
class Marginals:
    """Columns by themselves: the values of each, and how many records have them.

    Attributes
    ----------
    columns : mapping of str to Column
        For each column its values and spellings of missing cells, each once.
    counts : mapping of str to int64 array
        How many records have each.
    """

    columns: Mapping[str, Column]
    counts: Mapping[str, Ints]

    def marginal(self, name: str) -> tuple[Column, Ints]:
        """A column, and how many records each of its rows stands for."""
        return self.columns[name], self.counts[name]


@dataclass(frozen=True)
class UnheldTable:
    """What is known of a table whose distinct rows do not fit into memory.

    Attributes
    ----------
    names : tuple of str
        Its columns.
    n_rows, n_records : int
        Distinct rows, and records.
    memory : int
        The bytes into which they do not fit.
    is_one_each : bool
        Whether persons count, and every record is known to be another person's.
    path, reading
        The file, and how it is read by `coded_originals`; None where it cannot be.
    """

    names: tuple[str, ...]
    n_rows: int
    n_records: int
    memory: int
    is_one_each: bool = False
    path: Path | None = None
    reading: HowToRead = field(default_factory=HowToRead)


@dataclass(frozen=True)
class CodedRows:
    """Distinct rows that a database holds, each with the number of its records.

    Attributes
    ----------
    path : Path
        The file that they are of.
    dictionaries : mapping of str to Column
        For each column its values and spellings of missing cells, each once: of the number i the one at place i.
    n_rows, n_records : int
        Distinct rows as they are spelled, and records.
    taken : int
        About how many bytes the dictionaries take.
    """

    path: Path
    dictionaries: Mapping[str, Column]
    n_rows: int
    n_records: int
    taken: int
    _database: duckdb.DuckDBPyConnection
    _alone: dict[frozenset[str], int] = field(default_factory=dict)

    @property
    def columns(self) -> Mapping[str, Column]:
        """The dictionaries."""
        return self.dictionaries

    def marginal(self, name: str) -> tuple[Column, Ints]:
        """The dictionary of a column, and how many records have each of its values."""
        return self.dictionaries[name], self.counts(name)

    def marginals(self) -> Marginals:
        """All columns by themselves, to be kept when the rows are gone."""
        return Marginals(self.dictionaries, {name: self.counts(name) for name in self.dictionaries})

    @property
    def names(self) -> list[str]:
        """The columns in order."""
        return list(self.dictionaries)

    def counts(self, name: str, apart: Sequence[str] = ()) -> Ints:
        """How many records have each number of a column; a row that lacks a value in one of `apart` counts once."""
        lacking = " OR ".join(f"{self._cell(n)} >= {len(self.dictionaries[n].values)}" for n in apart)
        number = f"CASE WHEN {lacking} THEN 1 ELSE n END" if lacking else "n"
        cell = self._cell(name)
        found = self._database.execute(
            f"SELECT {cell} AS code, CAST(sum({number}) AS BIGINT) AS n FROM coded GROUP BY {cell}"
        ).fetchnumpy()
        counts = np.zeros(len(self.dictionaries[name].codes), dtype=np.int64)
        counts[np.ma.getdata(found["code"]).astype(np.int64)] = np.ma.getdata(found["n"])
        return counts

    def n_alone(self, names: Sequence[str]) -> int:
        """How many records no other has the same cells as in some columns."""
        key = frozenset(names)
        if key not in self._alone:
            told = ", ".join(map(self._cell, names)) or "()"
            query = f"SELECT count(*) FROM (SELECT 1 FROM coded GROUP BY {told} HAVING sum(n) = 1)"
            self._alone[key] = int(_fetch_one(self._database, query)[0])
        return self._alone[key]

    def class_sizes(self, names: Sequence[str]) -> tuple[Ints, Ints]:
        """The sizes of classes of records that are equal in some columns, ascending, and how many have each."""
        told = ", ".join(map(self._cell, names)) or "()"
        found = self._database.execute(
            f"SELECT size, count(*) AS n FROM (SELECT CAST(sum(n) AS BIGINT) AS size FROM coded GROUP BY {told}) "
            "GROUP BY size ORDER BY size"
        ).fetchnumpy()
        return np.ma.getdata(found["size"]).astype(np.int64), np.ma.getdata(found["n"]).astype(np.int64)

    def parts(
        self,
        by: Sequence[str],
        beside: Sequence[str] = (),
        *,
        are_joined: bool = True,
        n_parts: int | None = None,
        shared: Mapping[str, Ints] | None = None,
    ) -> Iterator[tuple[int, int, Table]]:
        """Tables of rows, each with its number and how many there are; rows that are equal in the columns `by` in one.

        Parameters
        ----------
        by, beside : sequence of str
            The columns that are read.
        are_joined : bool
            Whether rows that are equal in all of them become one.
        n_parts : int, optional
            How many; else as many as it takes for each to fit into memory.
        shared : mapping of str to int64 array, optional
            What to deal by in the place of the numbers of a column, which other rows are dealt by too.

        Raises
        ------
        TooManyDistinct
            If rows that are equal in the columns `by` do not fit.
        """
        names = list(dict.fromkeys([*by, *beside]))
        told = ", ".join(map(self._cell, names))
        source, n_rows = "coded", self.n_rows
        if are_joined and len(names) < len(self.dictionaries):
            self._database.execute("SET preserve_insertion_order = false")
            self._database.execute(
                f"CREATE OR REPLACE TEMP TABLE joined AS SELECT {told}, CAST(sum(n) AS BIGINT) AS n FROM coded "
                f"GROUP BY {told}"
            )
            source, n_rows = "joined", int(_fetch_one(self._database, "SELECT count(*) FROM joined")[0])
        number, joins = self._dealt_by(source, by, shared)
        chosen = n_parts or self._enough(f"{source} {joins}", number, n_rows, n_that_fit(len(names), self.taken))
        self._database.execute("SET preserve_insertion_order = true")
        shown = ", ".join(f"{source}.{self._cell(n)}" for n in names)
        self._database.execute(
            f"CREATE OR REPLACE TEMP TABLE dealt AS SELECT {shown}, n, CAST({number} % {chosen} AS USMALLINT) AS part "
            f"FROM {source} {joins} ORDER BY part"
        )
        self._database.execute("DROP TABLE IF EXISTS joined")
        for part in range(chosen):
            fetched = self._database.execute(f"SELECT {told}, n FROM dealt WHERE part = {part}").fetchnumpy()
            cells = {n: np.ma.getdata(fetched.pop(self._cell(n))).astype(np.int32) for n in names}
            weights = np.ma.getdata(fetched.pop("n")).astype(np.int32)
            columns = {n: replace(self.dictionaries[n], codes=codes) for n, codes in cells.items()}
            yield part, chosen, Table(columns, weights=weights)
        self._database.execute("DROP TABLE dealt")

    def part_sizes(self, by: Sequence[str], n_parts: int, shared: Mapping[str, Ints] | None = None) -> Ints:
        """How many distinct rows each of so many parts has at most."""
        number, joins = self._dealt_by("coded", by, shared)
        found = self._database.execute(
            f"SELECT {number} % {n_parts} AS part, count(*) AS n FROM coded {joins} GROUP BY part"
        ).fetchnumpy()
        sizes = np.zeros(n_parts, dtype=np.int64)
        sizes[np.ma.getdata(found["part"]).astype(np.int64)] = np.ma.getdata(found["n"])
        return sizes

    def _dealt_by(self, source: str, by: Sequence[str], shared: Mapping[str, Ints] | None) -> tuple[str, str]:
        """The SQL of a number that rows have in common that are equal in some columns, and of what is joined for it."""
        if shared is None:
            return f"hash({', '.join(map(self._cell, by))})", ""
        numbers, joins = [], []
        for name in by:
            cell, kept = self._cell(name), f"shared_{self._cell(name)}"
            self._database.register("numbers", {"code": np.arange(len(shared[name])), "number": shared[name]})
            self._database.execute(
                f"CREATE OR REPLACE TEMP TABLE {kept} AS SELECT CAST(code AS UINTEGER) AS code, "
                "CAST(number AS BIGINT) AS number FROM numbers"
            )
            self._database.unregister("numbers")
            numbers.append(f"{kept}.number")
            joins.append(f"JOIN {kept} ON CAST({source}.{cell} AS UINTEGER) = {kept}.code")
        return f"hash({', '.join(numbers)})", " ".join(joins)

    def _enough(self, source: str, number: str, n_rows: int, most: int | None) -> int:
        """How many parts it takes for each to have no more rows than fit."""
        if most is None or n_rows <= most:
            return 1
        chosen, largest = 1, n_rows
        for _ in range(TRIES):
            chosen = more_parts(chosen, largest, most)
            if chosen > MOST_PARTS:
                break
            query = f"SELECT max(n) FROM (SELECT count(*) AS n FROM {source} GROUP BY {number} % {chosen})"
            largest = int(_fetch_one(self._database, query)[0])
            if largest <= most:
                return chosen
        what = "distinct rows have to be looked at together, as they share quasi-identifiers"
        raise TooManyDistinct(self.path, largest, bound() or 0, what)

    def _cell(self, name: str) -> str:
        return f"c{self.names.index(name)}"
