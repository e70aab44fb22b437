"""A table of a DuckDB or SQLite file as a database scans it, so that it is never held.

DuckDB scans its own files where they are. SQLite is read by Python's own library, some rows at once, into a table of
the database that scans, which writes what does not fit into memory to its temporary folder.
"""

from __future__ import annotations

import os
import sqlite3
from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

from shoal.data.database import identifier, literal
from shoal.data.tables.files import one_of
from shoal.data.tables.scannable import Described, Scannable
from shoal.data.tables.sql_types import ZONED, refuse_type
from shoal.errors import DataError

_ROWS_AT_ONCE = 1 << 15
_HELD = "held_rows"
_OF_STORAGE: dict[frozenset[str], tuple[str, Any]] = {
    frozenset(): ("VARCHAR", object),
    frozenset({"text"}): ("VARCHAR", object),
    frozenset({"integer"}): ("BIGINT", np.int64),
    frozenset({"real"}): ("DOUBLE", np.float64),
    frozenset({"integer", "real"}): ("DOUBLE", np.float64),
}
"""The type of a column by what SQLite stores in its cells."""
_SAMPLES = {"integer": 1, "real": 0.5, "text": "a", "blob": b"a"}


@dataclass
class DatabaseTable(Scannable):
    """A table, or a view, of a file.

    Attributes
    ----------
    path : Path
    wanted : str, optional
        Which one; else the only one.
    notes : list of str
        What the user should know of how it was read.
    """

    path: Path
    wanted: str | None = None
    notes: list[str] = field(default_factory=list)

    def described(self, database: duckdb.DuckDBPyConnection, is_read: Callable[[str], bool]) -> Described:
        """A column of which `is_read` is false has nulls."""
        found = self._described(database, is_read)
        if not found.n_records:
            raise DataError(f"{self.path}: the table {self.wanted!r} has no rows; there is nothing to anonymise")
        return found

    @abstractmethod
    def _described(self, database: duckdb.DuckDBPyConnection, is_read: Callable[[str], bool]) -> Described: ...


class DuckDbTable(DatabaseTable):
    """Of a file of duckdb."""

    def damage(self) -> str:
        """Whatever it is."""
        return f"{self.path}: the DuckDB file is damaged, locked or of another version; export it"

    def _described(self, database: duckdb.DuckDBPyConnection, is_read: Callable[[str], bool]) -> Described:
        where, is_view = self.attached(database)
        from shoal.data.tables.frames import utc_note

        described = [(str(n), str(k)) for n, k, *_ in database.execute(f"DESCRIBE SELECT * FROM {where}").fetchall()]
        for name, kind in described:
            refuse_type(str(self.path), name, kind)
        names, types = (tuple(some) for some in zip(*described, strict=True))
        self.notes = [utc_note(name) for name, kind in described if kind == ZONED and is_read(name)]
        if is_view:  # which may find other rows, or another order, each time
            kept = [identifier(n) if is_read(n) else f"CAST(NULL AS {k}) AS {identifier(n)}" for n, k in described]
            database.execute(f"CREATE OR REPLACE TEMP TABLE {_HELD} AS SELECT {', '.join(kept)} FROM {where}")
            where = _HELD
        counted = database.execute(f"SELECT count(*) FROM {where}").fetchone()
        return Described(f"{where} AS file({_aliases(names)})", names, types, int(counted[0]) if counted else 0)

    def attached(self, database: duckdb.DuckDBPyConnection) -> tuple[str, bool]:
        """Open the file beside what is open already; the SQL of the table, and whether it is a view."""
        database.execute(f"ATTACH {literal(os.path.abspath(self.path))} AS held (TYPE duckdb, READ_ONLY)")
        found = database.execute(
            "SELECT table_schema, table_name, table_type FROM information_schema.tables WHERE table_catalog = 'held' "
            "ORDER BY table_schema, table_name"
        ).fetchall()
        tables = {t if s == "main" else f"{s}.{t}": (str(s), str(t), kind == "VIEW") for s, t, kind in found}
        self.wanted = one_of(self.path, "table", list(tables), self.wanted)
        schema, table, is_view = tables[self.wanted]
        return f"held.{identifier(schema)}.{identifier(table)}", is_view


