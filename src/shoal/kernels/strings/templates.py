"""Templates: every string stretched or shrunk to one length, as sparse shares of symbols at each position.

A *feature* is a symbol at a position. Only features that occur get a number, position by position, so what is counted
by feature grows with the data and not with length times alphabet.
"""

from __future__ import annotations

import numpy as np

from shoal.arrays import Codes, Ints, Singles
from shoal.kernels.compile import compiled


@compiled
def add_window(symbols: Codes, begin: int, end: int, unit: int, found: Codes, covered: Ints) -> int:
    """List the symbols that the window [begin / unit, end / unit) of a string covers, and for how many units.

    Returns how many are listed, in the order in which they come.
    """
    n_found = 0
    for t in range(begin // unit, (end + unit - 1) // unit):
        share = min((t + 1) * unit, end) - max(t * unit, begin)
        at = 0
        while at < n_found and found[at] != symbols[t]:
            at += 1
        if at == n_found:
            found[at] = symbols[t]
            covered[at] = 0
            n_found += 1
        covered[at] += share
    return n_found


@compiled
def count_entries(symbols: Codes, starts: Ints, length: int, widest: int) -> Ints:
    """Where the entries of each template will begin."""
    n = len(starts) - 1
    out = np.zeros(n + 1, np.int64)
    found, covered = np.empty(widest, np.int32), np.empty(widest, np.int64)
    for j in range(n):
        string = symbols[starts[j] : starts[j + 1]]
        own = len(string)
        n_entries = 0
        for i in range(length):
            n_entries += add_window(string, i * own, (i + 1) * own, length, found, covered)
        out[j + 1] = out[j] + n_entries
    return out


@compiled
def fill_templates(
    symbols: Codes,
    starts: Ints,
    length: int,
    widest: int,
    n_symbols: int,
    entry_starts: Ints,
    features: Codes,
    weights: Singles,
    feature_symbols: Codes,
    position_starts: Ints,
) -> int:
    """Fill the entries of all templates and number the features; return how many there are.

    Positions are the outer loop: one array of the size of the alphabet then serves them all. ``weights`` may be empty
    where every position holds one symbol.
    """
    n = len(starts) - 1
    found, covered = np.empty(widest, np.int32), np.empty(widest, np.int64)
    feature_of = np.full(n_symbols, -1, np.int32)
    cursor = entry_starts[:-1].copy()
    n_features = 0
    for i in range(length):
        position_starts[i] = n_features
        for j in range(n):
            string = symbols[starts[j] : starts[j + 1]]
            own = len(string)
            n_found = add_window(string, i * own, (i + 1) * own, length, found, covered)
            for e in range(n_found):
                symbol = found[e]
                if feature_of[symbol] < position_starts[i]:
                    feature_of[symbol] = n_features
                    feature_symbols[n_features] = symbol
                    n_features += 1
                features[cursor[j]] = feature_of[symbol]
                if len(weights) > 0:
                    weights[cursor[j]] = covered[e] / own
                cursor[j] += 1
    position_starts[length] = n_features
    return n_features


@compiled
def find_features(symbols: Codes, starts: Ints, length: int, widest: int, first: Ints) -> None:
    """Where each symbol comes first at each position: the string, and the place in its window, as one number.

    ``first`` (length, n_symbols) is -1 all over before; it stays so where a position never holds a symbol.
    """
    found, covered = np.empty(widest, np.int32), np.empty(widest, np.int64)
    for j in range(len(starts) - 1):
        string = symbols[starts[j] : starts[j + 1]]
        own = len(string)
        for i in range(length):
            n_found = add_window(string, i * own, (i + 1) * own, length, found, covered)
            for e in range(n_found):
                if first[i, found[e]] < 0:
                    first[i, found[e]] = j * widest + e


@compiled
def fill_numbered(
    symbols: Codes,
    starts: Ints,
    length: int,
    widest: int,
    numbers: Codes,
    entry_starts: Ints,
    features: Codes,
    weights: Singles,
) -> None:
    """Fill the entries of templates by features that have numbers already, ``numbers[position, symbol]``."""
    found, covered = np.empty(widest, np.int32), np.empty(widest, np.int64)
    for j in range(len(starts) - 1):
        string = symbols[starts[j] : starts[j + 1]]
        own = len(string)
        at = entry_starts[j]
        for i in range(length):
            n_found = add_window(string, i * own, (i + 1) * own, length, found, covered)
            for e in range(n_found):
                features[at] = numbers[i, found[e]]
                if len(weights) > 0:
                    weights[at] = covered[e] / own
                at += 1
