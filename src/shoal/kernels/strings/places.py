"""How much strings agree with others at the same relative place, rare symbols counting more."""

from __future__ import annotations

import numpy as np

from shoal.arrays import Codes, Floats, Ints
from shoal.kernels.compile import compiled_beside


def _agreement_by_arrays(
    targets: Codes, target_starts: Ints, symbols: Codes, starts: Ints, weights: Floats, n_best: int
) -> Floats:
    """See `place_agreement`; cumulated sums are made one after another, as there."""
    out = np.empty(len(target_starts) - 1)
    lengths = np.diff(target_starts)
    for n in np.unique(lengths).tolist():
        covering = starts[:-1] + (2 * np.arange(n)[:, None] + 1) * np.diff(starts) // (2 * n)
        others = symbols[covering]
        for i in np.flatnonzero(lengths == n).tolist():
            own = targets[target_starts[i] : target_starts[i + 1], None]
            totals = np.where(others == own, weights[own], 0.0).cumsum(axis=0)[-1] / n
            best = np.sort(np.append(np.zeros(n_best), totals))[-n_best:]
            out[i] = best.cumsum()[-1] / n_best
    return out


@compiled_beside(_agreement_by_arrays)
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
