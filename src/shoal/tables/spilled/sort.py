"""Rows of codes in the order of their content, however many: sorted in pieces, dealt to ranges, sorted in each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from shoal.arrays import Codes, Ints
from shoal.data.tables.spill import RowFile, Rows2D, SpillFolder
from shoal.data.tables.table import Column
from shoal.tables.record_order import pack, spellings

_SEEN_A_RANGE = 256  # keys that are looked at for each range, so that these become about equally long


class ContentSort:
    """Sort rows that do not fit into memory; equal ones become one, with the records of all.

    Parameters
    ----------
    columns : sequence of Column
        What the codes of the rows mean, in the order of the rows' columns.
    order : sequence of int
        By which columns to sort, the first first.
    range_rows : int
        About how many rows may be sorted at once.
    """

    def __init__(self, folder: SpillFolder, columns: Sequence[Column], order: Sequence[int], range_rows: int) -> None:
        self._folder, self._columns, self._order, self._range_rows = folder, columns, order, range_rows
        self._parts: list[RowFile] = []
        self._seen: list[Ints] = []

    def add(self, rows: Rows2D) -> None:
        """Take rows, so many that they can be sorted at once."""
        if not len(rows):
            return
        rows = self._sorted(rows)
        part = self._folder.new(len(self._columns))
        part.append(rows)
        self._parts.append(part)
        step = max(1, self._range_rows // _SEEN_A_RANGE)
        self._seen.append(self._keys(rows)[0][::step])

    def pieces(self) -> Iterator[Rows2D]:
        """All rows in order, in pieces; equal ones are never in two of them."""
        if len(self._parts) == 1:
            part = self._parts.pop()
            yield from part.runs()
            part.remove()
            return
        ranges = self._dealt()
        for some in ranges:
            if some.n_rows:
                yield self._sorted(some.read())
                some.remove()

    def _dealt(self) -> list[RowFile]:
        """The rows of ranges of the first key, ascending."""
        seen = np.sort(np.concatenate(self._seen)) if self._seen else np.zeros(0, dtype=np.int64)
        n_ranges = max(1, -(-sum(part.n_rows for part in self._parts) // self._range_rows))
        edges = np.unique(seen[np.arange(1, n_ranges) * len(seen) // n_ranges]) if n_ranges > 1 else seen[:0]
        ranges = [self._folder.new(len(self._columns)) for _ in range(len(edges) + 1)]
        for part in self._parts:
            for rows in part.runs():
                ends = [*np.searchsorted(self._keys(rows)[0], edges, "left").tolist(), len(rows)]
                for some, start, end in zip(ranges, [0, *ends[:-1]], ends, strict=True):
                    if start < end:
                        some.append(rows[start:end])
            part.remove()
        self._parts = []
        return ranges

    def _keys(self, rows: Rows2D) -> Sequence[Ints]:
        return pack(self._of(rows))[0]

    def _of(self, rows: Rows2D) -> list[Column]:
        return [replace(self._columns[i], codes=rows[:, i]) for i in self._order]

    def _sorted(self, rows: Rows2D) -> Rows2D:
        columns = self._of(rows)
        keys: list[Ints | Codes] = [*pack(columns)[0], *spellings(columns)]
        return joined(rows[np.lexsort(keys[::-1])])


def joined(rows: Rows2D) -> Rows2D:
    """Let one of equal rows that follow each other stand for the records of all."""
    opens = np.ones(len(rows), dtype=bool)
    opens[1:] = (rows[1:, :-1] != rows[:-1, :-1]).any(axis=1)
    first = np.flatnonzero(opens)
    found = rows[first]
    weights: Codes = np.add.reduceat(rows[:, -1], first)
    found[:, -1] = weights
    return found
