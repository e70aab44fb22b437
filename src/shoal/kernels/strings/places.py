"""How much strings agree with others at the same relative place, rare symbols counting more."""

from __future__ import annotations

import numpy as np

from shoal.arrays import Codes, Floats, Ints
from shoal.kernels.compile import compiled


@compiled
def place_agreement(
    targets: Codes, target_starts: Ints, symbols: Codes, starts: Ints, weights: Floats, n_best: int
) -> Floats:
    """For each target the mean agreement with the others that agree best.

    The agreement is the sum of the weights of symbols that the other has too at the place that covers the middle of
    theirs, divided by the length of the target.

    Parameters
    ----------
    targets, target_starts, symbols, starts : arrays
        Targets and others, one after another; none is empty.
    weights : float64 array
        Of each symbol.
    n_best : int
        How many of the others are looked at; there are at least so many.
    """
    out = np.empty(len(target_starts) - 1)
    best = np.empty(n_best)
    for i in range(len(out)):
        begin, n = target_starts[i], target_starts[i + 1] - target_starts[i]
        best[:] = 0.0
        for j in range(len(starts) - 1):
            at, m = starts[j], starts[j + 1] - starts[j]
            total = 0.0
            for t in range(n):
                symbol = targets[begin + t]
                if symbols[at + (2 * t + 1) * m // (2 * n)] == symbol:
                    total += weights[symbol]
            total /= n
            if total > best[0]:
                best[0] = total
                x = 0
                while x + 1 < n_best and best[x] > best[x + 1]:
                    best[x], best[x + 1] = best[x + 1], best[x]
                    x += 1
        out[i] = best.mean()
    return out
