"""The tests of `data/trajectories/grid.py`."""

from __future__ import annotations

import numpy as np

from shoal.data.trajectories.grid import Grid3D

GRID = Grid3D(0.001, 300)


def test_points_lie_in_the_cells_that_are_told() -> None:
    cells = GRID.cells(np.array([37.5004]), np.array([-122.0001]), np.array([601]))
    assert cells.tolist() == [[37_500, -122_001, 2]]
