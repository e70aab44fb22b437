"""Simulated annealing over groups of k to 2k-1 records, by the moves of `shoal.kernels.tables.local_search`.

The temperature is a multiple of a scale that each record has of its own: where records lie dense, losses are small, and
one temperature for all would leave those places molten until the sparse ones are long frozen.

The records propose in turn, and a proposal is written out here rather than called: what it costs is mostly calls,
random numbers and logarithms, not the pass over the columns. One random word chooses the move; a second one, and its
logarithm, is taken only where the loss would grow by little enough.

References
----------
S. Kirkpatrick, C. D. Gelatt, M. P. Vecchi, "Optimization by simulated annealing", Science 220, 1983.
"""

from __future__ import annotations

import numpy as np

from shoal.arrays import Floats, Words
from shoal.kernels.compile import compiled
from shoal.kernels.tables.local_search import (
    SearchGroups,
    entering_cost,
    leaving_gain,
    relocate,
    swap_differing,
)

SPREAD = np.uint64(0x2545F4914F6CDD1D)
HALF = np.uint64(32)
LOW = np.uint64(0xFFFFFFFF)
RARE = np.uint64(2**54)  # a word is below it once in 1024 times
RARE_LIMIT = 7.0  # more than 10 log 2: what a logarithm reaches for such words only


@compiled
def _turn(word: np.uint64) -> np.uint64:
    """The next state of xorshift64*; any but 0."""
    word ^= word >> np.uint64(12)
    word ^= word << np.uint64(25)
    word ^= word >> np.uint64(27)
    return word


@compiled
def anneal(groups: SearchGroups, state: Words, heat: float, scale: Floats, n_steps: int) -> int:
    """Propose ``n_steps`` relocations and swaps at one temperature, row by row; return how many were made.

    A move of record x that changes the loss by c is made with probability ``min(1, exp(-c / (heat * scale[x])))``.
    """
    points, sums, labels, sizes, near = groups.points, groups.sums, groups.labels, groups.sizes, groups.near
    members, place, weights = groups.members, groups.place, groups.weights
    n_rows, k, full, n_metric = len(labels), groups.k, 2 * groups.k - 1, groups.n_metric
    n_listed, is_mixed = np.uint64(near.shape[1]), groups.n_metric < len(groups.weights)
    shares = 1.0 / np.maximum(1, np.arange(full + 2))
    word, n_made, x = state[0], 0, -1
    for _ in range(n_steps):
        x = x + 1 if x + 1 < n_rows else 0
        word = _turn(word)
        bits = word * SPREAD
        a, b = np.int64(labels[x]), np.int64(labels[near[x, np.int64(((bits & LOW) * n_listed) >> HALF)]])
        if a == b:
            continue
        of_a, of_b = sizes[a], sizes[b]
        n_ways = of_b if of_a <= k or of_b >= full else of_b + 1
        way = np.int64(((bits >> HALF) * np.uint64(n_ways)) >> HALF)
        share_a, share_b = shares[of_a], shares[of_b]
        z = np.int64(-1)
        along, square = 0.0, 0.0
        if way < of_b:
            z = np.int64(members[b, way])
            for j in range(n_metric):
                step = points[z, j] - points[x, j]
                along += step * (sums[b, j] * share_b - sums[a, j] * share_a)
                square += step * step
            change = 2.0 * along - square * (share_a + share_b)
            if is_mixed:
                change += swap_differing(points, weights, n_metric, members, sizes, x, z, a, b)
        elif is_mixed:
            change = entering_cost(groups, x, b) - leaving_gain(groups, x)
        else:
            for j in range(n_metric):
                step = points[x, j] - sums[b, j] * share_b
                along += step * step
                step = points[x, j] - sums[a, j] * share_a
                square += step * step
            change = along * of_b * shares[of_b + 1] - square * of_a * shares[of_a - 1]
        if change > 0.0:
            warmth = heat * scale[x]
            word = _turn(word)
            bits = word * SPREAD
            if change > RARE_LIMIT * warmth and bits >= RARE:
                continue
            if change >= -warmth * np.log((np.float64(bits >> np.uint64(11)) + 1.0) * 2.0**-53):
                continue
        n_made += 1
        if is_mixed:
            relocate(groups, x, b)
            if z >= 0:
                relocate(groups, z, a)
        elif z >= 0:
            for j in range(n_metric):
                step = points[z, j] - points[x, j]
                sums[a, j] += step
                sums[b, j] -= step
            at = place[x]
            members[a, at], members[b, way] = z, x
            place[x], place[z] = way, at
            labels[x], labels[z] = b, a
        else:
            for j in range(n_metric):
                sums[a, j] -= points[x, j]
                sums[b, j] += points[x, j]
            last, at = members[a, of_a - 1], place[x]
            members[a, at] = last
            place[last] = at
            members[b, of_b] = x
            place[x] = of_b
            labels[x] = b
            sizes[a], sizes[b] = of_a - 1, of_b + 1
    state[0] = word
    return n_made
