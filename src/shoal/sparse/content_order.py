"""Orders of ragged rows that depend on their content alone, so that the order of the input never shows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal.arrays import Ints
from shoal.data.ragged import runs_of_rows
from shoal.data.ragged_rows import AnyRows, Ragged
from shoal.data.sparse.record_rows import RecordRows
from shoal.data.sparse.records import Sparse
from shoal.data.sparse.sketches import Sketches


def canonical_order(records: Sparse) -> Ints:
    """Rows by items, then weights, then class; a record that begins another one comes first. Equal ones as they are.

    Where persons may have several records, equal records come in the order of all records of their persons.
    """
    return order_of_rows(RecordRows.of(records))


def order_of_rows(records: RecordRows) -> Ints:
    """The same of records that may lie in files."""
    ranks = _refined(np.zeros(len(records), np.int64), records.sizes, _Packed(records.rows, 0, records.n_items))
    if not records.is_binary:
        ranks = _refined(ranks, records.sizes, _Packed(records.rows, 1, None))
    if records.labels is None and records.persons is None:
        return np.argsort(ranks, kind="stable").astype(np.int64)
    labels = np.zeros(len(records), np.int64) if records.labels is None else records.labels.astype(np.int64)
    if records.persons is None:
        return np.lexsort((labels, ranks)).astype(np.int64)
    _, persons = np.unique(records.persons, return_inverse=True)
    alike = np.unique(ranks * (int(labels.max(initial=0)) + 1) + labels, return_inverse=True)[1].astype(np.int64)
    by_person = np.lexsort((alike, persons))
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(np.bincount(persons))])
    of_person = refine(np.zeros(len(starts) - 1, np.int64), starts, alike[by_person])
    return np.lexsort((of_person[persons], alike)).astype(np.int64)


def published_order(sketches: Sketches) -> Ints:
    """Rows by class, number of components, and components. Equal ones as they are."""
    labels = np.zeros(len(sketches), np.int64) if sketches.labels is None else sketches.labels.astype(np.int64)
    counts = sketches.counts
    ranks = labels * (int(counts.max(initial=0)) + 1) + counts
    return np.argsort(refine(_dense(ranks), sketches.starts, sketches.components), kind="stable").astype(np.int64)


def refine(ranks: Ints, starts: Ints, values: npt.NDArray[Any]) -> Ints:
    """Order rows of equal rank by their values, position by position, as long as any are equal.

    `ranks` has the number of rows that come before; so has the result. The cost is that of sorting the rows that are
    still equal, at some positions at once: a few times for records that differ early.
    """
    is_count = values.dtype.kind in "iu" and len(values) > 0 and int(values.min()) >= 0
    top = int(values.max()) + 1 if is_count else None
    return _refined(ranks, np.diff(starts), _Packed(Ragged(starts, [values]), 0, top))


@dataclass(frozen=True)
class _Packed:
    """Values of rows at some positions after one another, as one number that is ordered as they are.

    That takes values from 0 to below `top`; without it, it is one position at a time.
    """

    rows: AnyRows
    column: int
    top: int | None

    @property
    def width(self) -> int:
        """How many positions there are to a number."""
        return 1 if self.top is None else max(int(62 / np.log2(self.top + 1)), 1) if self.top > 0 else 62

    def at(self, rows: Ints, position: int) -> npt.NDArray[Any]:
        """The numbers of some rows from a position on."""
        order = np.argsort(rows, kind="stable")
        ascending = rows[order]
        found: list[npt.NDArray[Any]] = [np.zeros(0, np.int64)]
        sums = np.concatenate([np.zeros(1, np.int64), np.cumsum(self.rows.sizes[ascending])])
        for low, high in runs_of_rows(sums):
            part = self.rows.take(ascending[low:high])
            found.append(self._packed(part.values[self.column], part.starts, position))
        together = np.concatenate(found[1:]) if len(found) > 1 else found[0]
        values = np.empty_like(together)
        values[order] = together
        return values

    def _packed(self, values: npt.NDArray[Any], starts: Ints, position: int) -> npt.NDArray[Any]:
        sizes, firsts = np.diff(starts), starts[:-1]
        packed = np.zeros(len(sizes), values.dtype if self.top is None else np.int64)
        for place in range(position, position + self.width):
            has = np.flatnonzero(sizes > place)
            if self.top is None:
                packed[has] = values[firsts[has] + place]
                break
            packed *= self.top + 1
            packed[has] += values[firsts[has] + place].astype(np.int64) + 1
        return packed


def _refined(ranks: Ints, sizes: Ints, packed: _Packed) -> Ints:
    """See `refine`."""
    ranks = ranks.copy()
    rows = np.arange(len(ranks))
    position, width = 0, packed.width
    while len(rows):
        value, has_value = packed.at(rows, position), sizes[rows] > position
        order = np.lexsort((value, ranks[rows]) if packed.top is not None else (value, has_value, ranks[rows]))
        rows, value, has_value = rows[order], value[order], has_value[order]
        old = ranks[rows]
        opens_old, opens_new = np.ones((2, len(rows)), np.bool_)
        opens_old[1:] = old[1:] != old[:-1]
        opens_new[1:] = opens_old[1:] | (value[1:] != value[:-1]) | (has_value[1:] != has_value[:-1])
        places = np.arange(len(rows))
        old += np.maximum.accumulate(np.where(opens_new, places, 0))
        old -= np.maximum.accumulate(np.where(opens_old, places, 0))
        ranks[rows] = old
        is_alone = opens_new & np.append(opens_new[1:], True)
        rows = rows[(sizes[rows] >= position + width) & ~is_alone]
        position += width
    return ranks


def _dense(keys: Ints) -> Ints:
    """For each key the number of smaller ones."""
    return np.searchsorted(np.sort(keys), keys).astype(np.int64)
