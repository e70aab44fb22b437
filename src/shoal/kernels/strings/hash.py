"""Fingerprints of strings: 64 bits of their symbols in order, each symbol given by a 64-bit key of its own."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shoal.arrays import Codes, Ints, Words
from shoal.kernels.bisect import first_not_below
from shoal.kernels.compile import compiled, compiled_beside

BASES = (np.uint64(0xCBF29CE484222325), np.uint64(0x9E3779B97F4A7C15))
_FACTOR = np.uint64(0xD6E8FEB86659FD93)
_HALF = np.uint64(32)


def _fingerprint_by_numbers(symbols: Any, begin: int, end: int, keys: Any, basis: np.uint64) -> np.uint64:
    """See `fingerprint`, with Python's own numbers."""
    word, factor, key_of = int(basis), int(_FACTOR), memoryview(keys)
    for symbol in memoryview(symbols)[begin:end]:
        key = key_of[symbol]
        if key:
            word = (word ^ key) * factor & 0xFFFFFFFFFFFFFFFF
            word ^= word >> 32
    made: np.uint64 = np.uint64(word)
    return made


@compiled_beside(_fingerprint_by_numbers)
def fingerprint(symbols: Codes, begin: int, end: int, keys: Words, basis: np.uint64) -> np.uint64:
    """The fingerprint of one string; another basis gives an independent one. Symbols of the key 0 are passed over."""
    word = basis
    for t in range(begin, end):
        if keys[symbols[t]] == 0:
            continue
        word = (word ^ keys[symbols[t]]) * _FACTOR
        word ^= word >> _HALF
    return word


@compiled
def fingerprints(symbols: Codes, starts: Ints, keys: Words, basis: np.uint64) -> Words:
    """The fingerprint of every string."""
    out = np.empty(len(starts) - 1, np.uint64)
    for row in range(len(out)):
        out[row] = fingerprint(symbols, starts[row], starts[row + 1], keys, basis)
    return out


@compiled
def holds(ascending: Words, word: np.uint64) -> bool:
    """Whether a sorted array holds a word."""
    place = first_not_below(ascending, 0, len(ascending), word)
    return place < len(ascending) and ascending[place] == word


class Unwanted(NamedTuple):
    """Strings that must not be drawn."""

    words: Words  # their fingerprints, ascending
    keys: Words  # of each symbol, by which these were made
    basis: np.uint64


@compiled
def is_unwanted(unwanted: Unwanted, symbols: Codes, begin: int, end: int) -> bool:
    """Whether one string has the fingerprint of one of these."""
    return holds(unwanted.words, fingerprint(symbols, begin, end, unwanted.keys, unwanted.basis))


@compiled
def count_holders(symbols: Codes, starts: Ints, n_symbols: int) -> Ints:
    """How many strings hold each symbol at least once."""
    counts = np.zeros(n_symbols, np.int64)
    last = np.full(n_symbols, -1, np.int64)
    for row in range(len(starts) - 1):
        for t in range(starts[row], starts[row + 1]):
            symbol = symbols[t]
            if last[symbol] != row:
                last[symbol] = row
                counts[symbol] += 1
    return counts
