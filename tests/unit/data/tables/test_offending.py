"""The tests of `data/tables/offending.py`."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.data.tables.meaning import attributes_of
from shoal.data.tables.offending import first_place
from shoal.data.tables.table import Column, Table, encode_cells
from shoal.errors import ShoalError
from shoal.kinds.tables.policy import Policy

AGES = ["31", "44", "about fifty", "29", "unknown here"]


def texts(name: str, cells: list[str]) -> Column:
    return encode_cells(name, np.array(cells, dtype=object))


def test_the_first_row_in_the_order_of_the_file_is_told() -> None:
    column = texts("age", ["31", "old", "44", "ancient"])
    assert first_place(column, lambda v: not v.isdigit()) == "row 2, column 'age': 3 characters"
    assert first_place(column, lambda v: v == "x") == "column 'age'"


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({"type": "continuous"}, "row 3, column 'age': 11 characters"),
        ({"type": "date"}, "row 1, column 'age': 2 characters"),
        ({"order": ["29", "31", "44", "about fifty"]}, "row 5, column 'age': 12 characters"),
    ],
)
def test_what_does_not_fit_a_column_is_told_by_place_and_shape_and_never_quoted(
    asked: dict[str, object], told: str
) -> None:
    policy = Policy.of(columns={"age": {"role": "quasi", **asked}})
    with pytest.raises(ShoalError) as refused:
        attributes_of(Table.of([texts("age", AGES)]), policy)
    assert told in str(refused.value)
    assert not any(age in str(refused.value) for age in ("about", "unknown"))


def test_an_infinite_number_is_told_by_its_place() -> None:
    table = Table.of([encode_cells("x", np.array([1.0, np.inf, 2.0]))])
    with pytest.raises(ShoalError, match="the first: row 2, column 'x'"):
        attributes_of(table, Policy.of(columns={"x": {"role": "quasi", "type": "continuous"}}))


def test_of_rows_that_stand_for_several_no_row_is_told() -> None:
    asked = Policy.of(columns={"x": {"role": "quasi", "type": "continuous"}})
    told = set()
    for cells in ([1.0, np.inf, -np.inf], [-np.inf, 1.0, np.inf]):
        table = Table({"x": encode_cells("x", np.array(cells))}, weights=np.array([2, 1, 1], dtype=np.int32))
        with pytest.raises(ShoalError) as refused:
            attributes_of(table, asked)
        told.add(str(refused.value))
    assert len(told) == 1
    assert "(the first: column 'x': 4 characters)" in told.pop()
