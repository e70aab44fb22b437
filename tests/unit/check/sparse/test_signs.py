"""The checker's own arithmetic of signs against Python's integers, and what unfair signs look like."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.check.sparse.signs import (
    PRIME,
    coefficients_of,
    count_unfair,
    fairness_points,
    multiply,
    polynomial,
    signs_of,
    sip_hash,
)
from shoal.data.strings.strings import symbol_keys
from tests.unit.check.sparse import slow_sketches as slow

EDGES = [0, 1, 2, 2**30 - 1, 2**30, 2**31 - 1, 2**31, 2**31 + 1, 2**60, 2**60 + 1, PRIME - 2, PRIME - 1]


def numbers(n, seed=0):
    rng = np.random.default_rng(seed)
    return [*EDGES, *(int(x) for x in rng.integers(0, PRIME, n))]


def test_products_are_those_of_whole_numbers():
    values = numbers(300)
    a = np.array(values, np.uint64)
    found = multiply(a[:, None], a[None, :])
    assert found.tolist() == [[x * y % PRIME for y in values] for x in values]


def test_polynomials_are_those_of_whole_numbers():
    values = numbers(40, seed=1)
    rows = [values[i : i + 4] for i in range(0, 48, 4)]
    found = polynomial(np.array(rows, np.uint64), np.array(values, np.uint64))
    assert found.tolist() == [[(a + b * x + c * x**2 + d * x**3) % PRIME for a, b, c, d in rows] for x in values]


def test_signs_are_those_of_the_definition():
    names = [f"item {i}" for i in range(200)]
    found = signs_of(slow.KEY, symbol_keys(names), 35)
    assert found.tolist() == [[slow.sign(slow.KEY, name, j) for j in range(35)] for name in names]
    assert coefficients_of(slow.KEY, 0).shape == (0, 4)


def test_masks_are_those_of_sip_hash():
    key = bytes(range(16))
    words = np.array([[int.from_bytes(bytes(range(at, at + 8)), "little")] for at in (0, 8)], np.uint64)
    assert sip_hash(key, *words).tolist() == [0x3F2ACC7F57C29BDB] == [slow.sip_hash(key, bytes(range(16)))]


def test_hashes_from_the_prime_on_are_reduced():
    high = np.array([PRIME, PRIME + 5, 2**64 - 1], np.uint64)
    low = np.array([int(h) % PRIME for h in high], np.uint64)
    assert np.array_equal(signs_of(slow.KEY, high, 20), signs_of(slow.KEY, low, 20))


def test_fair_signs_pass():
    points = fairness_points(symbol_keys(["a", "b"]))
    assert len(points) >= 1000
    for key in (slow.KEY, bytes(32), b"\xff" * 32):
        assert count_unfair(signs_of(key, points, 128)) == 0
        assert count_unfair(signs_of(key, points, 1)) == 0


@pytest.mark.parametrize(
    "spoil",
    [
        lambda s: np.ones_like(s),
        lambda s: np.where(np.arange(len(s))[:, None] % 4 == 0, 1, s),
        lambda s: np.column_stack([s[:, :-1], s[:, 0]]),
        lambda s: np.column_stack([s[:, :-1], -s[:, 0]]),
        lambda s: np.column_stack([s[:, :-1], np.ones(len(s))]),
        lambda s: np.vstack([s[:-1], np.ones(s.shape[1])]),
    ],
    ids=["all equal", "a quarter is", "a component twice", "and reversed", "one component is", "one item is"],
)
def test_unfair_signs_are_found(spoil):
    signs = signs_of(slow.KEY, fairness_points(symbol_keys(["a"])), 96)
    assert count_unfair(spoil(signs).astype(np.int8)) > 0
