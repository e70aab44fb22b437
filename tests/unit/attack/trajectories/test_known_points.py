"""The tests of `attack/trajectories/known_points.py`."""

from __future__ import annotations

import numpy as np

from shoal.attack.trajectories.case import TrajectoryCase
from shoal.attack.trajectories.known_points import HomeAndWork, KnownPoints, TopPlaces, matches
from shoal.data.trajectories.boxes import TrajectoryBoxes
from shoal.data.trajectories.grid import Grid3D
from shoal.data.trajectories.trajectories import Trajectories

GRID = Grid3D(0.001, 300)
NOON, NIGHT = 12 * 3600, 23 * 3600
DATA = Trajectories.of(
    [1.0005, 1.0105, 1.0105, 2.0005], [1.0005] * 4, [NOON, NIGHT, NIGHT + 60, NOON], ["a", "a", "a", "b"]
)


def boxes(n_persons: int) -> TrajectoryBoxes:
    sides = np.array(
        [[1000, 1000, 1000, 1000, NOON // 300, NOON // 300], [1010, 1010, 1000, 1000, NIGHT // 300, NIGHT // 300]]
    )
    counts = np.array([n_persons])
    return TrajectoryBoxes(sides, np.array([1, 1]), np.array([0, 2]), counts, counts, GRID)


def test_points_match_the_boxes_that_hold_them() -> None:
    assert matches(boxes(2), DATA, np.array([0, 1])).tolist() == [2]
    assert matches(boxes(2), DATA, np.array([3])).tolist() == [0]


def test_a_box_of_one_singles_out_and_a_box_of_many_does_not() -> None:
    for attack in (KnownPoints(), HomeAndWork(), TopPlaces()):
        alone = attack.run(TrajectoryCase(boxes(1), DATA, k=5), np.random.default_rng(0))
        many = attack.run(TrajectoryCase(boxes(5), DATA, k=5), np.random.default_rng(0))
        assert alone.main.successes == 1, attack.name
        assert alone.details["singled_out"] == 0.5
        assert (many.main.successes, many.details["singled_out"]) == (0.2, 0)
        assert many.admitted == alone.admitted == 0.2  # what a file says of itself excuses nothing


def test_home_is_where_one_is_at_night() -> None:
    known = HomeAndWork().known(DATA, 0, np.random.default_rng(0))
    assert DATA.latitude[known].tolist() == [1.0105, 1.0005]
    assert TopPlaces().known(DATA, 0, np.random.default_rng(0)).tolist() == [1, 0]
