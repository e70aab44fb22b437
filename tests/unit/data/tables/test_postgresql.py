"""The tests of `data/tables/postgresql.py`, with a database of duckdb in the place of a server."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import pytest

from shoal.data.tables import postgresql
from shoal.data.tables.files import is_server, read_table
from shoal.errors import DataError, MissingExtra

ADDRESS = "postgresql://ann@db.example.org:5433/clinic"
SERVER = """
    CREATE SCHEMA held.public; CREATE TABLE held.public.patients (age INTEGER, zip VARCHAR);
    INSERT INTO held.public.patients VALUES (31, '48103'), (47, NULL);
    CREATE SCHEMA held.lab; CREATE TABLE held.lab.tests (a INTEGER); INSERT INTO held.lab.tests VALUES (1)
"""


class Stand:
    """A connection that answers for a server, and notes what it was asked to attach."""

    def __init__(self, answers: bool = True) -> None:
        self.database, self.answers, self.attached = duckdb.connect(":memory:"), answers, ""

    def execute(self, text: str) -> Any:
        if text.startswith("ATTACH"):
            self.attached = text
            if not self.answers:
                raise duckdb.IOException("secret of the server")
            self.database.execute("DETACH DATABASE IF EXISTS held")
            self.database.execute("ATTACH ':memory:' AS held")
            return self.database.execute(SERVER)
        return self.database.execute(text)

    def sql(self, text: str) -> Any:
        return self.database.sql(text)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Stand:
    stand = Stand()

    @contextmanager
    def connection() -> Iterator[Stand]:
        yield stand

    monkeypatch.setattr(postgresql, "connection", connection)
    monkeypatch.setattr(postgresql, "_load_extension", lambda _: None)
    return stand


def test_a_table_is_read_and_goes_out_as_parquet(server: Stand) -> None:
    table = read_table(f"{ADDRESS}?sslmode=require&table=patients")
    assert {n: c.cells().tolist() for n, c in table.columns.items()} == {"age": [31, 47], "zip": ["48103", None]}
    assert (table.source.name, table.source.format) == ("clinic", "parquet")
    assert server.attached == f"ATTACH '{ADDRESS}?sslmode=require' AS held (TYPE postgres, READ_ONLY)"


def test_a_path_that_lost_its_slashes_is_the_same_address(server: Stand) -> None:
    read_table(Path(f"{ADDRESS}?table=lab.tests"))
    assert f"'{ADDRESS}'" in server.attached


@pytest.mark.usefixtures("server")
def test_of_several_tables_one_has_to_be_named() -> None:
    with pytest.raises(DataError, match=r"holds 2 tables; name one.*the choices are 'lab.tests', 'patients'"):
        read_table(ADDRESS)
    with pytest.raises(DataError, match=r"has no table 'patient'; did you mean 'patients'"):
        read_table(f"{ADDRESS}?table=patient")


@pytest.mark.parametrize("address", ["postgresql://ann:hush@host/db?table=t", "postgres://host/db?password=hush"])
def test_a_password_is_refused_and_not_repeated(server: Stand, address: str) -> None:
    with pytest.raises(DataError, match=r"holds a password.*PGPASSWORD") as told:
        read_table(address)
    assert "hush" not in str(told.value)
    assert server.attached == ""


def test_a_server_that_does_not_answer(server: Stand) -> None:
    server.answers = False
    with pytest.raises(
        DataError, match=r"^postgresql:db.example.org:5433/clinic: the PostgreSQL server does not"
    ) as told:
        read_table(f"{ADDRESS}?table=patients")
    assert "secret" not in str(told.value)
    assert "ann" not in str(told.value)


def test_without_the_extension_it_is_said_how_to_get_it() -> None:
    class Bare:
        def execute(self, text: str) -> None:
            raise duckdb.IOException("not installed")

    with pytest.raises(MissingExtra, match=r"pip install duckdb-extension-postgres-scanner==.*INSTALL postgres"):
        postgresql._load_extension(Bare())  # type: ignore[arg-type]


def test_what_is_an_address() -> None:
    assert is_server("postgres://h/d")
    assert is_server(Path("postgresql://h/d"))
    assert not is_server("postgresql.csv")
