"""The order that sorts keys, equal ones as they stand."""

from __future__ import annotations

from typing import Any

import numpy as np

from shoal.arrays import Ints
from shoal.kernels.compile import compiled_beside

_RUN = 16


def _with_numpy(keys: Any) -> Ints:
    return np.argsort(keys, kind="stable")


@compiled_beside(_with_numpy)
def stable_order(keys: Any) -> Ints:
    """What ``np.argsort(keys, kind="stable")`` gives of numbers; numba's own takes some seconds to compile."""
    n = len(keys)
    order, spare = np.arange(n), np.empty(n, np.int64)
    for low in range(0, n, _RUN):
        for i in range(low + 1, min(low + _RUN, n)):
            row, j = order[i], i
            while j > low and keys[order[j - 1]] > keys[row]:
                order[j] = order[j - 1]
                j -= 1
            order[j] = row
    width = _RUN
    while width < n:
        for low in range(0, n, 2 * width):
            middle, high = min(low + width, n), min(low + 2 * width, n)
            a, b = low, middle
            for at in range(low, high):
                if a < middle and (b >= high or keys[order[a]] <= keys[order[b]]):
                    spare[at] = order[a]
                    a += 1
                else:
                    spare[at] = order[b]
                    b += 1
        order, spare = spare, order
        width *= 2
    return order
