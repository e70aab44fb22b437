"""The signs of sketches, computed anew from the key, and whether they look like fair coins.

Components 32 j to 32 j + 31 have a cubic polynomial modulo p = 2^61 - 1 with coefficients from the key; the signs of an
item are the last 32 bits of its value at the item's hash, each turned where the same bit of SipHash-2-4 of that hash
and j is 1, under the key. Products of 61-bit numbers are formed from halves, in 64-bit integers.

References
----------
C. C. Aggarwal, P. S. Yu, "On privacy-preservation of text and sparse binary data with sketches", SDM 2007, Eq. (2.1).
J. L. Carter, M. N. Wegman, "Universal classes of hash functions", JCSS 18, 1979.
J.-P. Aumasson, D. J. Bernstein, "SipHash: a fast short-input PRF", INDOCRYPT 2012.
"""

from __future__ import annotations

import hashlib

import numpy as np

from shoal.arrays import Signs, Words
from shoal.data.strings.strings import symbol_keys

KEY_BYTES = 32
PRIME = 2**61 - 1
EACH = 32
FALSE_ALARM = 1e-9
_P = np.uint64(PRIME)
_HALF, _REST, _TOP, _ONE = (np.uint64(n) for n in (31, 30, 61, 1))
_LOW_HALF, _LOW_REST = np.uint64(2**31 - 1), np.uint64(2**30 - 1)
_FEWEST_POINTS, _MOST_POINTS = 1024, 4096


def _reduce(value: Words) -> Words:
    """A number below 2^64 modulo p."""
    folded = (value & _P) + (value >> _TOP)
    return np.asarray(np.where(folded >= _P, folded - _P, folded))


def multiply(a: Words, b: Words) -> Words:
    """The product of numbers below p, modulo p.

    With a = A 2^31 + a' and b alike, AB 2^62 counts as 2 AB, and the middle M = Ab' + a'B, cut into N 2^30 + n, counts
    as N + n 2^31. All sums stay below 2^64.
    """
    a_high, a_low = a >> _HALF, a & _LOW_HALF
    b_high, b_low = b >> _HALF, b & _LOW_HALF
    middle = a_high * b_low + a_low * b_high
    outer = ((a_high * b_high) << _ONE) + (middle >> _REST) + ((middle & _LOW_REST) << _HALF)
    return _reduce(outer + a_low * b_low)


def polynomial(coefficients: Words, x: Words) -> Words:
    """The value of each polynomial, a row of coefficients from the constant on, at each x below p: (n_x, n_rows)."""
    points = x[:, None]
    value = np.broadcast_to(coefficients[:, -1], (len(x), len(coefficients)))
    for power in range(coefficients.shape[1] - 2, -1, -1):
        value = _reduce(multiply(value, points) + coefficients[None, :, power])
    return np.asarray(value)


def coefficients_of(key: bytes, n: int) -> Words:
    """The coefficients of the first n polynomials, an array (n, 4)."""
    rows = []
    for j in range(n):
        digest = hashlib.blake2b(j.to_bytes(8, "little"), digest_size=64, key=key, person=b"shoal-signs").digest()
        rows.append([int.from_bytes(digest[at : at + 16], "little") % PRIME for at in range(0, 64, 16)])
    return np.array(rows, np.uint64).reshape(n, 4)


def sip_hash(key: bytes, x: Words, j: Words) -> Words:
    """SipHash-2-4 of the words x and j, with a key of 16 bytes: of each of both, as arrays of one shape."""
    low, high = (int.from_bytes(key[at : at + 8], "little") for at in (0, 8))
    start = (0x736F6D6570736575 ^ low, 0x646F72616E646F6D ^ high, 0x6C7967656E657261 ^ low, 0x7465646279746573 ^ high)
    v = [np.full(x.shape, value, np.uint64) for value in start]
    for block in (x, j, np.full(x.shape, 16 << 56, np.uint64)):
        v[3] = v[3] ^ block
        _sip_rounds(v, 2)
        v[0] = v[0] ^ block
    v[2] = v[2] ^ np.uint64(0xFF)
    _sip_rounds(v, 4)
    return np.asarray(v[0] ^ v[1] ^ v[2] ^ v[3])


def _sip_rounds(v: list[Words], n: int) -> None:
    def left(word: Words, by: int) -> Words:
        return np.asarray((word << np.uint64(by)) | (word >> np.uint64(64 - by)))

    for _ in range(n):
        v[0], v[2] = v[0] + v[1], v[2] + v[3]
        v[1], v[3] = left(v[1], 13) ^ v[0], left(v[3], 16) ^ v[2]
        v[0] = left(v[0], 32)
        v[2], v[0] = v[2] + v[1], v[0] + v[3]
        v[1], v[3] = left(v[1], 17) ^ v[2], left(v[3], 21) ^ v[0]
        v[2] = left(v[2], 32)


def signs_of(key: bytes, item_keys: Words, n: int) -> Signs:
    """The signs of each item in the first n components, an array (n_items, n) of +1 and -1."""
    coefficients = coefficients_of(key, -(-n // EACH))
    secret = hashlib.blake2b(b"", digest_size=16, key=key, person=b"shoal-masks").digest()
    signs = np.empty((len(item_keys), n), np.int8)
    component = np.arange(n)
    numbers, bits = component // EACH, (component % EACH).astype(np.uint64)
    step = max(1_000_000 // max(n, 1), 1)
    for at in range(0, len(item_keys), step):
        points = _reduce(item_keys[at : at + step])
        values = polynomial(coefficients, points)
        of = np.broadcast_to(np.arange(len(coefficients), dtype=np.uint64), values.shape)
        values = values ^ sip_hash(secret, np.broadcast_to(points[:, None], values.shape), of)
        signs[at : at + step] = 1 - 2 * ((values[:, numbers] >> bits) & _ONE).astype(np.int8)
    return signs


def fairness_points(item_keys: Words) -> Words:
    """Hashes to look at the signs of: those of the items, filled up with others where they are few."""
    points = np.unique(item_keys)[:_MOST_POINTS]
    if len(points) < _FEWEST_POINTS:
        points = np.unique(np.concatenate([points, symbol_keys([str(i) for i in range(_FEWEST_POINTS)])]))
    return points


def count_unfair(signs: Signs) -> int:
    """How many sums of signs are too far from 0 for fair coins: over a component, over two, over an item.

    Each sum of n signs lies within ``sqrt(2 n ln(2 T / alarm))`` (Hoeffding); T is the number of sums, so that all of
    fair coins do but once in 1 / alarm times.
    """
    n_items, n = signs.shape
    n_sums = n + n * (n - 1) // 2 + n_items
    limit = 2 * np.log(2 * n_sums / FALSE_ALARM)
    table = signs.astype(np.float64)
    over_two = np.triu(table.T @ table, 1)
    return int(
        (table.sum(axis=0) ** 2 > n_items * limit).sum()
        + (over_two**2 > n_items * limit).sum()
        + (table.sum(axis=1) ** 2 > n * limit).sum()
    )
