"""What is put into SQL is quoted."""

from __future__ import annotations

import errno
import os
import threading

import duckdb
import pytest

from shoal.data import database as databases
from shoal.data.database import connection, identifier, lacks_room, literal, watched
from shoal.data.memory import bound, bounded

ODD = ["plain", "it's", '"quoted"', "back\\slash", "semi;colon -- no comment", "caf\u00e9"]


@pytest.mark.parametrize("text", ODD)
def test_texts_and_names_come_back_as_they_were(text: str) -> None:
    with connection() as database:
        found = database.sql(f"select {literal(text)} as {identifier(text)}")
        assert found.columns == [text]
        assert found.fetchall() == [(text,)]


def test_memory_is_bounded_where_it_is_said_and_nowhere_else() -> None:
    asked = "select current_setting('memory_limit')"
    with bounded(600_000_000):
        assert bound() == 600_000_000
        with bounded(None), connection() as database:
            assert database.sql(asked).fetchall() == [("286.0 MiB",)]
    assert bound() is None


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EFBIG])
def test_a_full_disk_is_told_from_a_damaged_file(number: int) -> None:
    assert lacks_room(duckdb.IOException(f'Could not write file "/tmp/a": {os.strerror(number)}'))
    assert lacks_room(duckdb.OutOfMemoryException("failed to offload data block"))
    assert not lacks_room(duckdb.InvalidInputException("No magic bytes found at end of file"))


class OneQuery:
    """A connection whose query is at 40 % after a while, and cannot be asked after its end."""

    def __init__(self) -> None:
        self.told = [duckdb.ConnectionException("closed"), 40.0, -1.0]
        self.is_asked_last = threading.Event()

    def execute(self, _: str) -> None:
        pass

    def query_progress(self) -> float:
        told = self.told.pop()
        if isinstance(told, Exception):
            self.is_asked_last.set()
            raise told
        return told


def test_shares_of_queries_are_told_until_there_are_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(databases, "_POLL", 0.001)
    shares: list[float] = []
    opened = OneQuery()
    with watched(shares.append), databases._watching(opened):  # type: ignore[arg-type]
        assert opened.is_asked_last.wait(60)
    assert shares == [0.4]
    with databases._watching(OneQuery()):  # type: ignore[arg-type]
        pass
    assert shares == [0.4], "nobody watches"


def test_a_watched_query_finds_the_same_and_prints_nothing(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(databases, "_POLL", 0.001)
    asked = "select sum(range), count(distinct range % 1000) from range(3000000)"
    shares: list[float] = []
    with watched(shares.append), connection() as database:
        found = database.sql(asked).fetchall()
    with connection() as database:
        assert database.sql(asked).fetchall() == found
    assert all(0 < share <= 1 for share in shares)
    assert capfd.readouterr() == ("", "")
