"""Groups to be improved, and what must hold of them afterwards."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from shoal.kernels.tables.local_search import SearchGroups, lay_out
from shoal.kernels.tables.neighbours import nearest_lists

Floats = npt.NDArray[np.float64]

WEIGHTS = {0: np.zeros(4), 2: np.array([0.0, 0.0, 1.0, 0.25])}  # by how many of four columns are categories


def slow_distances(points: Floats, weights: Floats, n_metric: int) -> Floats:
    """Squared distances of all pairs."""
    apart = points[:, None, :] - points[None, :, :]
    return np.asarray((apart[..., :n_metric] ** 2).sum(axis=-1) + (apart[..., n_metric:] != 0) @ weights[n_metric:])


def make_groups(n_categories: int, n_rows: int = 60, k: int = 4, n_groups: int = 12) -> tuple[SearchGroups, Floats]:
    rng = np.random.default_rng(7)
    points = rng.normal(size=(n_rows, 4)) * [1, 3, 1, 1]
    points[:, 4 - n_categories :] = rng.integers(3, size=(n_rows, n_categories))
    weights, n_metric = WEIGHTS[n_categories], 4 - n_categories
    near = nearest_lists(points, weights, n_metric, 20)
    labels = (rng.permutation(n_rows) % n_groups).astype(np.int32)
    return lay_out(points, weights, n_metric, near, labels, k), slow_distances(points, weights, n_metric)


def assert_whole(groups: SearchGroups) -> None:
    """Every record stands in one group, groups have k to 2k-1 records, and what is kept about them is right."""
    sizes = np.bincount(groups.labels, minlength=len(groups.sizes))
    assert sizes.tolist() == groups.sizes.tolist()
    assert all(size == 0 or groups.k <= size < 2 * groups.k for size in sizes)
    for g, size in enumerate(sizes):
        rows = groups.members[g, :size]
        assert sorted(rows) == np.flatnonzero(groups.labels == g).tolist()
        assert groups.place[rows].tolist() == list(range(size))
        np.testing.assert_allclose(
            groups.sums[g, : groups.n_metric], groups.points[rows, : groups.n_metric].sum(axis=0), atol=1e-9
        )
    assert sorted(groups.unused[1 : groups.unused[0] + 1]) == np.flatnonzero(sizes == 0).tolist()
