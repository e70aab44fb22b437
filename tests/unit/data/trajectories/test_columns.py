"""The tests of `data/trajectories/columns.py`: columns by their names, times in all their spellings."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.data.tables.table import encode_cells
from shoal.data.trajectories.columns import Wanted, find_columns, names_in, numbers_in, parse_times, times_in
from shoal.errors import DataError


@pytest.mark.parametrize(
    "names",
    [
        ["lat", "lon", "timestamp", "trajectory_id", "user_id"],
        ["Latitude", "LNG", "Date Time", "Trip", "Person"],
        ["y", "x", "t", "tid", "uid"],
    ],
)
def test_columns_are_found_by_name(names: list[str]) -> None:
    assert list(find_columns(names, Wanted()).values()) == [names[0], names[1], names[2], names[4], names[3]]


def test_named_columns_win_and_missing_ones_are_asked_for() -> None:
    found = find_columns(["lat", "lon", "seen", "who"], Wanted(time="seen", person=("who",)))
    assert (found["time"], found["person"]) == ("seen", "who")
    with pytest.raises(DataError, match="no column is known to hold the time; name it with --time"):
        find_columns(["lat", "lon", "seen", "who"], Wanted())
    with pytest.raises(DataError, match="--person or --trip"):
        find_columns(["lat", "lon", "time"], Wanted())


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("2008/06/08 00:00:01", 1_212_883_201),
        ("2008-06-08T00:00:01Z", 1_212_883_201),
        ("2008-06-08T02:00:01+02:00", 1_212_883_201),
        ("2008-06-07T19:30:01-0430", 1_212_883_201),
        ("1212883201", 1_212_883_201),
        ("1212883201000", 1_212_883_201),
        ("2008-06-08T23:40:39z", 1212968439),
    ],
)
def test_times_in_all_spellings(text: str, seconds: int) -> None:
    assert parse_times([text])[0].tolist() == [seconds]


@pytest.mark.parametrize(
    ("texts", "says"),
    [
        (["2008-06-08 00:00:00", "2008-06-08T00:00:00Z"], "some times name a time zone and others do not"),
        (["noon"], "neither numbers nor of the form"),
        (["99999999999999999"], "thousands of years"),
    ],
)
def test_times_that_cannot_be_read_are_refused(texts: list[str], says: str) -> None:
    with pytest.raises(DataError, match=says):
        parse_times(texts)


def test_zones_are_told() -> None:
    assert "several time zones" in parse_times(["2008-06-08 00:00:00+01:00", "2008-06-08 00:00:00+02:00"])[1][0]


def test_cells_that_are_missing_are_refused() -> None:
    from shoal.data.tables.table import Table

    times = encode_cells("when", np.array(["2008-06-08 00:00:00", None], dtype=object))
    with pytest.raises(DataError, match="no time is given for 1 of"):
        times_in(times)
    with pytest.raises(DataError, match="not numbers"):
        numbers_in(encode_cells("lat", np.array(["1", "north"], dtype=object)))
    with pytest.raises(DataError, match="no 'when' is given for 1 of"):
        names_in(Table.of([times]), "when")
    dates = encode_cells("when", np.array(["2008-06-08"], "datetime64[us]"))
    assert times_in(dates)[0].tolist() == [1_212_883_200]
    assert times_in(encode_cells("when", np.array([5.9])))[0].tolist() == [5]
