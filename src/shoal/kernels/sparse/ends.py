"""A loop that keeps the least values of each key."""

from __future__ import annotations

from shoal.arrays import Floats, Ints
from shoal.kernels.compile import compiled


@compiled
def keep_least(ends: Floats, keys: Ints, values: Floats) -> None:
    """Put values into the rows of their keys, ascending, as far as there is room; what is still free is infinite."""
    n = ends.shape[1]
    for i in range(len(keys)):
        row, value = keys[i], values[i]
        if value >= ends[row, n - 1]:
            continue
        at = n - 1
        while at > 0 and ends[row, at - 1] > value:
            ends[row, at] = ends[row, at - 1]
            at -= 1
        ends[row, at] = value
