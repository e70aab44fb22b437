"""Signs from cubic polynomials over Mersenne fields: arithmetic against Python's integers, and their independence."""

from __future__ import annotations

from itertools import combinations, product
from math import prod

import numpy as np
import pytest

from shoal.kernels.sparse.signs import BITS, evaluate, fill_signs, multiply, reduce_word

P = 2**61 - 1
EDGES = [0, 1, 2, 7, 2**29 - 1, 2**29, 2**32 - 1, 2**32, 2**32 + 1, 2**60, P // 2, P - 2**32, P - 2, P - 1]


def draw(n, below=P, seed=0):
    rng = np.random.default_rng(seed)
    return [int(v) for v in rng.integers(0, below, n, dtype=np.uint64)]


def test_remainders_of_any_word():
    words = [*EDGES, P, P + 1, 2 * P, 2 * P + 1, 7 * P, 8 * P, 2**63, 2**64 - 1, *draw(500, 2**64 - 1)]
    assert [int(reduce_word(np.uint64(w), BITS)) for w in words] == [w % P for w in words]


def test_products_of_61_bits_equal_those_of_python_integers():
    pairs = [*product(EDGES, EDGES), *zip(draw(2000, seed=1), draw(2000, seed=2), strict=True)]
    got = [int(multiply(np.uint64(a), np.uint64(b), BITS)) for a, b in pairs]
    assert got == [a * b % P for a, b in pairs]


@pytest.mark.parametrize("bits", [3, 5, 7, 13, 17, 19, 31])
def test_products_in_small_fields(bits):
    p = 2**bits - 1
    values = [0, 1, p - 1, *draw(30, p, seed=bits)]
    for a, b in product(values, values):
        assert int(multiply(np.uint64(a), np.uint64(b), np.uint64(bits))) == a * b % p


def test_polynomials_equal_those_of_python_integers():
    for a, x in zip(np.array(draw(800, seed=3), np.uint64).reshape(200, 4), draw(200, seed=4), strict=True):
        expected = sum(int(a[i]) * x**i for i in range(4)) % P
        assert int(evaluate(a, np.uint64(x), BITS)) == expected


def test_table_has_a_row_of_signs_for_each_item():
    keys = np.array([0, 5, P - 1, P, P + 3, 2**64 - 1], np.uint64)  # the last three are reduced first
    coefficients = np.array(draw(28, seed=5), np.uint64).reshape(7, 4)
    table = np.zeros((6, 7), np.int8)
    fill_signs(keys, coefficients, BITS, table)
    for i, j in product(range(6), range(7)):
        value = sum(int(coefficients[j, e]) * (int(keys[i]) % P) ** e for e in range(4)) % P
        assert table[i, j] == (1 if value % 2 == 0 else -1)


def joint_counts(signs, four):
    """How many polynomials give each of the 16 patterns of signs at four points."""
    patterns = sum((signs[i] > 0).astype(np.int64) << place for place, i in enumerate(four))
    return np.bincount(patterns, minlength=16)


@pytest.mark.parametrize(("bits", "points"), [(3, range(7)), (5, (0, 1, 2, 15, 29, 30))])
def test_signs_at_any_four_points_are_independent(bits, points):
    # All p^4 cubics; of the p values (p + 1) / 2 are even. Not one count may differ from the product.
    p = 2**bits - 1
    coefficients = np.array(np.meshgrid(*[np.arange(p, dtype=np.uint64)] * 4)).reshape(4, -1).T.copy()
    signs = np.empty((len(points), p**4), np.int8)
    fill_signs(np.array(points, np.uint64), coefficients, np.uint64(bits), signs)
    n_even, n_odd = (p + 1) // 2, (p - 1) // 2
    expected = [prod(n_even if pattern >> i & 1 else n_odd for i in range(4)) for pattern in range(16)]
    for four in combinations(range(len(points)), 4):
        assert joint_counts(signs, four).tolist() == expected


def test_five_points_are_not_independent():
    # What the test above would find if the polynomials were of too low a degree.
    p = 7
    coefficients = np.array(np.meshgrid(*[np.arange(p, dtype=np.uint64)] * 4)).reshape(4, -1).T.copy()
    coefficients[:, 3] = 0  # quadratic: three points only
    signs = np.empty((p, p**4), np.int8)
    fill_signs(np.arange(p, dtype=np.uint64), coefficients, np.uint64(3), signs)
    expected = [prod(4 if pattern >> i & 1 else 3 for i in range(4)) for pattern in range(16)]
    assert any(joint_counts(signs, four).tolist() != expected for four in combinations(range(p), 4))
