"""In which ways of having sensitive values would Mondrian not have cut a group?"""

from __future__ import annotations

import numpy as np

from shoal.arrays import Codes, Ints, Mask
from shoal.kernels.compile import compiled
from shoal.kernels.tables.diversity import LimitArrays
from shoal.kernels.tables.mondrian import Scratch, Space, best_cut


@compiled
def try_ways(
    space: Space, limits: LimitArrays, k: int, codes: Codes, ways: Ints, scratch: Scratch, is_uncut: Mask
) -> None:
    """Note of each way whether strict cuts leave the group whole.

    Parameters
    ----------
    limits : LimitArrays
        Whose codes are overwritten.
    codes : int32 array (n_limits, n_records)
        What each record holds.
    ways : int64 array (n_ways, n_records)
        The record that each person has.
    is_uncut : bool array (n_ways,)
        Filled.
    """
    n = space.ranks.shape[1]
    rows = np.arange(n).astype(np.int32)
    widths = np.empty(len(space.ranks), np.float64)
    begin = np.int64(0)
    for way in range(len(ways)):
        for j in range(len(codes)):
            for i in range(n):
                limits.codes[j, i] = codes[j, ways[way, i]]
        is_uncut[way] = n < 2 * k or best_cut(space, limits, k, True, rows, begin, n, widths, scratch) < 0
