"""Nearest neighbours of sets of items: one block of records against many queries, by rows of bits.

A block is a matrix of bits (an item a row, a record a column), and the products of one query with 64 records are
counted at once: rows of bits are added as columns of binary digits, the carry-save way. Items that few records have are
kept as lists and added to the digits one by one. What the scores are is said in `shoal.kernels.sparse.neighbours`.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from shoal.arrays import Codes, Floats, Ints, Words
from shoal.kernels.compile import compiled
from shoal.kernels.sparse.neighbours import SLACK, Places, offer

WORDS = 64  # of 64 records each: a row of bits of a full block
BLOCK = 64 * WORDS
PART = 8  # words that share one bound on the sizes of their records
DIGITS = 32

_FULL = np.uint64(0xFFFFFFFFFFFFFFFF)
_ONE = np.uint64(1)
_ZERO = np.uint64(0)


class BlockIndex(NamedTuple):
    """The items of the records of a block: rows of bits of the first `n_dense`, lists of records of the others."""

    n_dense: int
    bits: Words  # one row more, of zeros; as many columns as `count_words` says
    list_starts: Codes  # two entries more than there are items with lists
    listed: Places


def count_words(n_records: int) -> int:
    """The length of a row of bits for so many records."""
    return -(-n_records // (64 * PART)) * PART


@compiled
def _count_ones(word: Any) -> Any:
    """The number of bits that are set, of a uint64; the usual sums of neighbours, which the compiler knows."""
    word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return (word * np.uint64(0x0101010101010101)) >> np.uint64(56)


@compiled
def fill_bits(starts: Ints, items: Codes, first: int, stop: int, index: BlockIndex) -> None:
    """Fill the index of a block."""
    n_dense, bits, list_starts, listed = index.n_dense, index.bits, index.list_starts, index.listed
    bits[:, :] = _ZERO
    list_starts[:] = 0
    for place in range(first, stop):
        word = (place - first) >> 6
        bit = _ONE << np.uint64((place - first) & 63)
        for e in range(starts[place], starts[place + 1]):
            if items[e] < n_dense:
                bits[items[e], word] |= bit
            else:
                list_starts[items[e] - n_dense + 2] += 1
    for i in range(2, len(list_starts)):
        list_starts[i] += list_starts[i - 1]
    for place in range(first, stop):
        for e in range(starts[place], starts[place + 1]):
            if items[e] >= n_dense:
                slot = items[e] - n_dense + 1
                listed[list_starts[slot]] = place - first
                list_starts[slot] += 1


# Rows are given by where they begin, as unsigned numbers: a view of a row would be counted as a reference each time,
# and a signed index is looked at for being negative, so that the loop would gather word by word.
@compiled
def _add_seven(
    bits: Words,
    a: np.uint64,
    b: np.uint64,
    c: np.uint64,
    d: np.uint64,
    e: np.uint64,
    f: np.uint64,
    g: np.uint64,
    n_words: int,
    digits: Words,
) -> None:
    """Add seven rows of bits to the first six digits; row 0 takes what is carried on."""
    for w in range(n_words):
        at = np.uint64(w)
        x, y, z = bits[a + at], bits[b + at], bits[c + at]
        u, carry_1 = x ^ y ^ z, (x & y) | (z & (x ^ y))
        x, y, z = bits[d + at], bits[e + at], bits[f + at]
        v, carry_2 = x ^ y ^ z, (x & y) | (z & (x ^ y))
        z = bits[g + at]
        ones, carry_3 = u ^ v ^ z, (u & v) | (z & (u ^ v))
        twos = carry_1 ^ carry_2 ^ carry_3
        fours = (carry_1 & carry_2) | (carry_3 & (carry_1 ^ carry_2))
        x = digits[WORDS + w]
        digits[WORDS + w] = x ^ ones
        carry = x & ones
        x = digits[2 * WORDS + w]
        digits[2 * WORDS + w] = x ^ twos ^ carry
        carry = (x & twos) | (carry & (x ^ twos))
        x = digits[3 * WORDS + w]
        digits[3 * WORDS + w] = x ^ fours ^ carry
        carry = (x & fours) | (carry & (x ^ fours))
        x = digits[4 * WORDS + w]
        digits[4 * WORDS + w] = x ^ carry
        carry = x & carry
        x = digits[5 * WORDS + w]
        digits[5 * WORDS + w] = x ^ carry
        carry = x & carry
        x = digits[6 * WORDS + w]
        digits[6 * WORDS + w] = x ^ carry
        digits[w] = x & carry


@compiled
def _add_rows(
    items: Codes,
    begin: int,
    end: int,
    n_dense: int,
    bits: Words,
    n_words: int,
    n_digits: int,
    chosen: Words,
    digits: Words,
) -> None:
    """Count how many of a query's items each record of the block has, by their rows of bits."""
    n_rows = 0
    for e in range(begin, end):
        if items[e] < n_dense:
            chosen[n_rows] = items[e] * n_words
            n_rows += 1
    while n_rows % 7:
        chosen[n_rows] = n_dense * n_words
        n_rows += 1
    for digit in range(1, max(n_digits, 6) + 1):
        for w in range(n_words):
            digits[np.uint64(digit * WORDS + w)] = _ZERO
    for i in range(0, n_rows, 7):
        _add_seven(
            bits,
            chosen[i],
            chosen[i + 1],
            chosen[i + 2],
            chosen[i + 3],
            chosen[i + 4],
            chosen[i + 5],
            chosen[i + 6],
            n_words,
            digits,
        )
        for digit in range(7, n_digits + 1):
            for w in range(n_words):
                x, carry = digits[np.uint64(digit * WORDS + w)], digits[np.uint64(w)]
                digits[np.uint64(digit * WORDS + w)] = x ^ carry
                digits[np.uint64(w)] = x & carry


