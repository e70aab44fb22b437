"""The tests of `utility/tables/scale.py`."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.data.tables.attribute import Attribute
from shoal.data.tables.table import Column
from shoal.utility.tables import loss
from shoal.utility.tables.grouping import Grouping
from shoal.utility.tables.queries import enough_queries
from shoal.utility.tables.scale import scale_of


def grouping(groups: list[int], n_rows: int | None = None) -> Grouping:
    n_rows = len(groups) if n_rows is None else n_rows
    return Grouping.of(n_rows, np.arange(len(groups)), np.array(groups, dtype=np.int32))[0]


def test_a_value_that_no_row_uses_does_not_widen_the_domain() -> None:
    column = Column("x", np.array([0, 1], dtype=np.int32), np.array([1.0, 2.0, 100.0]))
    made = scale_of(column, Attribute("x", "continuous", "quasi"))
    assert loss.penalties(made, grouping([0, 0])).tolist() == [1.0]


@pytest.mark.parametrize(
    ("n_rows", "n_values", "n_queries"), [(50, 5, 500), (60_000, 5, 139), (2_000_000, 5, 100), (10, 200_000, 100)]
)
def test_large_tables_are_asked_fewer_queries(n_rows: int, n_values: int, n_queries: int) -> None:
    codes = np.zeros(n_rows, dtype=np.int32)
    values = np.array([str(i) for i in range(n_values)], dtype=object)
    scale = scale_of(Column("town", codes, values), Attribute("town", "nominal", "quasi"))
    assert enough_queries([scale]) == n_queries
