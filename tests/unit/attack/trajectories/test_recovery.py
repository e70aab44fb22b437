"""The tests of `attack/trajectories/recovery.py`."""

from __future__ import annotations

import numpy as np

from shoal.attack.trajectories.case import TrajectoryCase
from shoal.attack.trajectories.recovery import TrajectoryRecovery
from shoal.data.trajectories.boxes import TrajectoryBoxes
from shoal.data.trajectories.grid import Grid3D
from shoal.data.trajectories.trajectories import Trajectories

GRID = Grid3D(0.001, 300)


def test_the_next_trip_is_found_where_it_begins_nearest() -> None:
    lat = [1.0005, 1.0105, 1.0105, 1.0205, 1.2005, 1.2105]
    data = Trajectories.of(lat, [1.0005] * 6, [0, 600, 1200, 1800, 1200, 1800], [0, 0, 1, 1, 2, 2], [0, 0, 0, 0, 1, 1])
    cells = GRID.cells(data.latitude, data.longitude, data.time)
    two = np.full(3, 2)
    boxes = TrajectoryBoxes(np.repeat(cells, 2, axis=1), np.ones(6, np.int64), np.array([0, 2, 4, 6]), two, two, GRID)
    attack = TrajectoryRecovery()
    case = TrajectoryCase(boxes, data, k=2)
    assert attack.missing(case) is None
    found = attack.run(case, np.random.default_rng(0))
    assert (found.main.successes, found.main.attempts) == (1, 1)
    assert found.baseline is not None
    assert 0 < found.baseline.successes <= 1
    assert found.admitted == 0.5
    alone = data.take(np.array([0, 2]))
    assert attack.missing(TrajectoryCase(boxes, alone)) == "It needs persons with several trips."
