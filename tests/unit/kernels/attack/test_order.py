"""Bounds of the members of a class, against every way of giving its values out."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from shoal.kernels.attack.order import tighten


@pytest.mark.parametrize("seed", range(40))
def test_bounds_are_those_of_every_way_of_giving_values_out(seed) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 6))
    values = np.sort(rng.integers(0, 6, n))
    lower = np.sort(rng.integers(0, 5, n))
    upper = lower + rng.integers(0, 5, n)
    ways = [
        way
        for way in itertools.permutations(values.tolist())
        if all(a <= v <= b for a, v, b in zip(lower, way, upper, strict=True))
    ]
    low, high = lower.copy(), upper.copy()
    starts = np.array([0, n])
    assert tighten(starts, np.arange(n), values, low, high, 10) == bool(ways)
    if ways:
        assert low.tolist() == np.min(ways, axis=0).tolist()
        assert high.tolist() == np.max(ways, axis=0).tolist()


def test_larger_classes_are_passed_over() -> None:
    low, high = np.zeros(3, np.int64), np.full(3, 9)
    assert tighten(np.array([0, 3]), np.arange(3), np.array([1, 2, 3]), low, high, 2)
    assert low.tolist() == [0, 0, 0]
