"""The k nearest records of some records, found anew by the check: sparse products in blocks, one sort of what is near.

Records are ranked by ``s |s| / |y|^2`` (cosine; s is the product of the two, and the own length changes no order) or by
``2 s - |y|^2`` (Euclidean). Of whole numbers both are one rounding of exact values, so that ties are true ties. They
are broken by content: items first, then weights, then class; of records alike in all, those with fewer components come
first, since nobody can say which of them is meant.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import scipy.sparse

from shoal.arrays import Floats, Ints
from shoal.data.sparse.records import Sparse

Metric = Literal["cosine", "euclidean"]


BLOCK_WORK = 20_000_000  # products at once: some hundred MB
DENSE_CELLS = 4_000_000
_EXACT_IN_SINGLE = float(2**24)
_ROUGH = 1e-5  # more than single precision rounds
_CHUNK = 100_000  # pairs of records at once


@dataclass(frozen=True)
class SparseRecords:
    """Sparse records as matrices, with what the search needs of each.

    Attributes
    ----------
    matrix, transposed : scipy.sparse CSR matrices
        Records by items, and items by records.
    squares : float64 array (n_records,)
        Squared lengths.
    order : int64 array (n_records,)
        The place of each record in the order of content.
    work : float64 array (n_records,)
        How many products it takes to compare a record with all others.
    metric : {"cosine", "euclidean"}
        What "near" means.
    """

    matrix: Any
    transposed: Any
    squares: Floats
    order: Ints
    work: Floats
    metric: Metric

    def __len__(self) -> int:
        return len(self.squares)

    @classmethod
    def of(cls, records: Sparse, counts: Ints, metric: Metric) -> SparseRecords:
        """Prepare the search; `counts` are the components of each record, to order records that are alike."""
        squares = records.squares
        # Products and their partial sums are below the largest square, so single precision has them exactly.
        is_small = records.is_integral and float(squares.max(initial=0.0)) < _EXACT_IN_SINGLE
        weights = records.weights.astype(np.float32 if is_small else np.float64)
        shape = (len(records), max(records.n_items, 1))
        matrix = scipy.sparse.csr_matrix((weights, records.items, records.starts), shape=shape)
        holders = np.bincount(records.items, minlength=shape[1]).astype(np.float64)
        order = np.empty(len(records), np.int64)
        order[np.lexsort((counts, content_classes(records)))] = np.arange(len(records))
        work = records.sums(holders[records.items])
        return cls(matrix, matrix.T.tocsr(), squares, order, work, metric)

    def scores(self, products: npt.NDArray[Any], others: npt.NDArray[np.integer[Any]]) -> Floats:
        """How near other records are, by their products with the record in question."""
        products = products.astype(np.float64)
        if self.metric == "cosine":
            return np.asarray(products * np.abs(products) / self.squares[others])
        return np.asarray(2 * products - self.squares[others])

    def pairs(self, first: Ints, second: Ints) -> tuple[Floats, Floats]:
        """The product ``sum x_i y_i`` of each pair of records, and ``sum x_i^2 y_i^2``."""
        products, squares = np.zeros(len(first)), np.zeros(len(first))
        for at in range(0, len(first), _CHUNK):
            part = slice(at, at + _CHUNK)
            both = self.matrix[first[part]].astype(np.float64).multiply(self.matrix[second[part]])
            products[part] = np.asarray(both.sum(axis=1)).ravel()
            squares[part] = np.asarray(both.multiply(both).sum(axis=1)).ravel()
        return products, squares


def content_classes(records: Sparse) -> Ints:
    """A number for each record, equal for equal content and ascending with it: items, then weights, then class."""
    classes = np.zeros(len(records), np.int64)
    weights = np.unique(records.weights, return_inverse=True)[1].astype(np.int64)
    for values in (records.items.astype(np.int64), weights):
        classes = _refine(classes, values, records.starts[:-1], records.sizes)
    if records.labels is not None:
        ones = np.ones(len(records), np.int64)
        classes = _refine(classes, records.labels.astype(np.int64), np.arange(len(records)), ones)
    return classes


def _refine(classes: Ints, values: Ints, starts: Ints, sizes: Ints) -> Ints:
    """Split classes by the values of their records, place by place; a record that ends comes before one that goes on.

    The number of a class is how many records come before it. Only records that share one and have not ended are
    looked at, so that the cost is that of telling records apart, not of the longest one.
    """
    classes = classes.copy()
    alive = np.flatnonzero(np.bincount(classes, minlength=len(classes))[classes] > 1)
    place = 0
    while len(alive):
        goes_on = sizes[alive] > place
        keys = np.full(len(alive), -1, np.int64)
        keys[goes_on] = values[starts[alive[goes_on]] + place]
        by = np.lexsort((keys, classes[alive]))
        alive, keys, old = alive[by], keys[by], classes[alive[by]]
        is_first_old = np.concatenate([[True], old[1:] != old[:-1]])
        is_first = is_first_old | np.concatenate([[True], keys[1:] != keys[:-1]])
        run = np.cumsum(is_first) - 1
        run_starts = np.flatnonzero(is_first)
        old_starts = np.flatnonzero(is_first_old)[np.cumsum(is_first_old) - 1]
        classes[alive] = old + run_starts[run] - old_starts
        alive = alive[(np.bincount(run)[run] > 1) & (keys >= 0)]
        place += 1
    return classes


def nearest(records: SparseRecords, rows: Ints, k: int, floors: Floats | None = None) -> tuple[Ints, Floats]:
    """Find the k nearest other records of some records.

    Parameters
    ----------
    records : Records
        All of them, at least k + 1 not empty.
    rows : int64 array (n_rows,)
        Those in question, none of them empty.
    k : int
        How many neighbours.
    floors : float64 array (n_rows,), optional
        A score that at least k other records are known to reach; -inf where none is known.

    Returns
    -------
    int64 array (n_rows, k), float64 array (n_rows, k)
        Neighbours, the nearest first, and their products with the record.
    """
    neighbours, products = np.zeros((len(rows), k), np.int64), np.zeros((len(rows), k))
    floors = np.full(len(rows), -np.inf) if floors is None else floors.copy()
    unknown = np.flatnonzero(np.isneginf(floors))
    floors[unknown] = floors_of(records, rows[unknown], k)
    filled = records.squares > 0
    # What a record scores that shares no item: products need not be looked at where all neighbours score more.
    apart = 0.0 if records.metric == "cosine" else -float(records.squares[filled].min(initial=np.inf))
    by_work = np.argsort(records.work[rows], kind="stable")
    for is_dense in (False, True):
        some = by_work[(floors[by_work] <= apart) == is_dense]
        n_dense = max(DENSE_CELLS // len(records), 1) if is_dense else len(some) + 1
        for block in _blocks(some, records.work[rows[some]], n_dense):
            near = _dense_scores if is_dense else _sparse_scores
            found = near(records, rows[block], floors[block])
            owner, column, product, score = found
            kept = (score >= floors[block][owner]) & (column != rows[block][owner])
            owner, column, product, score = owner[kept], column[kept], product[kept], score[kept]
            by = np.lexsort((records.order[column], -score, owner))
            first = np.searchsorted(owner[by], np.arange(len(block)))
            chosen = by[first[:, None] + np.arange(k)]
            neighbours[block], products[block] = column[chosen], product[chosen]
    return neighbours, products


Scores = tuple[Ints, Ints, Floats, Floats]


def _sparse_scores(records: SparseRecords, rows: Ints, floors: Floats) -> Scores:
    """Row, column, product and score of pairs that share an item, all that reach the floors among them."""
    found = records.matrix[rows] @ records.transposed
    # The floor as one of products, a little lower, in the matrix's own precision: nearly all pairs end here.
    if records.metric == "cosine":
        own, other = np.sqrt(floors), np.sqrt(records.squares)
        reach: np.ufunc = np.multiply
    else:
        own, other = (floors - _ROUGH * np.abs(floors)) / 2, records.squares / 2
        reach = np.add
    limits = other.astype(found.dtype)[found.indices]
    limits *= found.dtype.type(1 - _ROUGH)
    reach(limits, np.repeat(own.astype(found.dtype), np.diff(found.indptr)), out=limits)
    places = np.flatnonzero(found.data >= limits)
    owner = np.searchsorted(found.indptr, places, side="right") - 1
    column = found.indices[places].astype(np.int64)
    product = found.data[places].astype(np.float64)
    return owner, column, product, records.scores(product, column)


def _dense_scores(records: SparseRecords, rows: Ints, floors: Floats) -> Scores:
    """The same of all pairs with records that are not empty, whatever the floors."""
    filled = np.flatnonzero(records.squares > 0)
    found = (records.matrix[rows] @ records.transposed).toarray()[:, filled].ravel()
    owner = np.repeat(np.arange(len(rows)), len(filled))
    column = np.tile(filled, len(rows))
    return owner, column, found.astype(np.float64), records.scores(found, column)


def floors_of(records: SparseRecords, rows: Ints, k: int) -> Floats:
    """A score that k other records reach: the k-th best of a part of them, spread over the order of content."""
    filled = np.flatnonzero(records.squares > 0)
    filled = filled[np.argsort(records.order[filled])]
    n_part = min(max(4 * int(np.sqrt(len(filled) * k)), 4 * k + 4), len(filled))
    part = np.sort(filled[np.linspace(0, len(filled) - 1, n_part).astype(np.int64)])
    transposed = records.matrix[part].T.tocsr()
    floors = np.zeros(len(rows))
    n_rows = max(DENSE_CELLS // n_part, 1)
    for at in range(0, len(rows), n_rows):
        block = rows[at : at + n_rows]
        scores = records.scores((records.matrix[block] @ transposed).toarray(), part)
        scores[part[None, :] == block[:, None]] = -np.inf
        floors[at : at + n_rows] = np.partition(scores, n_part - k, axis=1)[:, n_part - k]
    return floors


def _blocks(rows: Ints, work: Floats, most_rows: int) -> Iterator[Ints]:
    """Runs of rows that are not too much work, nor too many, at once."""
    number = np.cumsum(work) // BLOCK_WORK
    cuts = np.flatnonzero(np.diff(number)) + 1
    for run in np.split(rows, cuts):
        for at in range(0, len(run), most_rows):
            yield run[at : at + most_rows]
