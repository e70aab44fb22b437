"""The tests of `attack/trajectories/unicity.py`, against a slow twin."""

from __future__ import annotations

import numpy as np

from shoal.attack.trajectories.unicity import unicity
from shoal.data.trajectories.grid import Grid3D
from shoal.data.trajectories.trajectories import Trajectories

GRID = Grid3D(0.01, 3600)


def test_all_points_single_out_whom_nobody_shares_them_with() -> None:
    rng = np.random.default_rng(0)
    n = 60
    data = Trajectories.of(
        rng.integers(0, 3, n) / 100 + 0.005, np.full(n, 0.005), rng.integers(0, 3, n) * 3600, rng.integers(0, 20, n)
    )
    cells = [tuple(cell) for cell in GRID.cells(data.latitude, data.longitude, data.time).tolist()]
    own = [set(cells[a:b]) for a, b in zip(data.starts[:-1], data.starts[1:], strict=True)]
    n_single = sum(sum(mine <= other for other in own) == 1 for mine in own)
    found = unicity(data, GRID, 99, 1000, rng)
    assert (found.successes, found.attempts) == (n_single, len(data))
    assert unicity(data, GRID, 1, 1000, rng).value <= found.value
