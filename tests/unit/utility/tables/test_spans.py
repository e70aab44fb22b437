"""How far published ranges reach."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.data.tables.attribute import Attribute
from shoal.data.tables.table import encode_cells
from shoal.utility.tables.grouping import Grouping
from shoal.utility.tables.loss import penalties
from shoal.utility.tables.scale import scale_of
from shoal.utility.tables.spans import group_spans


def made(cells, labels, kind="continuous"):
    scale = scale_of(encode_cells("x", np.array(cells, dtype=object)), Attribute("x", kind, "quasi"))
    grouping, kept = Grouping.of(len(cells), np.arange(len(cells)), np.arange(len(cells)) // 2)
    return scale, grouping, encode_cells("x", np.repeat(np.array(labels, dtype=object), 2)), kept


def test_ends_count_as_far_as_values_reach():
    asked = made(["17", "21", "43", "47", "60", "90"], ["[16..22]", "[40..50] or missing", "[60..100]"])
    low, high = group_spans(*asked)
    assert low.tolist() == [17, 40, 60]
    assert high.tolist() == [22, 50, 90]
    assert penalties(*asked) == pytest.approx(np.array([5, 10, 30]) / 73)
    assert penalties(*asked[:2]) == pytest.approx(np.array([4, 4, 30]) / 73)


def test_what_is_no_range_changes_nothing():
    asked = made(["17", "21", "43", "47", "50", "50"], ["19", "*", "50"])
    low, high = group_spans(*asked)
    assert (low.tolist(), high.tolist()) == ([17, 43, 50], [21, 47, 50])
    missing = made([None, None, "43", "47", "50", "90"], ["[1..2]", "[43..47]", "[x..y]"])
    low, high = group_spans(*missing)
    assert np.isnan(low[0])
    assert (low[1:].tolist(), high[1:].tolist()) == ([43, 50], [47, 90])


def test_months_and_years_reach_to_their_last_day():
    cells = ["2020-01-05", "2020-01-20", "2021-02-01", "2021-03-01", "2022-12-31", "2019-01-01"]
    scale, grouping, column, kept = made(
        cells, ["[2020-01-01..2020-01-31]", "[2021-02..2021-03]", "[2019..2022]"], "date"
    )
    low, high = group_spans(scale, grouping, column, kept)
    days = np.array(["2020-01-31", "2021-03-31", "2022-12-31"], dtype="datetime64[D]").astype(float)
    assert high.tolist() == days.tolist()
    assert low[2] == scale.extremes[0]
