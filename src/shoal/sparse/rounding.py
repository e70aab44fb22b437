"""The grid that components of real records are rounded to.

Not in the paper. A component of real weights has up to 53 significant bits, and a sum of few distinct weights with
unknown signs can be decomposed: one component alone may then determine the record. Rounded to a grid as wide as two
typical weights, a component tells about as much as one of a set, whose components have step 2.
"""

from __future__ import annotations

import numpy as np

from shoal.data.sparse.records import Sparse


def step_of(records: Sparse) -> float:
    """The power of two nearest, on the scale of logarithms, to twice the median of absolute weights; 1 for integers.

    Examples
    --------
    >>> records = Sparse(np.array([0, 2]), np.array([0, 1], np.int32), np.array([0.3, 0.2]), ("a", "b"))
    >>> step_of(records)
    0.5
    """
    if records.is_integral or not len(records.weights):
        return 1.0
    exponent = np.rint(np.log2(2 * np.median(np.abs(records.weights))))
    return float(2.0**exponent)
