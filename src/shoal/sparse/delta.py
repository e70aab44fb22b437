"""delta-anonymity: how many components leave the usual estimate of every attribute a variance of delta.

The estimate of attribute i from r components has the variance (|x|^2 - x_i^2) / r, smallest for the largest weight. The
paper's Fig. 1 asks for the smallest r that satisfies the inequality, which is always 1; the largest is meant.

**Guarantee**: the usual, unbiased estimate of each attribute, for whoever holds the key, has at least the variance
delta. **Not protected**: other estimates. The linear one of least mean square error gives up being right on average for
what is known of attributes beforehand, and is far nearer (`shoal.attack.sparse.LinearEstimate`); sparse recovery solves
for all attributes at once (`shoal.sparse.recovery_cap`).

References
----------
C. C. Aggarwal, P. S. Yu, "On privacy-preservation of text and sparse binary data with sketches", SDM 2007,
Definitions 1 and 2, Fig. 1.
"""

from __future__ import annotations

import numpy as np

from shoal.arrays import Floats, Ints
from shoal.data.sparse.records import Sparse
from shoal.errors import PolicyError

# Of the quotient, towards fewer components, so that no rounding takes a variance below delta. An exact tie loses one
# component by it: Definition 1 says "larger than" in words, "at least" in its formula.
SLACK = 1e-12
MOST = 2**31 - 1


def delta_counts(records: Sparse, delta: float) -> Ints:
    """The most components of each record under delta-anonymity; 0 where even one is too many.

    Examples
    --------
    >>> records = Sparse(np.array([0, 3, 4]), np.array([0, 1, 2, 0], np.int32), np.ones(4, np.int64), ("a", "b", "c"))
    >>> delta_counts(records, 0.3)
    array([6, 0])
    """
    if isinstance(delta, bool) or not isinstance(delta, int | float | np.number) or not 0 < delta < np.inf:
        raise PolicyError(f"delta = {delta!r} is not possible; give a number above 0, such as 0.5")
    room = _all_but_largest(records) / delta  # Eq. (2.7)
    return np.floor(np.clip(room * (1 - SLACK), 0, MOST)).astype(np.int64)


def _all_but_largest(records: Sparse) -> Floats:
    """|x|^2 - max x_i^2 as a sum: beside one weight of 2^29, the difference would lose all that the others are."""
    if records.is_binary:
        return np.maximum(records.sizes - 1, 0).astype(np.float64)
    squares = records.weights.astype(np.float64) ** 2
    filled = records.sizes > 0
    if filled.any():
        largest = np.maximum.reduceat(squares, records.starts[:-1][filled])
        places = np.flatnonzero(squares == np.repeat(largest, records.sizes[filled]))
        first = np.unique(np.searchsorted(records.starts, places, side="right"), return_index=True)[1]
        squares[places[first]] = 0.0
    return records.sums(squares)
