"""Random signs of items: the low bit of a cubic polynomial over the field of a Mersenne prime 2^bits - 1.

Four values of a random cubic at four distinct points are independent, so the signs are 4-wise independent; see
Alon, Matias, Szegedy, "The space complexity of approximating the frequency moments", STOC 1996.
"""

from __future__ import annotations

import numpy as np

from shoal.arrays import Signs, Words
from shoal.kernels.compile import compiled

BITS = np.uint64(61)
_ONE = np.uint64(1)
_ZERO = np.uint64(0)
_HALF = np.uint64(32)
_LOW_HALF = np.uint64(0xFFFFFFFF)
_LOW_29 = np.uint64(0x1FFFFFFF)
_29 = np.uint64(29)
_3 = np.uint64(3)


@compiled
def reduce_word(word: np.uint64, bits: np.uint64) -> np.uint64:
    """The remainder of any 64-bit number by 2^bits - 1."""
    p = (_ONE << bits) - _ONE
    while word > p:
        word = (word & p) + (word >> bits)  # 2^bits is 1 modulo p
    return _ZERO if word == p else word


@compiled
def multiply(a: np.uint64, b: np.uint64, bits: np.uint64) -> np.uint64:
    """a b modulo 2^bits - 1, for a and b below it; bits is 61, or 32 at most.

    There is no 128-bit number here, so 61 bits are multiplied in halves of 32: with p = 2^61 - 1, 2^64 is 8, and
    2^32 times the middle products is folded at its bit 29. Below 32 bits the high halves are zero, and so are both.
    """
    p = (_ONE << bits) - _ONE
    a_high, a_low = a >> _HALF, a & _LOW_HALF
    b_high, b_low = b >> _HALF, b & _LOW_HALF
    low = a_low * b_low
    middle = a_high * b_low + a_low * b_high  # below 2^62
    # Four terms below 2^61, 2^33, 2^61 and 2^61 + 8: no carry is lost.
    total = ((a_high * b_high) << _3) + (middle >> _29) + ((middle & _LOW_29) << _HALF) + (low & p) + (low >> bits)
    return reduce_word(total, bits)


@compiled
def evaluate(coefficients: Words, x: np.uint64, bits: np.uint64) -> np.uint64:
    """a0 + a1 x + a2 x^2 + a3 x^3 modulo 2^bits - 1, by Horner's rule."""
    value: np.uint64 = coefficients[3]
    for i in range(2, -1, -1):
        value = reduce_word(multiply(value, x, bits) + coefficients[i], bits)
    return value


@compiled
def fill_signs(item_keys: Words, coefficients: Words, bits: np.uint64, out: Signs) -> None:
    """``out[i, j]`` is +1 where the value of polynomial j at item i is even, else -1; out is (items, components)."""
    for i in range(len(item_keys)):
        x = reduce_word(item_keys[i], bits)
        for j in range(len(coefficients)):
            value = evaluate(coefficients[j], x, bits)
            out[i, j] = 1 if value & _ONE == _ZERO else -1
