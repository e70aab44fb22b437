"""Which SQL types a column may have, and what a cell becomes before it is fetched."""

from __future__ import annotations

import duckdb
import pytest

from shoal.data.tables.sql_types import family, plain, portable, portable_type, refuse_type
from shoal.errors import DataError

CELLS = {
    "TINYINT": ("7", 7),
    "UBIGINT": ("7", 7),
    "DECIMAL(9,3)": ("1.5", 1.5),
    "FLOAT": ("0.5", 0.5),
    "DATE": ("DATE '1970-01-02'", 86_400_000_000),
    "TIMESTAMP_NS": ("TIMESTAMP '1970-01-01 00:00:01'", 1_000_000),
    "TIMESTAMP WITH TIME ZONE": ("TIMESTAMPTZ '1970-01-01 00:00:01+00'", 1_000_000),
    "VARCHAR": ("'a'", "a"),
    "ENUM('a', 'b(')": ("'a'", "a"),
    "BOOLEAN": ("true", True),
}


@pytest.mark.parametrize("kind", CELLS)
def test_a_cell_becomes_what_columns_are_made_of(kind: str) -> None:
    cell, expected = CELLS[kind]
    with duckdb.connect() as database:
        found = database.execute(f"SELECT {plain(f'CAST({cell} AS {kind})', kind)}").fetchone()
        assert found == (expected,)
        told = database.execute(f"SELECT typeof({portable(f'CAST({cell} AS {kind})', kind)})").fetchone()
        assert told == (portable_type(kind),)
    refuse_type("here", "x", kind)


@pytest.mark.parametrize("kind", ["INTEGER[]", "STRUCT(a INTEGER)", "BLOB", "HUGEINT", "INTERVAL"])
def test_what_is_no_single_value_is_refused(kind: str) -> None:
    with pytest.raises(DataError, match=f"'x' has the type {family(kind)}, which is not a single value"):
        refuse_type("here", "x", kind)
    with pytest.raises(DataError, match="a column has no name"):
        refuse_type("here", " ", "INTEGER")
