"""Whether all days of a person moved by one whole number, within the window."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.check.tables.shift import compare_shift, dates_beside, days_of
from shoal.data.tables.attribute import Attribute
from shoal.data.tables.frames import from_frame
from shoal.data.tables.table import MARKERS

ORIGINAL = from_frame({"day": ["2020-01-01", "2020-01-11", "2020-03-01", "?"], "n": ["5", "6", "7", "8"]})
PERSONS = np.array([0, 0, 1, 1])
ROWS = np.arange(4)


def found(days, numbers, shift_days=10, rows=ROWS):
    table = from_frame({"day": days, "n": numbers})
    return compare_shift(table, ORIGINAL, ["day", "n"], MARKERS, rows, PERSONS[ROWS], shift_days)


GOOD = ["2019-12-31", "2020-01-10", "2020-03-04", "?"], ["4", "5", "10", "11"]


def test_one_number_for_each_person_is_right() -> None:
    assert found(*GOOD).findings == ()
    assert found(*GOOD).not_compared == ()


@pytest.mark.parametrize(
    ("days", "numbers", "shift_days", "what"),
    [
        (
            ["2019-12-31", "2020-01-11", "2020-03-04", "?"],
            GOOD[1],
            10,
            "1 person whose days moved by different numbers",
        ),
        (GOOD[0], ["4", "5", "10", "12"], 10, "1 person whose days moved by different numbers"),
        (*GOOD, 2, "3 days moved by no whole number of days up to 2"),
        (["2019-12-31", "2020-01-10", "?", "?"], GOOD[1], 10, "1 row with a day of 'day' that its record lacks"),
        (["2019-12-31 12:00", "2020-01-10", "2020-03-04", "?"], GOOD[1], 10, "1 day moved by no whole number"),
        (["2019-12-31", "2020-01-10", "soon", "?"], GOOD[1], 10, "1 day moved by no whole number"),
    ],
)
def test_what_is_wrong_is_said(days, numbers, shift_days, what) -> None:
    assert any(what in finding for finding in found(days, numbers, shift_days).findings)


def test_dates_beside_moved_ones_are_named() -> None:
    meant = {
        n: Attribute(n, t, r)
        for n, t, r in (
            ("a", "date", "insensitive"),
            ("b", "date", "sensitive"),
            ("c", "date", "quasi"),
            ("d", "continuous", "insensitive"),
        )
    }
    assert dates_beside(meant, ["a"], is_shifted=True) == ["b"]
    assert dates_beside(meant, [], is_shifted=False) == []


def test_without_the_rows_it_is_said_that_nobody_looked() -> None:
    told = found(*GOOD, rows=None)
    assert told.findings == ()
    assert "'day', 'n' moved by one number" in told.not_compared[0]


def test_days_are_read_where_they_can_be() -> None:
    table = from_frame({"a": ["2020-01-02", "?"], "b": ["x", "y"]})
    read = days_of(table, ["a", "b", "absent"], MARKERS)
    assert list(read) == ["a"]
    assert read["a"][0] == 18263
    assert np.isnan(read["a"][1])