@compiled
def _add_lists(
    items: Codes, begin: int, end: int, n_dense: int, list_starts: Codes, listed: Places, digits: Words
) -> None:
    """Count the items that have lists: one is added to the digits of each record on the list."""
    for own in range(begin, end):
        item = items[own]
        if item >= n_dense:
            for e in range(list_starts[item - n_dense], list_starts[item - n_dense + 1]):
                at = WORDS + (np.int64(listed[e]) >> 6)
                carry = _ONE << np.uint64(listed[e] & 63)
                while carry:
                    x = digits[at]
                    digits[at] = x ^ carry
                    carry &= x
                    at += WORDS


@compiled
def _find_reached(digits: Words, n_digits: int, part: int, bound: int, reached: Words) -> bool:
    """Mark which records of a part have a count of at least `bound`, compared from the lowest digit on."""
    for w in range(PART):
        reached[w] = _FULL
    for i in range(n_digits):
        begin = np.uint64((i + 1) * WORDS + part * PART)
        or_too = _ZERO if (bound >> i) & 1 else _FULL
        for w in range(PART):
            x, so_far = digits[begin + np.uint64(w)], reached[w]
            reached[w] = (so_far & x) | ((so_far | x) & or_too)
    together = _ZERO
    for w in range(PART):
        together |= reached[w]
    return bool(together != _ZERO)


@compiled
def _offer_reached(
    digits: Words,
    n_digits: int,
    part: int,
    reached: Words,
    first: int,
    stop: int,
    q: int,
    sizes: Floats,
    rows: Codes,
    is_cosine: bool,
    scores: Floats,
    found: Codes,
    seat: int,
) -> bool:
    """Offer the records that were marked to the heap of a query; whether it changed."""
    is_changed = False
    for w in range(PART):
        left = reached[w]
        while left:
            lowest = left & (~left + _ONE)
            left ^= lowest
            bit = _count_ones(lowest - _ONE)
            place = first + (part * PART + w) * 64 + np.int64(bit)
            if place == q or place >= stop:
                continue
            count = 0
            for i in range(n_digits):
                count |= np.int64((digits[(i + 1) * WORDS + part * PART + w] >> bit) & _ONE) << i
            size = sizes[place]
            score = count * count / size if is_cosine else 2.0 * count - size
            is_changed |= offer(scores, found, seat, score, rows[place])
    return is_changed


@compiled
def _common_bound(digits: Words, n_parts: int, n_digits: int, wanted: int, reached: Words) -> int:
    """The largest count that at least `wanted` records of the block reach."""
    bound = 0
    for i in range(n_digits - 1, -1, -1):
        raised = bound | (1 << i)
        n_reached = _ZERO
        for part in range(n_parts):
            if _find_reached(digits, n_digits, part, raised, reached):
                for w in range(PART):
                    n_reached += _count_ones(reached[w])
        if n_reached >= np.uint64(wanted):
            bound = raised
    return bound


