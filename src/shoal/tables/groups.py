"""Groups of records and what the publications ask of them: sums, extremes, medians and modes, all by one sort."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal.arrays import Codes, Ints, Mask, Rows
from shoal.data.tables.table import count_codes, counted

_MOST_CELLS = 8  # a row, of a table of groups and values that is counted whole


@dataclass(frozen=True)
class Groups:
    """A partition of records: ``labels[i]`` is the group of record i, ``sizes[g]`` the number of records of group g."""

    labels: Codes
    sizes: Ints

    @classmethod
    def of(cls, labels: npt.NDArray[np.integer[Any]]) -> Groups:
        """Take labels 0 .. n_groups - 1, all used."""
        return cls(np.asarray(labels, dtype=np.int32), np.bincount(labels))

    @cached_property
    def order(self) -> Rows:
        """The records, group by group."""
        return np.argsort(self.labels, kind="stable")

    @cached_property
    def starts(self) -> Ints:
        """Where each group begins in `order`."""
        return np.concatenate([[0], np.cumsum(self.sizes)[:-1]])

    def sum(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Sum over each group; booleans are counted.

        Added in the order of the records, so that equal tables give equal sums to the last bit.
        """
        if values.dtype == bool:
            return np.bincount(self.labels[values], minlength=len(self.sizes))
        return np.bincount(self.labels, weights=values, minlength=len(self.sizes))

    def span(self, ranks: Codes, present: Mask) -> tuple[Codes, Codes]:
        """Least and greatest rank of each group among the records that are present (low > high where none is)."""
        top = np.iinfo(np.int32).max
        low = np.minimum.reduceat(np.where(present, ranks, top)[self.order], self.starts)
        high = np.maximum.reduceat(np.where(present, ranks, -1)[self.order], self.starts)
        return low, high

    def median_rank(self, ranks: Codes, present: Mask) -> Codes:
        """The least rank that at least half of the group's present records do not exceed; 0 where none is present."""
        order = np.lexsort((ranks, ~present, self.labels))
        n_present = self.sum(present)
        at = self.starts + np.maximum(n_present - 1, 0) // 2
        return np.where(n_present > 0, ranks[order[at]], 0)

    def pairs(self, ranks: Codes, n_values: int, weights: Codes | None = None) -> tuple[Ints, Ints, Ints]:
        """The distinct (group, rank) pairs in ascending order, and how many records each has."""
        keys = self.labels.astype(np.int64) * n_values + ranks
        if len(self.sizes) * n_values <= _MOST_CELLS * len(keys):  # faster than a sort
            counts = count_codes(keys, weights)
            distinct = np.flatnonzero(counts)
            counts = counts[distinct]
        else:
            distinct, counts = counted(keys, weights)
        return distinct // n_values, distinct % n_values, counts

    def mode_rank(self, ranks: Codes, present: Mask, n_values: int, weights: Codes | None = None) -> Ints:
        """The most frequent present rank of each group, the least of several; 0 where none is present."""
        some = Groups(self.labels[present], self.sizes)
        group, rank, count = some.pairs(ranks[present], n_values, None if weights is None else weights[present])
        best = np.lexsort((rank, -count, group))
        _, first = np.unique(group[best], return_index=True)
        mode = np.zeros(len(self.sizes), dtype=np.int64)
        mode[group[best[first]]] = rank[best[first]]
        return mode


def n_persons_in(labels: npt.NDArray[np.integer[Any]], persons: Ints | None, n_groups: int) -> Ints:
    """How many different persons have records in each group; without persons, how many records there are."""
    if persons is None:
        return np.bincount(labels, minlength=n_groups).astype(np.int64)
    width = int(persons.max(initial=0)) + 1
    pairs = np.unique(labels.astype(np.int64) * width + persons)
    return np.bincount(pairs // width, minlength=n_groups).astype(np.int64)
