"""In which ways of having sensitive values would Mondrian not have cut a group?"""

from __future__ import annotations

import numpy as np

from shoal.arrays import Codes, Ints, Mask
from shoal.kernels.compile import compiled
from shoal.kernels.tables.diversity import LimitArrays
from shoal.kernels.tables.mondrian import Scratch, Space, best_cut, scratch_for


def is_cut(space: Space, limits: LimitArrays, k: int, rows: Codes) -> bool:
    """Whether a group would be cut if nothing but size mattered: with all limits taken away, of which the type is left.

    Not compiled, so that the cuts are compiled for one type.
    """
    none = limits._replace(codes=limits.codes[:0], models=limits.models[:0])
    is_uncut = np.empty(1, dtype=bool)
    one_way = np.arange(len(rows), dtype=np.int64)[np.newaxis]
    try_ways(space, none, k, rows, none.codes, one_way, scratch_for(space, limits, len(rows)), is_uncut)
    return not is_uncut[0]


@compiled
def try_ways(
    space: Space,
    limits: LimitArrays,
    k: int,
    rows: Codes,
    codes: Codes,
    ways: Ints,
    scratch: Scratch,
    is_uncut: Mask,
) -> None:
    """Note of each way whether strict cuts leave a group whole.

    Parameters
    ----------
    limits : LimitArrays
        Whose codes of the group are overwritten, and are as they were afterwards.
    rows : int32 array (n,)
        The group.
    codes : int32 array (n_limits, n)
        What each of its records holds.
    ways : int64 array (n_ways, n)
        The record that each person has.
    is_uncut : bool array (n_ways,)
        Filled.
    """
    n = len(rows)
    widths = np.empty(len(space.ranks), np.float64)
    begin, is_strict = np.int64(0), bool(np.bool_(True))  # typed: literal ones would compile the cuts again
    for way in range(len(ways)):
        for j in range(len(codes)):
            for i in range(n):
                limits.codes[j, rows[i]] = codes[j, ways[way, i]]
        is_uncut[way] = best_cut(space, limits, k, is_strict, rows, begin, n, widths, scratch) < 0
    for j in range(len(codes)):
        for i in range(n):
            limits.codes[j, rows[i]] = codes[j, i]
