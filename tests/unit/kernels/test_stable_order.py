"""The order of keys is that of NumPy, compiled and interpreted."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.kernels.compile import interpreted
from shoal.kernels.stable_order import stable_order


@pytest.mark.parametrize("n", [0, 1, 2, 15, 16, 17, 31, 32, 33, 64, 100, 513])
@pytest.mark.parametrize("dtype", [np.int64, np.float64])
def test_equal_keys_stay_as_they_stand(n: int, dtype: type) -> None:
    rng = np.random.default_rng(n)
    for n_values in (1, 3, 1000):
        keys = rng.integers(-n_values, n_values, n).astype(dtype)
        wanted = np.argsort(keys, kind="stable")
        assert stable_order(keys).tolist() == wanted.tolist()
        assert stable_order.py_func(keys).tolist() == wanted.tolist()  # type: ignore[attr-defined]
        with interpreted(True):
            assert stable_order(keys).tolist() == wanted.tolist()


def test_infinities_have_their_places() -> None:
    keys = np.array([np.inf, 0.0, -np.inf, np.inf, -0.0, -np.inf])
    assert stable_order(keys).tolist() == [2, 5, 1, 4, 0, 3]
