"""Orders of ragged rows that depend on their content alone, so that the order of the input never shows."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from shoal.arrays import Ints
from shoal.data.sparse.records import Sparse
from shoal.data.sparse.sketches import Sketches


def canonical_order(records: Sparse) -> Ints:
    """Rows by items, then weights, then class; a record that begins another one comes first. Equal ones as they are.

    Where persons may have several records, equal records come in the order of all records of their persons.
    """
    ranks = refine(np.zeros(len(records), np.int64), records.starts, records.items)
    if not records.is_binary:
        ranks = refine(ranks, records.starts, records.weights)
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
    still equal, at each position: a few times for records that differ early.
    """
    ranks = ranks.copy()
    sizes = np.diff(starts)
    rows = np.arange(len(ranks))
    position = 0
    while len(rows):
        has_value = sizes[rows] > position
        value = np.zeros(len(rows), values.dtype)
        value[has_value] = values[starts[:-1][rows[has_value]] + position]
        order = np.lexsort((value, has_value, ranks[rows]))
        rows, value, has_value = rows[order], value[order], has_value[order]
        old = ranks[rows]
        opens_old, opens_new = np.ones((2, len(rows)), np.bool_)
        opens_old[1:] = old[1:] != old[:-1]
        opens_new[1:] = opens_old[1:] | (value[1:] != value[:-1]) | (has_value[1:] != has_value[:-1])
        places = np.arange(len(rows))
        before_old = np.maximum.accumulate(np.where(opens_old, places, 0))
        before_new = np.maximum.accumulate(np.where(opens_new, places, 0))
        ranks[rows] = old + before_new - before_old
        is_alone = opens_new & np.append(opens_new[1:], True)
        rows = rows[has_value & ~is_alone]
        position += 1
    return ranks


def _dense(keys: Ints) -> Ints:
    """For each key the number of smaller ones."""
    return np.searchsorted(np.sort(keys), keys).astype(np.int64)
