"""How many points single a trajectory out: the risk of the data as it stands.

References
----------
Y.-A. de Montjoye, C. A. Hidalgo, M. Verleysen, V. D. Blondel, "Unique in the crowd: the privacy bounds of human
mobility", Scientific Reports 3, 2013.
"""

from __future__ import annotations

import numpy as np

from shoal.attack.result import Rate
from shoal.data.trajectories.grid import Grid3D
from shoal.data.trajectories.trajectories import Trajectories

GRIDS = (Grid3D(0.001, 900), Grid3D(0.01, 3600))
N_POINTS = (1, 2, 3, 4)


def unicity(data: Trajectories, grid: Grid3D, n_points: int, n_attacks: int, rng: np.random.Generator) -> Rate:
    """The share of trajectories that alone hold some of their own points, drawn at random, by the cells of a grid.

    A trajectory with fewer points is known by all of them. Trajectories of one person do not hide one another.

    >>> data = Trajectories.of([1.0, 1.5, 1.0], [1.0, 1.5, 1.0], [0, 9000, 0], [1, 1, 2])
    >>> unicity(data, Grid3D(0.01, 3600), 4, 10, np.random.default_rng(0)).value
    0.5
    """
    cells = np.unique(grid.cells(data.latitude, data.longitude, data.time), axis=0, return_inverse=True)[1].reshape(-1)
    pairs = np.unique(np.stack([cells, data.persons[data.owners]], axis=1), axis=0)
    starts = np.searchsorted(pairs[:, 0], np.arange(int(cells.max()) + 2))
    targets = rng.permutation(len(data))[:n_attacks]
    n_single = 0
    for target in targets.tolist():
        own = np.unique(cells[data.starts[target] : data.starts[target + 1]])
        known = rng.permutation(own)[:n_points]
        holders = pairs[starts[known[0]] : starts[known[0] + 1], 1]
        for cell in known[1:]:
            holders = np.intersect1d(holders, pairs[starts[cell] : starts[cell + 1], 1], assume_unique=True)
        n_single += len(holders) == 1
    return Rate(n_single, len(targets))
