"""The order of a tree over rows that are held or lie in files: bisection by two means.

Rows in files are parted by passes over them until a part fits, which is then read and parted to the end. Random numbers
are drawn in the same order, so that the tree is the same.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shoal.arrays import Codes, Ints, Mask, Words
from shoal.data.ragged_rows import AnyRows, Ragged
from shoal.errors import Infeasible
from shoal.kernels.sparse.bisection import bisect, cut_of, direction, draw_rows, products
from shoal.kernels.stable_order import stable_order


def bisect_rows(
    rows: AnyRows, n_items: int, most: int, fewest: int, state: Words, room: int | None = None
) -> tuple[Codes, Ints]:
    """Rows, of items with weights, in the order of a tree whose leaves have at most so many; and where these begin.

    Parameters
    ----------
    room : int, optional
        How many entries are read at once; without it all are.
    """
    order, is_leaf = np.empty(len(rows), np.int32), np.zeros(len(rows) + 1, bool)
    is_leaf[len(rows)] = True
    all_rows = np.arange(len(rows), dtype=np.int32)
    stack = [_Part(rows, all_rows, all_rows, 0)]
    while stack:
        part = stack.pop()
        n = len(part.logical)
        if room is None or part.rows.n_entries <= room or n <= most or n < 2 * fewest:
            is_leaf[part.low + part.settle(order, n_items, most, fewest, state)] = True
        else:
            first, second = part.cut(n_items, fewest, state, room)
            stack += [first, second]
        del part
    return order, np.flatnonzero(is_leaf).astype(np.int64)


@dataclass
class _Part:
    """A part of the rows, as they lie.

    Attributes
    ----------
    ids : int32 array
        Which of all rows each is.
    logical : int32 array
        The order that the tree has put them in so far.
    low : int
        Where the part begins in the order of all.
    """

    rows: AnyRows
    ids: Codes
    logical: Codes
    low: int

    def settle(self, order: Codes, n_items: int, most: int, fewest: int, state: Words) -> Ints:
        """Fill in the order of the part, to the end; where its leaves begin."""
        n, own = len(self.logical), self.logical.copy()
        leaves = np.zeros(1, np.int64)
        if n > most and n >= 2 * fewest:
            held = self.rows.part(0, n)
            leaves = bisect(held.starts, held.values[0], held.values[1], n_items, own, most, fewest, state)[:-1]
        order[self.low : self.low + n] = self.ids[own]
        return leaves

    def cut(self, n_items: int, fewest: int, state: Words, room: int) -> tuple[_Part, _Part]:
        """Both sides, each in files of its own."""
        drawn, place = np.unique(draw_rows(self.logical, state), return_inverse=True)
        sizes = self.rows.sizes
        if int(sizes[drawn].sum()) > room:
            raise Infeasible(
                f"{len(drawn):,} records hold {int(sizes[drawn].sum()):,} items, which do not fit into the bound: "
                "raise memory or leave it out"
            )
        some = self.rows.take(drawn)
        dense, means = np.zeros(n_items), np.zeros(n_items)
        direction(some.starts, some.values[0], some.values[1], place.astype(np.int32), state, dense, means)
        scores = np.concatenate([products(p.starts, p.values[0], p.values[1], dense) for p in self.rows.parts()])
        np.negative(scores, out=scores)
        scores = scores[self.logical]
        by_score = stable_order(scores)
        cut = cut_of(scores, fewest)
        logical = self.logical[by_score]
        del scores, by_score
        is_first = np.zeros(len(logical), bool)
        is_first[logical[:cut]] = True
        first, second = _parted(self.rows, is_first)
        place_of = np.where(is_first, np.cumsum(is_first), np.cumsum(~is_first)).astype(np.int32) - 1
        logical = place_of[logical]
        return (
            _Part(first, self.ids[is_first], logical[:cut], self.low),
            _Part(second, self.ids[~is_first], logical[cut:], self.low + cut),
        )


def _parted(rows: AnyRows, is_first: Mask) -> tuple[AnyRows, AnyRows]:
    """The rows of one side and of the other one, as they lie."""
    dtypes = [values.dtype for values in rows.part(0, 0).values]
    writers = rows.writer(*dtypes), rows.writer(*dtypes)
    for low, high in rows.runs():
        part: Ragged = rows.part(low, high)
        for writer, chosen in zip(writers, (is_first[low:high], ~is_first[low:high]), strict=True):
            own = part.take(np.flatnonzero(chosen))
            writer.add(own.sizes, *own.values)
    return writers[0].done(), writers[1].done()
