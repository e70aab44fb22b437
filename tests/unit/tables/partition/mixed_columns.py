"""Numbers, categories and a hierarchy to be grouped."""

from __future__ import annotations

import numpy as np

from shoal.tables.encoding import Ranked
from shoal.tables.partition.base import rank_array


def mixed(n_rows: int, seed: int = 0) -> list[Ranked]:
    """Two numbers, one of them with a long tail, an order and a category, each with missing values."""
    rng = np.random.default_rng(seed)
    numbers = np.column_stack([rng.normal(size=n_rows), np.exp(2 * rng.normal(size=n_rows))])
    numbers[rng.random(numbers.shape) < 0.1] = np.nan
    numbers = numbers[np.lexsort(numbers.T)]
    order = rng.integers(0, 5, n_rows).astype(np.int32)
    category = rng.integers(0, 4, n_rows).astype(np.int32)
    return [
        *rank_array(numbers),
        Ranked("grade", "order", order, np.append(np.arange(4.0), np.nan), has_missing=True),
        Ranked("town", "category", category, np.arange(4.0)),
    ]
