"""Counting combinations of items by the products of sparse matrices: in how many records the rarest one occurs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from shoal.arrays import Codes, Ints

_CELLS_AT_ONCE = 1 << 24
_LISTED_AT_ONCE = 1 << 22


@dataclass(frozen=True)
class Combinations:
    """What was counted.

    Attributes
    ----------
    n_sets, n_rare : int
        Combinations that occur, and those that fewer than k records hold.
    least : int
        How many records hold the rarest one.
    """

    n_sets: int
    n_rare: int
    least: int

    def __add__(self, other: Combinations) -> Combinations:
        least = min(c.least for c in (self, other) if c.n_sets) if self.n_sets or other.n_sets else 0
        return Combinations(self.n_sets + other.n_sets, self.n_rare + other.n_rare, least)


NONE = Combinations(0, 0, 0)


def matrix_of(starts: Ints, items: Ints | Codes, n_items: int) -> Any:
    """Which record holds which item, as ones."""
    from scipy.sparse import csr_matrix

    ones = np.ones(len(items), np.int32)
    made = csr_matrix((ones, items, starts), shape=(len(starts) - 1, n_items))
    made.sum_duplicates()
    made.data[:] = 1
    return made


def count_combinations(held: Any, k: int, m: int) -> Combinations:
    """All combinations of up to m columns that some row holds, and by how many rows."""
    found = _counted(np.asarray(held.sum(axis=0)).ravel(), k)
    if m >= 2:
        found += _pairs(held, k)
    if m >= 3:
        found += _triples(held, k)
    return found


def _triples(held: Any, k: int) -> Combinations:
    """Triples of columns: listed and sorted, all that begin with some columns at a time."""
    held.sort_indices()
    starts, items, n_items = held.indptr.astype(np.int64), held.indices.astype(np.int64), held.shape[1]
    ends = np.repeat(starts[1:], np.diff(starts))  # of the row of each entry
    after = ends - np.arange(len(items)) - 1
    by_item = np.argsort(items, kind="stable")
    before = np.cumsum((after * (after - 1) // 2)[by_item])
    found, begin = NONE, 0
    while begin < len(items):
        done = before[begin - 1] if begin else 0
        last = items[by_item[min(np.searchsorted(before, done + _LISTED_AT_ONCE), len(items) - 1)]]
        end = int(np.searchsorted(items[by_item], last, side="right"))
        first = by_item[begin:end]
        pairs, second = _followers(first, ends)
        triples, third = _followers(second, ends)
        keys = (items[first[pairs[triples]]] * n_items + items[second[triples]]) * n_items + items[third]
        found += _counted(np.unique(keys, return_counts=True)[1], k)
        begin = end
    return found


def _followers(entries: Ints, ends: Ints) -> tuple[Ints, Ints]:
    """All entries behind each of some in its row: which of these they follow, and the entries."""
    counts = ends[entries] - entries - 1
    which = np.repeat(np.arange(len(entries)), counts)
    return which, entries[which] + 1 + np.arange(len(which)) - np.repeat(np.cumsum(counts) - counts, counts)


def _pairs(held: Any, k: int) -> Combinations:
    """Pairs of columns: a band of products at a time, above the diagonal."""
    from scipy.sparse import triu

    occurs = np.flatnonzero(np.asarray(held.sum(axis=0)).ravel())
    held = held[:, occurs]
    across = held.T.tocsr()
    width = max(1, _CELLS_AT_ONCE // max(len(occurs), 1))
    found = NONE
    for begin in range(0, len(occurs), width):
        products = triu(across[begin : begin + width] @ held, begin + 1)
        found += _counted(products.data, k)
    return found


def _counted(counts: Ints, k: int) -> Combinations:
    occurring = counts[counts > 0]
    if not len(occurring):
        return NONE
    return Combinations(len(occurring), int((occurring < k).sum()), int(occurring.min()))


def worst_confidence(held: Any, columns: Ints, m: int) -> tuple[float, int, int]:
    """Of rules from up to m other columns, or from none, to one of some columns: the highest confidence.

    Returns
    -------
    tuple
        The share of the rows with the columns of the rule's left side that have the right one too, at most; the rows on
        both sides and on the left side of that rule.
    """
    worst = (0.0, 0, 0)
    n_rows = held.shape[0]
    by_item = held.tocsc()
    for column in columns.tolist():
        rows = by_item.indices[by_item.indptr[column] : by_item.indptr[column + 1]]
        if not len(rows):
            continue
        keep = np.flatnonzero(np.arange(held.shape[1]) != column)
        both, left = held[rows][:, keep], held[:, keep]
        worst = max(worst, (len(rows) / n_rows, len(rows), n_rows))
        occurs = np.flatnonzero(np.asarray(both.sum(axis=0)).ravel())
        worst = max(worst, _highest(both[:, occurs], left[:, occurs], m))
    return worst


def _highest(both: Any, left: Any, m: int) -> tuple[float, int, int]:
    """The highest confidence from up to m columns; both sides have the same ones."""
    worst = _ratio(np.asarray(both.sum(axis=0)).ravel(), np.asarray(left.sum(axis=0)).ravel())
    if m >= 2:
        for band in range(0, both.shape[1], 512):
            columns = slice(band, band + 512)
            together = (both[:, columns].T @ both).tocsr()
            of = (left[:, columns].T @ left).tocsr()
            rows, others = together.nonzero()
            worst = max(worst, _ratio(_cells(together, rows, others), _cells(of, rows, others)))
    if m >= 3:
        for first in range(both.shape[1]):
            ours, theirs = (side[side[:, first].nonzero()[0]][:, first + 1 :] for side in (both, left))
            if ours.nnz:
                worst = max(worst, _highest(ours, theirs, 2))
    return worst


def _cells(matrix: Any, rows: Ints, columns: Ints) -> Ints:
    return np.asarray(matrix[rows, columns]).ravel()


def _ratio(both: Ints, left: Ints) -> tuple[float, int, int]:
    shares = np.where(both > 0, both / np.maximum(left, 1), 0.0)
    if not len(shares):
        return 0.0, 0, 0
    at = int(np.argmax(shares))
    return float(shares[at]), int(both[at]), int(left[at])
