"""Distinct rows of tables of SQLite and DuckDB are those of the table that is held."""

from __future__ import annotations

import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb
import pytest

from shoal.data.memory import bounded
from shoal.data.tables import database_tables
from shoal.data.tables.coded_rows import coded_originals
from shoal.data.tables.files import read_table
from shoal.data.tables.format import HowToRead
from shoal.data.tables.table import Table
from shoal.errors import DataError

NAME = "pa\"ti'ents; --"
COLUMNS = ("age", 'to"wn', "cost", "gap", "mixed")
ROWS = [(31, "Ulm", 1.5, None, 1), (None, "NA", 2.0, None, 0.5), (31, "Ulm", 1.5, None, 1), (7, None, None, None, 2)]


def sqlite(
    path: Path, rows: list[tuple[Any, ...]] = ROWS, columns: tuple[str, ...] = COLUMNS, name: str = NAME
) -> Path:
    def quoted(text: str) -> str:
        return '"' + text.replace('"', '""') + '"'

    with closing(sqlite3.connect(path)) as database, database:
        database.execute(f"CREATE TABLE {quoted(name)} ({', '.join(map(quoted, columns))})")
        if rows:
            places = ", ".join("?" * len(columns))
            database.executemany(f"INSERT INTO {quoted(name)} VALUES ({places})", rows)
        database.execute("CREATE TABLE other (x)")
    return path


def duck(path: Path) -> Path:
    with duckdb.connect(str(path)) as database:
        database.execute(
            "CREATE SCHEMA ward; CREATE TABLE ward.patients (x INTEGER); INSERT INTO ward.patients VALUES (5)"
        )
        database.execute(
            'CREATE TABLE "pa""ti\'ents; --" AS SELECT * FROM (VALUES '
            "(31, 'Ulm', 1.5, DATE '2020-01-01', 'a'), (NULL, 'NA', 2.0, NULL, 'b'), (31, 'Ulm', 1.5, "
            "DATE '2020-01-01', 'a'), (7, NULL, NULL, NULL, NULL)) AS t(age, \"to\"\"wn\", cost, day, sort)"
        )
        database.execute("CREATE TYPE sorts AS ENUM ('b', 'a')")
        database.execute('ALTER TABLE "pa""ti\'ents; --" ALTER sort TYPE sorts')
        database.execute('CREATE VIEW seen AS SELECT age, random() AS "ran""dom" FROM "pa""ti\'ents; --"')
    return path


def records(table: Table) -> Counter[tuple[Any, ...]]:
    cells = zip(*(table[n].cells().tolist() for n in table.names), strict=True)
    weights = [1] * table.n_rows if table.weights is None else table.weights.tolist()
    found: Counter[tuple[Any, ...]] = Counter()
    for row, weight in zip(cells, weights, strict=True):
        found[row] += weight
    return found


@pytest.mark.parametrize("put", [sqlite, duck])
@pytest.mark.parametrize("at_once", [1, 3, 1 << 15])
def test_distinct_rows_are_those_of_the_held_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, put: Any, at_once: int
) -> None:
    monkeypatch.setattr(database_tables, "_ROWS_AT_ONCE", at_once)
    path = put(tmp_path / "it's [1]*.db")
    address = f"{path}?table={NAME}"
    held, distinct = read_table(address), read_table(address, drops=lambda _: False)
    assert (distinct.names, records(distinct)) == (held.names, records(held))
    assert (distinct.n_rows, distinct.n_records) == (3, 4)
    assert distinct.source.format == "parquet"
    for name in held.names:
        ours, theirs = distinct[name], held[name]
        assert (ours.values.dtype, ours.values.tolist()) == (theirs.values.dtype, theirs.values.tolist())
        assert set(ours.markers) == set(theirs.markers)
    some = read_table(address, drops=lambda n: n != "age")
    assert (some.names, some.n_rows) == (held.names, 3)
    assert read_table(address, drops=lambda _: True).n_records == 4


@pytest.mark.parametrize("put", [sqlite, duck])
def test_they_are_scanned_where_they_do_not_fit(tmp_path: Path, put: Any) -> None:
    path = put(tmp_path / "people.db")
    reading = HowToRead(drops=lambda n: n == "cost", table=NAME)
    with bounded(1 << 30), coded_originals(path, reading) as rows:
        assert (rows.n_rows, rows.n_records) == (3, 4)
        assert "cost" not in rows.names


