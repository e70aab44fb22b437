"""Looking a value up in a sorted array."""

from __future__ import annotations

from bisect import bisect_left

import numpy as np

from shoal.arrays import Floats, Ints, Words
from shoal.kernels.compile import compiled_beside


def _with_python(ascending: Floats | Ints | Words, low: int, high: int, value: float | np.uint64) -> int:
    return bisect_left(ascending, value, low, high)


@compiled_beside(_with_python)
def first_not_below(ascending: Floats | Ints | Words, low: int, high: int, value: float | np.uint64) -> int:
    """The first of the entries from `low` to `high` that is not below a value; `high` where all are."""
    while low < high:
        middle = (low + high) // 2
        if ascending[middle] < value:
            low = middle + 1
        else:
            high = middle
    return low
