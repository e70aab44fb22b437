"""The tests of `data/trajectories/trajectories.py`: what is refused, and what is put in order and told."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.data.trajectories.trajectories import Trajectories, leg_metres
from shoal.errors import DataError


def test_points_are_put_in_order_and_told() -> None:
    made = Trajectories.of([1.0, 1.1, 1.1, 1.1], [5.0, 5.1, 5.1, 5.2], [60, 0, 0, 0], ["a"] * 4)
    assert made.time.tolist() == [0, 0, 60]
    told = " ".join(made.source.notes)
    for phrase in ("put in order", "they count once", "all of them are kept"):
        assert phrase in told


def test_a_single_point_and_one_place_are_kept_and_told() -> None:
    made = Trajectories.of([1.0, 1.0], [2.0, 2.0], [0, 5], ["a", "b"])
    assert len(made) == 2
    assert any("single point" in note for note in made.source.notes)
    assert "all points are at one place" in made.source.notes


def test_speeds_are_told() -> None:
    made = Trajectories.of([0.0, 1.0], [0.0, 0.0], [0, 60], ["a", "a"])
    assert any("faster than 300 km/h" in note for note in made.source.notes)
    metres, is_leg = leg_metres(made)
    assert metres[0] == pytest.approx(111_195)
    assert is_leg.tolist() == [True]


def test_the_meridian_of_180_degrees_is_no_border() -> None:
    made = Trajectories.of([0.0, 0.0], [179.9, -179.9], [0, 60], ["a", "a"])
    assert made.longitude.tolist() == pytest.approx([179.9, 180.1])
    assert any("meridian" in note for note in made.source.notes)
    wide = Trajectories.of([0.0, 0.0, 0.0], [-170.0, 0.0, 170.0], [0, 60, 120], ["a", "a", "a"])
    assert wide.longitude.min() == -170


@pytest.mark.parametrize(
    ("lat", "lon", "says"),
    [
        ([95.0], [0.0], "latitude of 1 of the points is missing or beyond 90 degrees"),
        ([5.0], [181.0], "longitude of 1 of the points is missing or beyond 180 degrees"),
        ([np.nan], [1.0], "latitude of 1 of the points is missing"),
    ],
)
def test_points_off_the_earth_are_refused(lat: list[float], lon: list[float], says: str) -> None:
    with pytest.raises(DataError, match=says):
        Trajectories.of(lat, lon, [0], ["a"])


def test_a_trip_is_of_one_person() -> None:
    with pytest.raises(DataError, match="points of 1 of the trips are of several persons"):
        Trajectories.of([1.0, 1.0], [1.0, 1.0], [0, 1], ["a", "a"], ["p", "q"])
    with pytest.raises(DataError, match="there are no points"):
        Trajectories.of([], [], [], [])
    with pytest.raises(DataError, match="differ in number"):
        Trajectories.of([1.0], [1.0, 2.0], [0], ["a"])


def test_some_are_taken() -> None:
    made = Trajectories.of([1.0, 2.0, 3.0], [1.0, 2.0, 3.0], [0, 1, 2], ["a", "b", "b"], ["p", "q", "q"])
    part = made.take(np.array([1]))
    assert (part.latitude.tolist(), part.starts.tolist(), part.persons.tolist()) == ([2.0, 3.0], [0, 2], [1])
    assert made.n_persons == 2
