"""Whether expected counts of sensitive values satisfy a model of diversity.

The counts of `kernels.diversity` are whole; those that an attacker expects after joining slices are not. Whole ones are
compared exactly here too; others with a margin towards refusing, which is far above what rounding can do to them.
"""

from __future__ import annotations

import numpy as np

from shoal.arrays import Codes, Floats
from shoal.kernels.compile import compiled
from shoal.kernels.tables.diversity import (
    ALPHA,
    DISTINCT,
    ENTROPY,
    EQUAL,
    HIERARCHICAL,
    ORDERED,
    PROBABILISTIC,
    LimitArrays,
    gain_of,
    hierarchical_distance,
    most_gain,
    ordered_distance,
    tally_values,
)

MARGIN = 1e-9
_ROUNDING = 1e-12


@compiled
def _tail_beyond(weights: Floats, n_values: int, n_top: int) -> float:
    """Sum of all but the n_top largest; the weights are put out of order."""
    for place in range(n_top if n_top < n_values else n_values):
        largest = place
        for i in range(place + 1, n_values):
            if weights[i] > weights[largest]:
                largest = i
        weights[place], weights[largest] = weights[largest], weights[place]
    tail = 0.0
    for i in range(n_top, n_values):
        tail += weights[i]
    return tail


@compiled
def _shares_hold(limits: LimitArrays, j: int, codes: Codes, weights: Floats, size: int, n: float, slack: float) -> bool:
    """l-diversity in its four senses, and the share alpha."""
    model = limits.models[j]
    bound = limits.parameters[j, 0]
    tally = np.empty(size, np.float64)
    n_values, largest, unknown = tally_values(limits, j, codes, weights, np.int64(0), size, tally)
    if model == DISTINCT:
        return bool(n_values >= bound)
    if n_values == 0:
        return False
    if unknown >= 0:
        tally[largest] += weights[unknown]
    top = tally[largest]
    if model == PROBABILISTIC:
        return bool(n / top >= bound * (1.0 + slack))
    if model == ALPHA:
        return bool(top / n <= bound * (1.0 - slack))
    if model == ENTROPY:
        entropy = 0.0
        even = True
        for i in range(n_values):
            even = even and tally[i] == top
            entropy -= tally[i] / n * np.log(tally[i] / n)
        return bool(n_values >= bound if even else entropy - np.log(bound) > max(slack, _ROUNDING))
    tail = _tail_beyond(tally, n_values, int(bound) - 1)
    return bool(tail > 0.0 and top / tail < limits.parameters[j, 1] * (1.0 - slack))


@compiled
def _gains_hold(limits: LimitArrays, j: int, codes: Codes, weights: Floats, size: int, n: float, slack: float) -> bool:
    """Total variation, and the relative gain beta."""
    is_equal = limits.models[j] == EQUAL
    gained = 0.0
    for i in range(size):
        gain, expected = gain_of(limits, j, codes[i], weights[i], n)
        if gain > 0.0:
            gained += gain
            if not is_equal and gain / expected > most_gain(limits, j, codes[i]) * (1.0 - slack):
                return False
    total = float(limits.totals[j])
    return bool(not is_equal or gained <= limits.parameters[j, 0] * (n * total) * (1.0 - slack))


@compiled
def weights_satisfy(
    limits: LimitArrays, j: int, codes: Codes, weights: Floats, size: int, n: float, is_whole: bool
) -> bool:
    """Whether expected counts satisfy limit j.

    Parameters
    ----------
    limits : LimitArrays
    codes, weights : int32 and float64 arrays
        Their first `size` entries: sensitive values, ascending, and the expected count of each; it may be 0.
    n : float
        The sum of the weights, above 0.
    is_whole : bool
        Whether every weight is a whole number below 2**53, so that sums of them are exact.
    """
    slack = 0.0 if is_whole else MARGIN
    model = limits.models[j]
    if model <= ALPHA:
        return _shares_hold(limits, j, codes, weights, size, n, slack)
    if model == ORDERED:
        unit = n * limits.below[limits.starts[j + 1] - 1] * (limits.starts[j + 1] - limits.starts[j] - 1)
        work = ordered_distance(limits, j, codes, weights, np.int64(0), size, n)  # type: ignore[arg-type]  # of floats
        return bool(work <= limits.parameters[j, 0] * unit * (1.0 - slack))
    if model == HIERARCHICAL:
        unit = n * limits.below[limits.starts[j + 1] - 1] * limits.heights[j]
        work = hierarchical_distance(limits, j, codes, weights, np.int64(0), size, n)  # type: ignore[arg-type]  # too
        return bool(work <= limits.parameters[j, 0] * unit * (1.0 - slack))
    return _gains_hold(limits, j, codes, weights, size, n, slack)
