"""What is put into SQL is quoted."""

from __future__ import annotations

import pytest

from shoal.data.database import connection, identifier, literal

ODD = ["plain", "it's", '"quoted"', "back\\slash", "semi;colon -- no comment", "caf\u00e9"]


@pytest.mark.parametrize("text", ODD)
def test_texts_and_names_come_back_as_they_were(text: str) -> None:
    with connection() as database:
        found = database.sql(f"select {literal(text)} as {identifier(text)}")
        assert found.columns == [text]
        assert found.fetchall() == [(text,)]
