"""Mondrian's cuts of a table whose sensitive values stand beside quasi-identifiers.

Whoever knows the quasi-identifiers beside the sensitive value sees, in a bucket, the sensitive values of the rows that
agree with them. So the limits must hold not only in each bucket but for each value beside in each bucket: D(t, B) of
slicing. A cut is tested by counting the pairs (value beside, sensitive value) of its own node alone.

References
----------
T. Li, N. Li, J. Zhang, I. Molloy: Slicing, IEEE Transactions on Knowledge and Data Engineering 24(3), 2012, sec. 4.3.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.arrays import Codes, Ints
from shoal.kernels.compile import compiled
from shoal.kernels.tables.diversity import LimitArrays, satisfies
from shoal.kernels.tables.mondrian import (
    MAX_TRIES,
    Scratch,
    Space,
    Walk,
    count_left,
    count_right,
    find_cuts,
    go_on,
    make_scratch,
    node_width,
    note_values,
    start_walk,
    take_widest,
    weigh_node,
)


class Pairs(NamedTuple):
    """The pairs (value beside, sensitive value) that occur, of each limit, numbered in ascending order."""

    ids: Codes  # (n_limits, n_rows) pair of each row
    starts: Ints  # (n_limits + 1,) where each limit's pairs begin in the next two
    beside: Codes  # value beside
    codes: Codes  # sensitive value


@compiled
def _runs_satisfy(limits: LimitArrays, j: int, pairs: Pairs, found: Codes, counts: Codes, at: int, size: int) -> bool:
    """Whether the sensitive values beside each value satisfy limit j; `found` are pairs, ascending."""
    first = pairs.starts[j]
    codes = np.empty(size, np.int32)
    for i in range(size):
        codes[i] = pairs.codes[first + found[at + i]]
    begin = np.int64(0)
    here = np.empty(size, np.int32)
    for i in range(size):
        here[i] = counts[at + i]
    while begin < size:
        end = begin
        n = np.int64(0)
        while end < size and pairs.beside[first + found[at + end]] == pairs.beside[first + found[at + begin]]:
            n += here[end]
            end += 1
        if n > 0 and not satisfies(limits, j, codes, here, begin, end - begin, n):
            return False
        begin = end
    return True


@compiled
def _both_satisfy(limits: LimitArrays, pairs: Pairs, scratch: Scratch, m: int, cut: int) -> bool:
    """Whether both sides of a cut satisfy every limit for every value beside."""
    for j in range(len(limits.models)):
        at = pairs.starts[j]
        size = scratch.sizes[j]
        sides = scratch.sides
        count_left(scratch, j, at, m, cut)
        if not _runs_satisfy(limits, j, pairs, scratch.codes, sides, at, size):
            return False
        count_right(scratch, at, size)
        if not _runs_satisfy(limits, j, pairs, scratch.codes, sides, at, size):
            return False
    return True


def cut_beside(space: Space, limits: LimitArrays, pairs: Pairs, k: int, strict: bool) -> tuple[Codes, Ints]:
    """Cut all records, which satisfy the limits for every value beside, until no cut is allowable.

    Returns
    -------
    rows, ends
        As of `kernels.mondrian.cut_all`.
    """
    walk = start_walk(space, k)
    most = int(max(1, np.diff(space.starts).max(), np.diff(pairs.starts).max()))
    scratch = make_scratch(len(walk.rows), most, MAX_TRIES, len(limits.models), len(pairs.codes))
    _cut_beside(space, limits, pairs, k, strict, scratch, walk)
    return walk.groups()


@compiled
def _cut_beside(
    space: Space,
    limits: LimitArrays,
    pairs: Pairs,
    k: int,
    strict: bool,
    scratch: Scratch,
    walk: Walk,
) -> None:
    """Put the rows in order and note where groups end."""
    d, rows = len(space.ranks), walk.rows
    widths = np.empty(d, np.float64)
    is_left = True
    while is_left:
        begin, end = walk.at[0], walk.at[1]
        cut = -1
        if weigh_node(space, rows, begin, end, scratch) >= 2 * k:
            for a in range(d):
                widths[a] = node_width(space, a, rows, begin, end, scratch)
            note_values(pairs.ids, pairs.starts, rows, begin, end, scratch)
            while cut < 0:
                a = take_widest(widths)
                if a < 0:
                    break
                for i in range(find_cuts(space, a, k, strict, rows, begin, end, scratch)):
                    if _both_satisfy(limits, pairs, scratch, end - begin, scratch.cuts[i]):
                        cut = scratch.cuts[i]
                        break
        is_left = go_on(walk, cut, scratch)
