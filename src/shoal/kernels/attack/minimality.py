"""In which ways of having sensitive values would Mondrian not have cut a group?"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from shoal.arrays import Codes, Ints, Mask
from shoal.kernels.compile import compiled_beside
from shoal.kernels.tables.diversity import DISTINCT, LimitArrays, satisfies
from shoal.kernels.tables.mondrian import (
    Scratch,
    Space,
    best_cut,
    find_cuts,
    node_width,
    scratch_for,
    take_widest,
    weigh_node,
)


def is_cut(space: Space, limits: LimitArrays, k: int, rows: Codes) -> bool:
    """Whether a group would be cut if nothing but size mattered: with all limits taken away, of which the type is left.

    Not compiled, so that the cuts are compiled for one type.
    """
    none = limits._replace(codes=limits.codes[:0], models=limits.models[:0])
    is_uncut = np.empty(1, dtype=bool)
    one_way = np.arange(len(rows), dtype=np.int64)[np.newaxis]
    try_ways(space, none, k, rows, none.codes, one_way, scratch_for(space, limits, len(rows)), is_uncut)
    return not is_uncut[0]


def _cuts_of(space: Space, k: int, rows: Codes, scratch: Scratch) -> Iterator[tuple[Mask, int]]:
    """The strict cuts of a group in the order of `best_cut`, if nothing but size mattered: who goes left, how many."""
    n = len(rows)
    if weigh_node(space, rows, 0, n, scratch) < 2 * k:
        return
    widths = np.array([node_width(space, a, rows, 0, n, scratch) for a in range(len(space.ranks))])
    while (a := take_widest(widths)) >= 0:
        for i in range(find_cuts(space, a, k, True, rows, 0, n, scratch)):
            yield scratch.values[:n] < scratch.cuts[i], int(scratch.lefts[i])


def _all_satisfy(limits: LimitArrays, j: int, codes: Codes, counts: Codes, n: int) -> Mask:
    """Which groups of n records, a row of counts each, satisfy limit j."""
    if limits.models[j] == DISTINCT:  # see satisfies
        return np.asarray((counts[:, codes != limits.unknown[j]] > 0).sum(axis=1) >= limits.parameters[j, 0])
    kinds, of_group = np.unique(counts, axis=0, return_inverse=True)
    return np.array([satisfies(limits, j, codes, kind, 0, len(codes), n) for kind in kinds])[of_group.reshape(-1)]


def _try_by_arrays(
    space: Space,
    limits: LimitArrays,
    k: int,
    rows: Codes,
    codes: Codes,
    ways: Ints,
    scratch: Scratch,
    is_uncut: Mask,
) -> None:
    """See `try_ways`: where a group could be cut is the same in all, so each cut is tried on all ways at once."""
    weights = space.weights[rows]
    held = [np.unique(of_limit, return_inverse=True) for of_limit in codes]
    left = np.arange(len(ways))

    def count(slots: Ints, n_values: int, who: Mask) -> Codes:
        """How many of some persons have each value, a row for each way that is left."""
        keys = slots.reshape(-1)[ways[left][:, who]] + np.arange(len(left))[:, None] * n_values
        given = np.tile(weights[who], len(left))
        return np.bincount(keys.ravel(), given, len(left) * n_values).astype(np.int32).reshape(-1, n_values)

    for goes_left, n_left in _cuts_of(space, k, rows, scratch):
        may_cut = np.ones(len(left), np.bool_)
        for j, (values, slots) in enumerate(held):
            for who, n in (goes_left, n_left), (~goes_left, int(weights.sum()) - n_left):
                may_cut &= _all_satisfy(limits, j, values, count(slots, len(values), who), n)
        left = left[~may_cut]
        if not len(left):
            break
    is_uncut[:] = False
    is_uncut[left] = True


@compiled_beside(_try_by_arrays)
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
