"""Numbers and categories at random, measured by widths."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from shoal.kernels.tables.width_tree import WidthPoints


def random_data(rng: np.random.Generator, n_rows: int, n_values: int) -> tuple[WidthPoints, npt.NDArray[np.int64]]:
    """Numbers between 0 and 1 with missing ones at 2, categories, and a tree of two levels; many equal records."""
    columns = [rng.integers(0, n_values, n_rows) / 2.0**6, rng.choice([0.0, 0.25, 1.0, 2.0], n_rows)]
    category, leaf = rng.integers(0, n_values, n_rows), rng.integers(0, n_values, n_rows)
    points = np.column_stack([*columns, category, leaf, leaf // 3 * 3]).astype(float)
    kept = rng.permutation(5)[: rng.integers(1, 6)]
    data = WidthPoints(np.ascontiguousarray(points[:, kept]), np.array([1.0, 1.0, 1.0, 0.5, 0.5])[kept])
    return data, np.unique(data.points, axis=0, return_inverse=True)[1].reshape(-1).astype(np.int64)
