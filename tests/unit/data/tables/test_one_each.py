"""Whether keys are all different is told in SQL as it is told of keys that are held; where in doubt, it is not known."""

from __future__ import annotations

import duckdb
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.data.tables.dictionary import TextEncoder
from shoal.data.tables.one_each import is_one_each
from shoal.data.tables.persons import person_codes
from shoal.data.tables.table import MARKERS, Table
from shoal.errors import DataError


def told(columns: dict[str, list], *, is_text: bool = True) -> bool:
    with duckdb.connect(":memory:") as database:
        database.register("keys", {name: np.array(keys, dtype=object) for name, keys in columns.items()})
        return is_one_each(database, "keys", [(name, is_text) for name in columns], MARKERS)


def are_different(columns: dict[str, list]) -> bool:
    """The slow way: all keys held."""
    held = []
    for name, keys in columns.items():
        encoder = TextEncoder()
        encoder.add(keys)
        held.append(encoder.column(name, MARKERS))
    try:
        codes = person_codes(Table.of(held), list(columns))
    except DataError:
        return False
    return len(np.unique(codes)) == len(codes)


SPELLINGS = ["7", "007", "7.0", "+7", "7e0", "7_0", "70", "-0", "0", "a", "A", "a-1", "a--1", "a 1", "é", "inf", "x'"]
SPELLINGS += ["1e400", "1e500", "?", "", "nan", "NA", "12345678901234567", "12345678901234568", "infinity", ".5", "0.5"]
SPELLINGS += ["-7", "--7", "1e-3", "1e--3", "0.001", "--inf", "-7.0"]


@given(st.lists(st.one_of(st.sampled_from(SPELLINGS), st.text("0123.eE+-aA_ '", max_size=4)), min_size=1, max_size=5))
def test_what_is_told_to_be_different_is_different(keys: list[str]) -> None:
    assert not told({"a": keys}) or are_different({"a": keys})


@pytest.mark.parametrize("keys", [["-7", "--7"], ["1e-3", "1e--3"], ["0.5", "5E---1"], ["x", "--inf"]])
def test_dashes_in_a_row_are_one_before_a_number_too(keys: list[str]) -> None:
    assert not told({"a": keys})


@pytest.mark.parametrize("spelled", ["{}", "{:05d}", "P-{}", "p{}.x", "{:x}-{:x}"])
def test_plain_keys_are_told_apart(spelled: str) -> None:
    keys = [spelled.format(i, i) for i in range(300)]
    assert told({"a": keys})
    assert not told({"a": [*keys, keys[7]]})


def test_several_columns_are_one_key() -> None:
    pairs = {"a": ["1", "1", "2"], "b": ["x", "y", "x"]}
    assert told(pairs)
    assert not told({"a": [*pairs["a"], "01"], "b": [*pairs["b"], "Y"]})


def test_numbers_are_compared_as_they_are() -> None:
    assert told({"a": [1, 2, 3]}, is_text=False)
    assert not told({"a": [1, 2, 1]}, is_text=False)
    assert not told({"a": [1, None, 2]}, is_text=False)
