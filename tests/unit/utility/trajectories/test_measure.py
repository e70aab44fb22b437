"""The tests of `utility/trajectories/measure.py`."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.data.trajectories.boxes import TrajectoryBoxes
from shoal.data.trajectories.grid import Grid3D
from shoal.data.trajectories.trajectories import Trajectories
from shoal.utility.trajectories.measure import box_sizes, heat, measure_trajectories, middles

GRID = Grid3D(0.01, 600)
DATA = Trajectories.of(
    [0.005, 0.025, 0.005, 0.025, 5.0], [0.005] * 5, [300, 900, 300, 900, 0], ["a", "a", "b", "b", "c"]
)
GROUPS = np.array([0, 0, -1])


def boxes(taller: int = 0) -> TrajectoryBoxes:
    sides = np.array([[0, 0, 0, 0, 0, 0], [2, 2 + taller, 0, 0, 1, 1]])
    return TrajectoryBoxes(sides, np.array([2, 2]), np.array([0, 2]), np.array([2]), np.array([2]), GRID)


def test_tight_boxes_change_little() -> None:
    found = measure_trajectories(DATA, boxes(), GROUPS)
    assert found.stretch_metres[0] == pytest.approx(1111.95, rel=1e-3)
    assert found.stretch_minutes == (10, 10)
    assert found.displacement_metres[0] == pytest.approx(0, abs=1e-6)
    assert (found.share_points, found.share_trajectories) == (0.8, pytest.approx(2 / 3))
    assert found.length_km[0] == found.length_km[1] == pytest.approx(2.2239)
    assert found.duration_minutes == (10, 10)
    assert found.flow_error == pytest.approx(1 / 3)
    assert "Half of the published points" in found.sentence
    assert found.to_dict()["heat_correlation"] == pytest.approx(found.heat_correlation)


def test_a_tall_box_stretches_its_points() -> None:
    metres, minutes = box_sizes(boxes(3))
    assert metres[1] == pytest.approx(4 * metres[0], rel=1e-6)
    assert minutes.tolist() == [10, 10]
    assert middles(boxes(3))[0].tolist() == pytest.approx([0.005, 0.04])
    before, after, cells = heat(DATA, boxes(3))
    assert (before.sum(), after.sum(), len(cells)) == (5, 4, 4)
