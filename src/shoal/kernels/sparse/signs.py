"""Random signs of items: the low bits of a cubic polynomial over the field of a Mersenne prime 2^bits - 1, masked.

Four values of a random cubic at four distinct points are independent, and so is each bit of them: the signs of each
component are 4-wise independent, and those of several components too; see Alon, Matias, Szegedy, "The space complexity
of approximating the frequency moments", STOC 1996.

Bits of one polynomial alone would let who learns the signs of a few items solve for all others. So they are masked by a
keyed hash of the item, SipHash-2-4: J.-P. Aumasson, D. J. Bernstein, "SipHash: a fast short-input PRF", INDOCRYPT 2012.
A mask that does not depend on the polynomial leaves its signs as independent as they were.
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
_WORD, _13, _16, _17, _21 = np.uint64(64), np.uint64(13), np.uint64(16), np.uint64(17), np.uint64(21)
_SIP = (
    np.uint64(0x736F6D6570736575),
    np.uint64(0x646F72616E646F6D),
    np.uint64(0x6C7967656E657261),
    np.uint64(0x7465646279746573),
)
_LENGTH, _END = np.uint64(16 << 56), np.uint64(0xFF)
EACH = 32
"""How many signs come from one polynomial."""


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
def _turned(word: np.uint64, by: np.uint64) -> np.uint64:
    turned: np.uint64 = (word << by) | (word >> (_WORD - by))
    return turned


@compiled
def sip_hash(secret: Words, one: np.uint64, other: np.uint64) -> np.uint64:
    """SipHash-2-4 of two words, 16 bytes, under a secret of two."""
    a = secret[0] ^ _SIP[0]
    b = secret[1] ^ _SIP[1]
    c = secret[0] ^ _SIP[2]
    d = secret[1] ^ _SIP[3]
    for step in range(4):
        word = one if step == 0 else other if step == 1 else _LENGTH
        n_rounds = 2
        if step == 3:
            c ^= _END
            n_rounds = 4
        else:
            d ^= word
        for _ in range(n_rounds):
            a += b
            b = _turned(b, _13) ^ a
            a = _turned(a, _HALF)
            c += d
            d = _turned(d, _16) ^ c
            a += d
            d = _turned(d, _21) ^ a
            c += b
            b = _turned(b, _17) ^ c
            c = _turned(c, _HALF)
        if step < 3:
            a ^= word
    mixed: np.uint64 = a ^ b ^ c ^ d
    return mixed


@compiled
def fill_signs(
    item_keys: Words,
    numbers: Words,
    coefficients: Words,
    secret: Words,
    bits: np.uint64,
    each: int,
    skipped: int,
    out: Signs,
) -> None:
    """Fill the signs of items, `each` of every polynomial: +1 where a bit of its masked value is 0, else -1.

    Parameters
    ----------
    item_keys : uint64 array (n_items,)
    numbers, coefficients : uint64 arrays (n_polynomials,), (n_polynomials, 4)
        What each polynomial is called, and its coefficients.
    secret : uint64 array (2,)
        Of the masks.
    skipped : int
        How many signs of the first polynomial are left out.
    out : int8 array (n_items, n_components)
        Such that ``skipped + n_components <= each * n_polynomials``.
    """
    n = out.shape[1]
    for i in range(len(item_keys)):
        x = reduce_word(item_keys[i], bits)
        to = 0
        for j in range(len(coefficients)):
            value = evaluate(coefficients[j], x, bits) ^ sip_hash(secret, x, numbers[j])
            begin = skipped if j == 0 else 0
            for bit in range(begin, min(each, begin + n - to)):
                out[i, to + bit - begin] = 1 - 2 * np.int8((value >> np.uint64(bit)) & _ONE)
            to += max(min(each - begin, n - to), 0)
