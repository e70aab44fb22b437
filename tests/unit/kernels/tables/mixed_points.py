"""Numbers and categories at random, for the kernels that look for near records, and the slow distance."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from shoal.kernels.tables.mdav import MixedPoints

Floats = npt.NDArray[np.float64]


def squared(points: Floats, query: Floats, n_metric: int, weights: Floats) -> Floats:
    total = np.zeros(len(points))
    for j in range(points.shape[1]):
        if j < n_metric:
            total += (points[:, j] - query[j]) * (points[:, j] - query[j])
        else:
            total += np.where(points[:, j] != query[j], weights[j], 0.0)
    return total


def random_data(rng: np.random.Generator, n_rows: int, n_values: int) -> MixedPoints:
    """Mean, median and mode columns, and an attribute that owns two columns; few values make many ties."""
    n_mean, n_median, n_mode = rng.integers(0, 3), rng.integers(0, 2), rng.integers(0, 3)
    metric, other, codes, dictionaries = [], [], [], []
    for _ in range(n_mean):
        metric.append((rng.integers(0, n_values, n_rows) * rng.choice([1.0, 0.3]), -1, np.zeros(0), 0.0))
    for kind in ["median"] * n_median + ["mode"] * n_mode + ["tree"]:
        code = rng.integers(0, n_values, n_rows)
        codes.append(code)
        owner = len(codes) - 1
        if kind == "median":
            steps = np.arange(n_values) / 4
            metric.append((steps[code], owner, steps, 0.0))
        else:
            leaves = np.arange(n_values, dtype=np.float64)
            other.append((leaves[code], owner, leaves, 1.0 if kind == "mode" else 0.25))
            if kind == "tree":
                other.append((leaves[code] // 2, owner, leaves // 2, 0.75))
    columns = metric + other
    dictionaries = [c[2] for c in columns]
    return MixedPoints(
        points=np.ascontiguousarray(np.column_stack([c[0] for c in columns])),
        weights=np.array([c[3] for c in columns]),
        codes=np.column_stack(codes).astype(np.int32),
        starts=np.arange(len(codes) + 1, dtype=np.int64) * n_values,
        is_median=np.array([1] * n_median + [0] * (n_mode + 1), dtype=np.int64),
        owner=np.array([c[1] for c in columns], dtype=np.int64),
        offsets=np.cumsum([0] + [len(d) for d in dictionaries[:-1]], dtype=np.int64),
        coordinates=np.concatenate(dictionaries),
        n_metric=len(metric),
    )
