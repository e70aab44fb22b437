"""Signs from cubic polynomials over Mersenne fields, and their masks: against Python's integers; independence."""

from __future__ import annotations

from itertools import combinations, product
from math import prod

import numpy as np
import pytest

from shoal.kernels.sparse.signs import BITS, EACH, evaluate, fill_signs, multiply, reduce_word, sip_hash
from tests.unit.check.sparse import slow_sketches as slow

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


SECRET = np.array([0x0706050403020100, 0x0F0E0D0C0B0A0908], np.uint64)


def mask(x, number):
    return slow.sip_hash(SECRET.tobytes(), x.to_bytes(8, "little") + number.to_bytes(8, "little"))


def test_masks_are_those_of_sip_hash():
    # The vector of 16 bytes that the authors give.
    one, other = (np.uint64(int.from_bytes(bytes(range(at, at + 8)), "little")) for at in (0, 8))
    assert int(sip_hash(SECRET, one, other)) == 0x3F2ACC7F57C29BDB
    for x, j in zip(draw(50, seed=6), draw(50, seed=7), strict=True):
        assert int(sip_hash(SECRET, np.uint64(x), np.uint64(j))) == mask(x, j)


@pytest.mark.parametrize(("skipped", "n"), [(0, 7), (5, 27), (5, 28), (31, 34), (0, 64)])
def test_table_has_a_row_of_signs_for_each_item(skipped, n):
    keys = np.array([0, 5, P - 1, P, P + 3, 2**64 - 1], np.uint64)  # the last three are reduced first
    numbers = np.array([4, 5, 6], np.uint64)[: -(-(skipped + n) // EACH)]
    coefficients = np.array(draw(4 * len(numbers), seed=5), np.uint64).reshape(-1, 4)
    table = np.zeros((6, n), np.int8)
    fill_signs(keys, numbers, coefficients, SECRET, BITS, EACH, skipped, table)
    for i, c in product(range(6), range(n)):
        j, bit = divmod(skipped + c, EACH)
        x = int(keys[i]) % P
        value = sum(int(coefficients[j, e]) * x**e for e in range(4)) % P ^ mask(x, int(numbers[j]))
        assert table[i, c] == (-1 if value >> bit & 1 else 1)


def all_signs(bits, points, coefficients):
    """The signs of all bits of all polynomials, under the mask of one, and that mask at each point."""
    zeros = np.zeros(len(coefficients), np.uint64)
    signs = np.empty((len(points), bits * len(coefficients)), np.int8)
    fill_signs(np.array(points, np.uint64), zeros, coefficients, SECRET, np.uint64(bits), bits, 0, signs)
    return signs.reshape(len(points), -1, bits), [mask(x, 0) for x in points]


def all_cubics(p):
    return np.array(np.meshgrid(*[np.arange(p, dtype=np.uint64)] * 4)).reshape(4, -1).T.copy()


def joint_counts(signs, four):
    """How many polynomials give each of the 16 patterns of signs at four points."""
    patterns = sum((signs[i] > 0).astype(np.int64) << place for place, i in enumerate(four))
    return np.bincount(patterns, minlength=16)


def expected_counts(p, masks):
    """Of the p values, (p + 1) / 2 have a bit of 0: +1 where the mask does not turn it."""
    n_zero, n_one = (p + 1) // 2, (p - 1) // 2
    return [prod(n_zero if (pattern >> i & 1) ^ m else n_one for i, m in enumerate(masks)) for pattern in range(16)]


@pytest.mark.parametrize(("bits", "points"), [(3, range(7)), (5, (0, 1, 2, 29, 30))])
def test_signs_at_any_four_points_are_independent(bits, points):
    # All p^4 cubics, each bit by itself and bits that differ between the points: not one count may differ from the
    # product.
    p = 2**bits - 1
    signs, masks = all_signs(bits, points, all_cubics(p))
    for four in combinations(range(len(points)), 4):
        for chosen in [*((b,) * 4 for b in range(bits)), (0, 1, 2, 0), (2, 2, 0, 1)]:
            taken = {i: signs[i, :, b] for i, b in zip(four, chosen, strict=True)}
            turned = [masks[i] >> b & 1 for i, b in zip(four, chosen, strict=True)]
            assert joint_counts(taken, four).tolist() == expected_counts(p, turned)


def test_bits_of_one_value_are_as_independent_as_an_odd_number_of_values_lets_them():
    # Of 31 values all patterns of 5 bits but one occur equally often: all ones.
    signs, masks = all_signs(5, [3], np.array([[a, 0, 0, 0] for a in range(31)], np.uint64))
    patterns = sum((signs[0, :, b] < 0).astype(np.int64) << b for b in range(5)) ^ (masks[0] & 31)
    assert np.bincount(patterns, minlength=32).tolist() == [1] * 31 + [0]


def test_lower_degrees_are_not_independent():
    # What the test above would find if the polynomials were of too low a degree.
    p = 7
    coefficients = all_cubics(p)
    coefficients[:, 3] = 0  # quadratic: three points only
    signs, masks = all_signs(3, range(p), coefficients)
    assert any(
        joint_counts(signs[:, :, 0], four).tolist() != expected_counts(p, [masks[i] & 1 for i in four])
        for four in combinations(range(p), 4)
    )
