"""The tests of `trajectories/boxing.py`."""

from __future__ import annotations

import numpy as np

from shoal.data.trajectories.grid import Grid3D
from shoal.data.trajectories.trajectories import Trajectories
from shoal.trajectories.boxing import GroupedPoints, LargestBox, hulls, in_time, publish

GRID = Grid3D(0.001, 300)


def test_hulls_are_the_ends_of_their_points() -> None:
    cells = np.array([[1, 5, 9], [3, 4, 9], [7, 7, 7]])
    assert hulls(cells, np.array([0, 0, 1]), 2).tolist() == [[1, 3, 4, 5, 9, 9], [7, 7, 7, 7, 7, 7]]


def test_boxes_are_ordered_by_the_middle_of_their_times() -> None:
    sides = np.array([[0, 0, 0, 0, 0, 9], [0, 0, 0, 0, 2, 3], [0, 0, 0, 0, 1, 1]])
    assert in_time(sides, np.array([0, 0, 0])).tolist() == [2, 1, 0]
    assert in_time(sides, np.array([0, 0, 1])).tolist() == [1, 0, 2]


def test_points_are_cut_within_the_limits_and_the_rest_is_left_out() -> None:
    cells = np.array([[0, 0, 0], [1, 0, 0], [500, 0, 0]])
    points = GroupedPoints(cells, np.array([0.0, 0.0, 1.0]), np.array([0, 1, 1]), np.zeros(3, np.int64))
    assert points.cut(GRID, LargestBox(1000, 3600), 2.0).tolist() == [0, 0, -1]
    assert LargestBox(1000, 5400).size == 1.0


def test_groups_are_published_with_their_counts() -> None:
    data = Trajectories.of([0.0005, 0.0105, 0.0005, 5.0], [0.0005] * 4, [0, 900, 60, 900], ["a", "a", "b", "b"])
    cells = GRID.cells(data.latitude, data.longitude, data.time)
    boxes, groups = publish(data, cells, np.array([0, 0]), np.array([0, -1, 0, -1]), GRID)
    assert groups.tolist() == [0, 0]
    assert (boxes.persons.tolist(), boxes.trips.tolist(), boxes.points.tolist()) == ([2], [2], [2])
    assert boxes.sides.tolist() == [[0, 0, 0, 0, 0, 0]]
