"""Which values the members of a class can have, each bounded from both sides."""

from __future__ import annotations

import numpy as np

from shoal.arrays import Ints, Mask
from shoal.kernels.compile import compiled


@compiled
def fits(low: Ints, high: Ints, values: Ints, member: int, place: int, used: Mask) -> bool:
    """Whether values, ascending, can be given out one each so that all lie in the bounds, and `member` gets `place`.

    Glover's rule: each value in turn goes to whom it is not too small for and whose upper bound is the least.
    """
    n = len(values)
    for i in range(n):
        used[i] = i == member
    for j in range(n):
        if j == place:
            continue
        best = -1
        for i in range(n):
            if not used[i] and low[i] <= values[j] and (best < 0 or high[i] < high[best]):
                best = i
        if best < 0 or high[best] < values[j]:
            return False
        used[best] = True
    return True


@compiled
def tighten(starts: Ints, members: Ints, values: Ints, lower: Ints, upper: Ints, most: int) -> bool:
    """Narrow the bounds of all members to the least and the greatest value that each can have; False if none fit.

    Parameters
    ----------
    starts : int64 array (n_classes + 1,)
        Where each class begins in `members` and in `values`.
    members : int64 array
        Members of each class, as places in `lower` and `upper`.
    values : int64 array
        What the members of each class have, ascending.
    lower, upper : int64 arrays
        Changed in place.
    most : int
        Larger classes are passed over.
    """
    for c in range(len(starts) - 1):
        n = starts[c + 1] - starts[c]
        if n > most:
            continue
        own = members[starts[c] : starts[c + 1]]
        held = values[starts[c] : starts[c + 1]]
        low, high = np.empty(n, np.int64), np.empty(n, np.int64)
        used = np.empty(n, np.bool_)
        for i in range(n):
            low[i], high[i] = lower[own[i]], upper[own[i]]
        if not fits(low, high, held, -1, -1, used):
            return False
        for i in range(n):
            j = 0
            while held[j] < low[i] or not fits(low, high, held, i, j, used):
                j += 1
            low[i] = held[j]
            j = n - 1
            while held[j] > high[i] or not fits(low, high, held, i, j, used):
                j -= 1
            high[i] = held[j]
            lower[own[i]], upper[own[i]] = low[i], high[i]
    return True
