"""What is put into SQL is quoted."""

from __future__ import annotations

import errno
import os

import duckdb
import pytest

from shoal.data.database import bound, bounded, connection, identifier, lacks_room, literal

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
