"""The least values of each key are those of a slow sort."""

from __future__ import annotations

import numpy as np

from shoal.kernels.sparse.ends import keep_least


def test_the_least_values_of_each_key_are_kept_over_several_calls() -> None:
    rng = np.random.default_rng(2)
    keys, values = rng.integers(0, 9, 60), rng.integers(-5, 6, 60).astype(float)
    ends = np.full((10, 3), np.inf)
    keep_least(ends, keys[:25], values[:25])
    keep_least(ends, keys[25:], values[25:])
    for key in range(10):
        own = np.sort(values[keys == key])[:3]
        assert ends[key].tolist() == [*own.tolist(), *[np.inf] * (3 - len(own))]
