"""Pseudo-strings of groups of templates: pick a member that has the last symbols, then a symbol of its next position.

A member is picked with the product of the weights of the last symbols in its template, and the symbol with its weight
at the next position; so a symbol q comes with probability ``O_s(context q) / O_(s-1)(context)`` and nothing is
tabulated.
"""

from __future__ import annotations

import numpy as np

from shoal.arrays import Codes, Floats, Ints, Mask, Singles, Words
from shoal.kernels.compile import compiled, compiled_beside
from shoal.kernels.strings.hash import Unwanted, is_unwanted

_SPREAD = np.uint64(0x2545F4914F6CDD1D)
_A, _B, _C, _TOP = np.uint64(12), np.uint64(25), np.uint64(27), np.uint64(11)
_ALL = 0xFFFFFFFFFFFFFFFF


def uniforms(state: Words, at: int, n: int) -> list[float]:
    """The next n numbers that `uniform` gives, with Python's own numbers."""
    word, spread, drawn = int(state[at]), int(_SPREAD), []
    for _ in range(n):
        word ^= word >> 12
        word ^= word << 25 & _ALL
        word ^= word >> 27
        drawn.append(((word * spread & _ALL) >> 11) * 2.0**-53)
    state[at] = word
    return drawn


def _uniform_by_numbers(state: Words, at: int) -> float:
    return uniforms(state, at, 1)[0]


@compiled_beside(_uniform_by_numbers)
def uniform(state: Words, at: int) -> float:
    """The next number of [0, 1) from xorshift64*; no state may be 0."""
    word = state[at]
    word ^= word >> _A
    word ^= word << _B
    word ^= word >> _C
    state[at] = word
    return float(np.float64((word * _SPREAD) >> _TOP) * 2.0**-53)


@compiled
def _find_positions(starts: Ints, features: Codes, position_starts: Ints, begin: int, end: int) -> Ints:
    """Where the entries of each position of each member begin."""
    length = len(position_starts) - 1
    out = np.empty((end - begin, length + 1), np.int64)
    for j in range(end - begin):
        at = starts[begin + j]
        stop = starts[begin + j + 1]
        for r in range(length):
            out[j, r] = at
            while at < stop and features[at] < position_starts[r + 1]:
                at += 1
        out[j, length] = stop
    return out


@compiled
def _weight_of(features: Codes, weights: Singles, begin: int, end: int, feature: int) -> float:
    for e in range(begin, end):
        if features[e] == feature:
            return weights[e] if len(weights) > 0 else 1.0
    return 0.0


@compiled
def _draw(
    features: Codes,
    weights: Singles,
    places: Ints,
    order: int,
    support: int,
    state: Words,
    at: int,
    chances: Floats,
    longer: Floats,
    chosen: Codes,
) -> None:
    """Draw the feature of every position of one pseudo-string."""
    n, length = len(places), places.shape[1] - 1
    for r in range(length):
        chances[:n] = 1.0
        total = float(n)
        for back in range(1, min(order - 1, r) + 1):
            n_carriers, sum_longer = 0, 0.0
            for j in range(n):
                longer[j] = 0.0
                if chances[j] > 0.0:
                    w = _weight_of(features, weights, places[j, r - back], places[j, r - back + 1], chosen[r - back])
                    if w > 0.0:
                        longer[j] = chances[j] * w
                        sum_longer += longer[j]
                        n_carriers += 1
            if n_carriers < support:
                break
            chances[:n] = longer[:n]
            total = sum_longer
        left = uniform(state, at) * total
        picked = -1
        for j in range(n):
            if chances[j] > 0.0:
                picked = j
                left -= chances[j]
                if left < 0.0:
                    break
        begin, end = places[picked, r], places[picked, r + 1]
        e = begin
        if end > begin + 1:
            left = uniform(state, at)
            while e < end - 1:
                left -= weights[e]
                if left < 0.0:
                    break
                e += 1
        chosen[r] = features[e]


@compiled
def generate_strings(
    starts: Ints,
    features: Codes,
    weights: Singles,
    feature_symbols: Codes,
    position_starts: Ints,
    group_starts: Ints,
    order: int,
    support: int,
    n_tries: int,
    unwanted: Unwanted,
    state: Words,
    out_starts: Ints,
    out: Codes,
    is_kept: Mask,
) -> int:
    """Draw one pseudo-string for every member of every group; return how many draws were rejected.

    Row i is drawn for the i-th template, from its group, and fills ``out[out_starts[i]:out_starts[i + 1]]``; where
    that is not the template's length, each place takes the symbol of the position that lies at its middle. A string
    that is unwanted is drawn again, ``n_tries`` times at most, and else not kept.
    """
    length = len(position_starts) - 1
    chosen = np.empty(length, np.int32)
    n_rejected = 0
    for group in range(len(group_starts) - 1):
        begin, end = group_starts[group], group_starts[group + 1]
        places = _find_positions(starts, features, position_starts, begin, end)
        chances, longer = np.empty(end - begin), np.empty(end - begin)
        for row in range(begin, end):
            is_kept[row] = False
            at, size = out_starts[row], out_starts[row + 1] - out_starts[row]
            for _ in range(n_tries):
                _draw(features, weights, places, order, support, state, group, chances, longer, chosen)
                for t in range(size):
                    out[at + t] = feature_symbols[chosen[(2 * t + 1) * length // (2 * size)]]
                if not is_unwanted(unwanted, out, at, at + size):
                    is_kept[row] = True
                    break
                n_rejected += 1
    return n_rejected
