"""Tables of SQLite and DuckDB."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import duckdb
import pytest

from shoal.data.tables.files import address_of, read_table
from shoal.data.tables.write import file_name, read_back, write_table
from shoal.errors import DataError


def people(path: Path, *more: str) -> Path:
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("CREATE TABLE patients (age INTEGER, town TEXT, cost REAL)")
        database.executemany("INSERT INTO patients VALUES (?, ?, ?)", [(31, "Ulm", 1.5), (None, "Bern", 2.0)])
        for name in more:
            database.execute(f"CREATE TABLE {name} (x)")
    return path


def test_the_only_table_is_read_and_written_into_a_new_database(tmp_path: Path) -> None:
    table = read_table(people(tmp_path / "people.db"))
    assert [table[n].cells().tolist() for n in table.names] == [[31, None], ["Ulm", "Bern"], [1.5, 2.0]]
    assert (file_name(table), table.source.table) == ("data.sqlite", "patients")
    for name in ("one", "two"):
        write_table(table, tmp_path / name)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    back = read_back(tmp_path / "one", table.names, markers=())
    assert [back[n].cells().tolist() for n in back.names] == [table[n].cells().tolist() for n in table.names]


def test_an_address_names_the_table_and_a_file_of_that_name_wins(tmp_path: Path) -> None:
    path = people(tmp_path / "people.db", "visits")
    with pytest.raises(
        DataError, match=r"holds 2 tables; name one, people.db\?table=NAME: the choices are 'patients', 'visits'"
    ):
        read_table(path)
    assert read_table(f"sqlite:{path}?table=patients").n_rows == 2
    with pytest.raises(DataError, match="has no table 'patient'; did you mean 'patients'"):
        read_table(f"{path}?table=patient")
    odd = tmp_path / "a?table=b"
    odd.write_text("x\n1\n")
    assert address_of(odd) == (odd, None)


def test_duckdb_comes_in_and_parquet_goes_out(tmp_path: Path) -> None:
    with duckdb.connect(str(tmp_path / "people.duckdb")) as database:
        database.execute("CREATE TABLE patients AS SELECT * FROM (VALUES (31, 'Ulm'), (NULL, 'Bern')) AS t(age, town)")
    table = read_table(tmp_path / "people.duckdb")
    assert [table[n].cells().tolist() for n in table.names] == [[31, None], ["Ulm", "Bern"]]
    assert file_name(table) == "data.parquet"
    write_table(table, tmp_path / "data.parquet")
    assert read_back(tmp_path / "data.parquet", table.names, markers=()).n_rows == 2


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"SQLite format 3\0" + b"\xff" * 200, "the SQLite database is damaged"),
        (b"\0" * 8 + b"DUCK" + b"\xff" * 200, "the DuckDB file is damaged"),
    ],
)
def test_damaged_databases_are_refused_by_name(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "x.db").write_bytes(content)
    with pytest.raises(DataError, match=message):
        read_table(tmp_path / "x.db")


def test_a_database_that_is_cut_short_is_refused(tmp_path: Path) -> None:
    whole = people(tmp_path / "people.db").read_bytes()
    (tmp_path / "cut.db").write_bytes(whole[: len(whole) - 3000])
    with pytest.raises(DataError, match="the SQLite database is damaged"):
        read_table(tmp_path / "cut.db")


def test_a_table_without_rows_is_refused(tmp_path: Path) -> None:
    path = people(tmp_path / "people.db", "visits")
    with pytest.raises(DataError, match="has no rows"):
        read_table(f"{path}?table=visits")