def test_all_records_are_read_where_some_may_be_of_one_person(tmp_path: Path) -> None:
    for put in (sqlite, duck):
        path = put(tmp_path / put.__name__)
        read = read_table(f"{path}?table={NAME}", drops=lambda n: n == "cost", person=["age"])
        assert (read.weights, read.n_rows) == (None, 4)
        assert read["age"].cells().tolist() == [31, None, 31, 7]
        assert read['to"wn'].cells().tolist() == ["Ulm", None, "Ulm", None]


def test_a_view_is_read_once(tmp_path: Path) -> None:
    path = duck(tmp_path / "people.duckdb")
    read = read_table(f"{path}?table=seen", drops=lambda _: False, person=["age"])
    assert read["age"].cells().tolist() == [31, None, 31, 7]
    assert read_table(f"{path}?table=seen", drops=lambda n: n == 'ran"dom').n_rows == 3


def test_tables_of_another_schema_go_by_its_name(tmp_path: Path) -> None:
    path = duck(tmp_path / "people.duckdb")
    for drops in (None, lambda _: False):
        assert read_table(f"{path}?table=ward.patients", drops=drops)["x"].cells().tolist() == [5]


@pytest.mark.parametrize(
    "cells",
    [[1, "a"], [0.5, "a"], [b"a"], [1, b"a"]],
)
def test_cells_of_several_kinds_are_refused_as_of_a_held_table(tmp_path: Path, cells: list[Any]) -> None:
    path = sqlite(tmp_path / "people.db", [(cell,) for cell in cells], ("x",), "t")
    told = []
    for drops in (None, lambda _: False):
        with pytest.raises(DataError) as error:
            read_table(f"{path}?table=t", drops=drops)
        told.append(str(error.value))
    assert told[0] == told[1]
    assert "the column 'x'" in told[0]


def test_columns_that_are_not_read_may_hold_anything(tmp_path: Path) -> None:
    path = sqlite(tmp_path / "people.db", [(1, b"a"), (2, "b")], ("x", "y"), "t")
    assert read_table(f"{path}?table=t", drops=lambda n: n == "y")["x"].cells().tolist() == [1, 2]


@pytest.mark.parametrize("drops", [None, lambda _: False])
def test_texts_are_told_apart_by_their_case_whatever_the_collation(tmp_path: Path, drops: Any) -> None:
    path = tmp_path / "people.db"
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("CREATE TABLE t (town TEXT COLLATE NOCASE)")
        database.executemany("INSERT INTO t VALUES (?)", [("ulm",), ("ULM",), ("ULM",)])
    assert records(read_table(path, drops=drops)) == {("ulm",): 1, ("ULM",): 2}


def test_tables_that_cannot_be_read_are_refused_by_name(tmp_path: Path) -> None:
    path, empty = sqlite(tmp_path / "people.db"), sqlite(tmp_path / "empty.db", [])
    with pytest.raises(DataError, match=r"holds 2 tables; name one, people.db\?table=NAME"):
        read_table(path, drops=lambda _: False)
    with pytest.raises(DataError, match="has no table 'x'"):
        read_table(f"{path}?table=x", drops=lambda _: False)
    with pytest.raises(DataError, match="has no rows; there is nothing to anonymise"):
        read_table(f"{empty}?table={NAME}", drops=lambda _: False)
    for start, what in ((b"SQLite format 3\0", "SQLite database"), (b"\0" * 8 + b"DUCK", "DuckDB file")):
        (tmp_path / "bad.db").write_bytes(start + b"\xff" * 200)
        with pytest.raises(DataError, match=f"the {what} is damaged"):
            read_table(tmp_path / "bad.db", drops=lambda _: False)
    (tmp_path / "cut.db").write_bytes(path.read_bytes()[:5000])
    with pytest.raises(DataError, match="the SQLite database is damaged"):
        read_table(f"{tmp_path / 'cut.db'}?table={NAME}", drops=lambda _: False)


def test_a_column_may_begin_with_many_cells_without_a_value(tmp_path: Path) -> None:
    rows = [(i % 5, None, None) for i in range(3_000)] + [(1, "Ulm", None)]
    path = sqlite(tmp_path / "people.sqlite", rows, ("age", "town", "gap"), "people")
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("DROP TABLE other")
    held = read_table(path)
    found = read_table(path, drops=lambda name: False)
    assert found.weights is not None
    assert int(found.weights.sum()) == held.n_rows == 3_001
    assert found["town"].texts()[: len(found["town"].values)] == ["Ulm"]
    assert not len(found["gap"].values)
