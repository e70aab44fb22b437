"""Simulated annealing over groups of k to 2k-1 records, by the moves of `shoal.kernels.local_search`.

The temperature is a multiple of a scale that each record has of its own: where records lie dense, losses are small, and
one temperature for all would leave those places molten until the sparse ones are long frozen.

References
----------
S. Kirkpatrick, C. D. Gelatt, M. P. Vecchi, "Optimization by simulated annealing", Science 220, 1983.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from shoal.kernels.box_tree import Floats
from shoal.kernels.compile import compiled
from shoal.kernels.local_search import (
    Groups,
    entering_cost,
    leaving_gain,
    relocate,
    swap_differing,
    swap_spread,
)

Words = npt.NDArray[np.uint64]


@compiled
def _draw(state: Words) -> float:
    """A uniform number in (0, 1]: xorshift64*, whose state is the argument; any state but 0."""
    x = state[0]
    x ^= x >> np.uint64(12)
    x ^= x << np.uint64(25)
    x ^= x >> np.uint64(27)
    state[0] = x
    number: float = (np.float64((x * np.uint64(0x2545F4914F6CDD1D)) >> np.uint64(11)) + 1.0) * 2.0**-53
    return number


@compiled
def anneal(groups: Groups, state: Words, heat: float, scale: Floats, n_steps: int) -> int:
    """Propose ``n_steps`` relocations and swaps at one temperature; return how many were made.

    A move of record x that changes the loss by c is made with probability ``min(1, exp(-c / (heat * scale[x])))``.
    """
    points, sums, labels, sizes, near = groups.points, groups.sums, groups.labels, groups.sizes, groups.near
    n_rows, n_listed, k, full = len(labels), near.shape[1], groups.k, 2 * groups.k - 1
    n_metric, is_mixed = groups.n_metric, groups.n_metric < len(groups.weights)
    n_made = 0
    for _ in range(n_steps):
        x = min(int(_draw(state) * n_rows), n_rows - 1)
        a, b = labels[x], labels[near[x, min(int(_draw(state) * n_listed), n_listed - 1)]]
        if a == b:
            continue
        limit = -heat * scale[x] * np.log(_draw(state))
        size = sizes[b]
        n_ways = size if sizes[a] <= k or size >= full else size + 1
        way = min(int(_draw(state) * n_ways), n_ways - 1)
        partner = -1
        if way == size:
            change = entering_cost(groups, x, b) - leaving_gain(groups, x)
        else:
            partner = groups.members[b, way]
            change = swap_spread(points, sums, n_metric, x, partner, a, b, sizes)
            if is_mixed:
                change += swap_differing(groups, x, partner, a, b)
        if change < limit:
            n_made += 1
            row, goal = x, b
            while row >= 0:
                relocate(groups, row, goal)
                row, goal = partner, a
                partner = -1
    return n_made