@compiled
def _find_bounds(worst: float, n_own: int, least: Floats, most: Floats, is_cosine: bool, bounds: Ints) -> bool:
    """The smallest count by which a record of each part can come up to the worst of the best; whether any can."""
    n_parts = len(bounds)
    is_possible = False
    root = math.sqrt(max(worst, 0.0)) * (1.0 - SLACK)
    for part in range(n_parts):
        bound = root * math.sqrt(least[part]) if is_cosine else (worst + least[part]) / 2.0
        if bound > min(float(n_own), most[part]):
            bounds[part] = -1
        else:
            bounds[part] = math.ceil(max(bound, 0.0))
            is_possible = True
    return is_possible


@compiled
def scan_bits(
    starts: Ints,
    items: Codes,
    sizes: Floats,
    rows: Codes,
    queries: Ints,
    seats: Ints,
    first: int,
    stop: int,
    index: BlockIndex,
    is_cosine: bool,
    best_scores: Floats,
    best_rows: Codes,
) -> None:
    """Offer the records of one block to each query: sets of items.

    Parameters as of `scan_sums`; sizes are numbers of items, and the block and its index are by `fill_bits`. Three
    things spare work: a block is left out where its records are too short or too long for any common items to
    suffice; counts too small for the sizes of a part are dropped 512 at a time; and the first block that a query
    meets is tried with the largest counts alone.
    """
    n_dense, list_starts, listed = index.n_dense, index.list_starts, index.listed
    n_block = stop - first
    n_words = index.bits.shape[1]
    n_parts = n_words // PART
    rows_of_bits = index.bits.reshape(index.bits.size)
    k = best_scores.shape[1]
    least, most = np.zeros(n_parts), np.full(n_parts, -1.0)
    for i in range(n_block):
        part, size = i // (64 * PART), sizes[first + i]
        least[part] = size if most[part] < 0 else min(least[part], size)
        most[part] = max(most[part], size)
    longest = 0
    for q in queries:
        longest = max(longest, starts[q + 1] - starts[q])
    chosen = np.empty(longest + 7, np.uint64)
    digits = np.empty((DIGITS + 1) * WORDS, np.uint64)
    reached = np.empty(PART, np.uint64)
    bounds = np.empty(n_parts, np.int64)
    trial_scores, trial_rows = np.empty((1, k)), np.empty((1, k), np.int32)
    for at_query in range(len(queries)):
        q, seat = queries[at_query], seats[at_query]
        begin, end = starts[q], starts[q + 1]
        n_own = end - begin
        worst = best_scores[seat, 0]
        if not _find_bounds(worst, n_own, least, most, is_cosine, bounds):
            continue
        n_digits = 1
        while n_own >> n_digits:
            n_digits += 1
        _add_rows(items, begin, end, n_dense, rows_of_bits, n_words, n_digits, chosen, digits)
        _add_lists(items, begin, end, n_dense, list_starts, listed, digits)
        # All of the first block would be offered. So those with the largest counts are tried first, in a heap of their
        # own, and leave a bound for the rest. One more than k of them: the query may be one.
        is_trial = worst == -np.inf and n_block > k
        if is_trial:
            bounds[:] = _common_bound(digits, n_parts, n_digits, k + 1, reached)
            trial_scores[:, :] = -np.inf
        while True:
            is_changed = False
            for part in range(n_parts):
                if is_changed and not is_trial:
                    _find_bounds(max(worst, best_scores[seat, 0]), n_own, least, most, is_cosine, bounds)
                is_changed = False
                if bounds[part] >= 0 and _find_reached(digits, n_digits, part, bounds[part], reached):
                    is_changed = _offer_reached(
                        digits,
                        n_digits,
                        part,
                        reached,
                        first,
                        stop,
                        q,
                        sizes,
                        rows,
                        is_cosine,
                        trial_scores if is_trial else best_scores,
                        trial_rows if is_trial else best_rows,
                        0 if is_trial else seat,
                    )
            if not is_trial:
                break
            is_trial = False
            worst = trial_scores[0, 0]
            _find_bounds(worst, n_own, least, most, is_cosine, bounds)
