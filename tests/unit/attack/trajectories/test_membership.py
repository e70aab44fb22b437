"""The tests of `attack/trajectories/membership.py`."""

from __future__ import annotations

import numpy as np

from shoal.attack.trajectories.case import TrajectoryCase
from shoal.attack.trajectories.membership import TrajectoryMembership
from shoal.data.trajectories.boxes import TrajectoryBoxes
from shoal.data.trajectories.grid import Grid3D
from shoal.data.trajectories.trajectories import Trajectories


def at(latitude: float, n: int = 30) -> Trajectories:
    return Trajectories.of(np.full(n, latitude), np.full(n, 1.0005), np.zeros(n, np.int64), np.arange(n))


def test_members_lie_in_boxes_and_others_do_not() -> None:
    many = np.array([30])
    sides = np.array([[1000, 1000, 1000, 1000, 0, 0]])
    boxes = TrajectoryBoxes(sides, many, np.array([0, 1]), many, many, Grid3D(0.001, 300))
    attack, rng = TrajectoryMembership(), np.random.default_rng(0)
    found = attack.run(TrajectoryCase(boxes, at(1.0005), at(5.0)), rng)
    assert found.details["area_under_curve"] == 1
    assert (found.main.value, found.control.value) == (1, 0)  # also where there are fewer than a hundred others
    same = attack.run(TrajectoryCase(boxes, at(1.0005), at(1.0005)), rng)
    assert same.details["area_under_curve"] == 0.5
    assert "needs at least 20" in str(attack.missing(TrajectoryCase(boxes, at(1.0005))))
    assert attack.missing(TrajectoryCase(boxes, at(1.0005), at(5.0))) is None
