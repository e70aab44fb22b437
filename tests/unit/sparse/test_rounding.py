"""The tests of `sparse/rounding.py`."""

from __future__ import annotations

from shoal.data.sparse.records import Sparse
from shoal.sparse.rounding import step_of


def test_step_is_the_power_of_two_nearest_to_twice_the_median():
    def step(*weights):
        return step_of(Sparse.of([{str(i): w} for i, w in enumerate(weights)]))

    assert step(0.5, 0.5, -0.5) == 1.0
    assert step(0.7, 0.7) == 1.0  # log2 1.4 = 0.49
    assert step(0.71, -0.71) == 2.0  # log2 1.42 = 0.506
    assert step(0.01, 0.3, 1e9) == 0.5
    assert step(7, 9, 1000) == 1.0  # whole numbers
    assert step() == 1.0
