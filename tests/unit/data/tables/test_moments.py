"""Days that can be moved."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.data.tables.frames import from_frame
from shoal.data.tables.moments import moments_of
from shoal.data.tables.table import Column
from shoal.errors import DataError


def column(cells) -> Column:
    return from_frame(pd.DataFrame({"when": cells}))["when"]


def moved(cells, offsets) -> list:
    found = column(cells)
    after = moments_of(found).moved(found, np.array(offsets))
    assert sorted(set(after.values.tolist())) == after.values.tolist()
    return [None if c is None else c for c in after.cells().tolist()]


@pytest.mark.parametrize(
    ("cells", "offsets", "after"),
    [
        (["2020-02-28", "2020-12-31"], [1, 1], ["2020-02-29", "2021-01-01"]),
        (["2020-02-28T23:59:30Z", "2020-01-01T00:00:00Z"], [1, -1], ["2020-02-29T23:59:30Z", "2019-12-31T00:00:00Z"]),
        (["2020-02-28 23:59+01:30"], [2], ["2020-03-01 23:59+01:30"]),
        (["25.12.2020", "01.02.2021"], [10, 0], ["04.01.2021", "01.02.2021"]),
        (["5.12.2020", "1.2.2021"], [10, 0], ["15.12.2020", "1.2.2021"]),
        (["25-Feb-2002"], [5], ["02-Mar-2002"]),
        (["25-FEB-2002"], [5], ["02-MAR-2002"]),
        (["feb 25, 2002"], [5], ["mar 02, 2002"]),
        (["12/31/2020"], [1], ["01/01/2021"]),
        (["-459", "7", "+7"], [459, -8, 0], ["0", "-1", "7"]),
        (["10.0", "7"], [1, 1], ["11.0", "8"]),
        ([5, -3], [2, 3], [7, 0]),
        ([5.0, None], [2, 3], [7.0, None]),
        (["2020-01-01", None], [1, 1], ["2020-01-02", None]),
    ],
)
def test_days_move_and_keep_their_spelling(cells, offsets, after) -> None:
    assert moved(cells, offsets) == after


def test_typed_dates_move() -> None:
    cells = pd.to_datetime(["2020-02-28 10:30", "2020-02-28 00:00", None])
    assert moved(cells, [1, -1, 5]) == [dt.datetime(2020, 2, 29, 10, 30), dt.datetime(2020, 2, 27), None]


@pytest.mark.parametrize(
    "cells",
    [
        ["soon", "later"],
        ["2020-02", "2021-03"],
        ["1.5", "2"],
        [1.5, 2.0],
        ["2020-01-01", "5"],
        [2**60, 1],
        [True, False],
    ],
)
def test_what_is_no_day_is_refused_without_being_quoted(cells) -> None:
    with pytest.raises(DataError, match="column 'when' is to be moved by days") as raised:
        moments_of(column(cells))
    assert str(cells[0]) not in str(raised.value).replace("column 'when'", "")


@pytest.mark.parametrize(("cell", "offset"), [("1000-01-03", -5), ("9999-12-30", 5)])
def test_years_stay_within_four_digits(cell, offset) -> None:
    with pytest.raises(DataError, match="before the year 1000 or after 9999"):
        moved([cell], [offset])


@given(
    st.lists(st.tuples(st.dates(dt.date(1900, 1, 1), dt.date(2100, 1, 1)), st.integers(-400, 400)), min_size=1),
    st.sampled_from(["%Y-%m-%d", "%d.%m.%Y", "%Y/%m/%d", "%Y-%m-%d %H:%M"]),
)
def test_dates_move_as_those_of_the_calendar(days, form) -> None:
    cells = [day.strftime(form) for day, _ in days]
    wanted = [(day + dt.timedelta(offset)).strftime(form) for day, offset in days]
    assert moved(cells, [offset for _, offset in days]) == wanted