class SqliteTable(DatabaseTable):
    """Of a file of SQLite; it has no dates, so these are texts."""

    def damage(self) -> str:
        """Of the rows that were read already: the file itself has been checked."""
        return f"{self.path}: its rows cannot be kept in the temporary folder; make room there, or name another one"

    def _described(self, database: duckdb.DuckDBPyConnection, is_read: Callable[[str], bool]) -> Described:
        with self.opened() as (source, columns):
            of_table = f"FROM {identifier(self.wanted or '')}"
            (n_records,) = source.execute(f"SELECT count(*) {of_table}").fetchone()
            kept = [name for name in columns if is_read(name)]
            stored: dict[str, str | None] = {}
            for name in kept:  # one by one: a query may have no more columns than a table
                (stored[name],) = source.execute(
                    f"SELECT group_concat(DISTINCT typeof({identifier(name)})) {of_table}"
                ).fetchone()
            known = {
                name: _type_of(name, frozenset((told or "").split(",")) - {"", "null"}) for name, told in stored.items()
            }
            types = tuple(known[name][0] if name in known else "VARCHAR" for name in columns)
            if not kept:
                nothing = ", ".join(["CAST(NULL AS VARCHAR)"] * len(columns))
                scan = f"(SELECT {nothing} FROM range({int(n_records)})) AS file({_aliases(columns)})"
                return Described(scan, tuple(columns), types, int(n_records))
            layout = ", ".join(f"c{i} {kind}" for i, kind in enumerate(types))
            database.execute(f"CREATE OR REPLACE TEMP TABLE {_HELD} ({layout})")
            cursor = source.execute(f"SELECT {', '.join(map(identifier, kept))} {of_table}")
            told = ", ".join(
                f"CASE WHEN missing{i} THEN NULL ELSE c{i} END" if name in known else "NULL"
                for i, name in enumerate(columns)
            )
            while rows := cursor.fetchmany(_ROWS_AT_ONCE):
                cells: dict[str, Any] = {}
                for name, column in zip(kept, zip(*rows, strict=True), strict=True):
                    i, dtype = columns.index(name), known[name][1]
                    cells[f"missing{i}"] = np.fromiter((cell is None for cell in column), bool, len(column))
                    cells[f"c{i}"] = _as_array(column, dtype)
                database.register("some_rows", cells)
                database.execute(f"INSERT INTO {_HELD} SELECT {told} FROM some_rows")
                database.unregister("some_rows")
        return Described(f"{_HELD} AS file({_aliases(columns)})", tuple(columns), types, int(n_records))

    @contextmanager
    def opened(self) -> Iterator[tuple[sqlite3.Connection, list[str]]]:
        """The file as it is now, whoever writes to it meanwhile, and the columns of the table.

        Raises
        ------
        DataError
            If the file is damaged or locked, or has no such table.
        """
        address = f"{self.path.resolve().as_uri()}?mode=ro"
        try:
            with closing(sqlite3.connect(address, uri=True, isolation_level=None)) as source:
                source.execute("BEGIN")
                if source.execute("PRAGMA quick_check(1)").fetchone() != ("ok",):
                    raise sqlite3.DatabaseError
                found = source.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view') ORDER BY name")
                names = [name for (name,) in found if not name.startswith("sqlite_")]
                self.wanted = one_of(self.path, "table", names, self.wanted)
                cursor = source.execute(f"SELECT * FROM {identifier(self.wanted)} LIMIT 0")
                yield source, [column[0] for column in cursor.description]
        except sqlite3.Error:
            raise DataError(f"{self.path}: the SQLite database is damaged or locked; copy it again") from None


def _aliases(names: Sequence[str]) -> str:
    return ", ".join(f"c{i}" for i in range(len(names)))


def _type_of(name: str, stored: frozenset[str]) -> tuple[str, Any]:
    """The type of a column; what is refused is so in the words of a table that is held."""
    if stored not in _OF_STORAGE:
        from shoal.data.tables.frames import from_frame

        from_frame({name: [_SAMPLES[kind] for kind in sorted(stored)]})
        raise DataError(f"the column {name!r} mixes {' and '.join(sorted(stored))}; turn it into one of them")
    return _OF_STORAGE[stored]


def _as_array(cells: Sequence[Any], dtype: Any) -> np.ndarray[Any, Any]:
    """Cells of one kind; any value stands where one is missing."""
    if dtype is object:
        found = np.empty(len(cells), dtype=object)
        found[:] = ["" if cell is None else cell for cell in cells]  # nothing but None is no type to the oldest duckdb
        return found
    return np.array([0 if cell is None else cell for cell in cells], dtype=dtype)
