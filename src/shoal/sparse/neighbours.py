"""The nearest neighbours of sparse records: all of them exactly, or most of them in time that grows linearly.

Aggarwal and Yu, "On privacy-preservation of text and sparse binary data with sketches", SDM 2007, Definition 3 needs
the k nearest records of each; how to find them is ours. Records are cut into blocks whose index stays in the cache,
and every query goes through every block (exact) or through those that hold records like it
(`shoal.sparse.near_partition`). Products and heaps are those of `shoal.kernels.sparse.bits` (sets)
and `shoal.kernels.sparse.neighbours` (weights).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from shoal.arrays import Codes, Floats, Ints, Rows
from shoal.data.ragged import ragged_places
from shoal.data.sparse.records import Sparse
from shoal.engine.blocks import run_blocks
from shoal.engine.threads import Threads
from shoal.errors import PolicyError, did_you_mean
from shoal.kernels.sparse import bits as sparse_bits
from shoal.kernels.sparse import neighbours as sparse_neighbours

Metric = Literal["cosine", "euclidean"]


MOST_EXACT = 250_000
# An item of one record in so many has a row of bits: adding that costs as much as going through its list.
RECORDS_PER_BIT = 400
MOST_ROWS_OF_BITS = 8192  # so that the index of a block stays at 4 MB
TASKS_PER_WORKER = 4


@dataclass(frozen=True)
class Neighbours:
    """The nearest other records of each.

    Attributes
    ----------
    indices : int32 array (n_records, k)
        Rows of the records, nearest first; of equally near ones the smaller row first. -1 where there are fewer.
    distances : float64 array (n_records,)
        Of the k-th: 1 - cosine, or Euclidean. Infinite where there is none.
    how : {"exact", "partition"}
        Whether all records were compared with all.
    recall : float or None
        The share of true neighbours among those found, for a sample of the records; None where it is 1 by design.
    """

    indices: Codes = field(repr=False)
    distances: Floats = field(repr=False)
    how: Literal["exact", "partition"]
    recall: float | None = None


@dataclass(frozen=True)
class Arranged:
    """Records with items in an order of their own, for the kernels.

    Attributes
    ----------
    starts, items, weights
        As of `Sparse`; items are numbered from the most frequent on, and those of a single record are left out.
        No weights where all are 1.
    squares : float64 array
        The squared lengths, of all items.
    rows : int32 array
        Which record stands at each place.
    n_items, n_dense : int
        How many items there are, and how many of them are frequent enough for a row of bits.
    """

    starts: Ints
    items: Codes
    weights: Floats | None
    squares: Floats
    rows: Codes
    n_items: int
    n_dense: int

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def most_in_block(self) -> int:
        """How many records the kernels take as one block."""
        return sparse_bits.BLOCK if self.weights is None else sparse_neighbours.BLOCK

    def take(self, places: Rows) -> Arranged:
        """The same records in another order, or some of them."""
        entries, starts = ragged_places(self.starts, places)
        weights = None if self.weights is None else self.weights[entries]
        return Arranged(
            starts,
            self.items[entries],
            weights,
            self.squares[places],
            self.rows[places],
            self.n_items,
            self.n_dense,
        )


def nearest(
    records: Sparse,
    k: int,
    *,
    metric: Metric = "cosine",
    how: Literal["auto", "exact", "partition"] = "auto",
    workers: int = 2,
    progress: Callable[[int, int], None] | None = None,
) -> Neighbours:
    """Find the k nearest other records of each record.

    Parameters
    ----------
    records : Sparse
        In an order that depends on their content alone, where the result must not depend on the order of a file:
        of equally near records the first are taken.
    k : int
        How many.
    metric : {"cosine", "euclidean"}
        What near means. A product of 0 is a cosine like any other, so that every record has k neighbours if there
        are as many others with items.
    how : {"auto", "exact", "partition"}
        "auto" is exact up to 250,000 records.
    workers : int
        Number of threads. It does not change the result.
    progress : callable, optional
        Called with the number of steps done and of all.

    Notes
    -----
    A record is never its own neighbour; another one that equals it is. Records without items are nobody's neighbours
    and have none.

    Examples
    --------
    >>> import numpy as np
    >>> starts, items = np.array([0, 2, 4, 6]), np.array([0, 1, 0, 1, 1, 2], dtype=np.int32)
    >>> found = nearest(Sparse(starts, items, np.ones(6, np.int64), ("a", "b", "c")), 1)
    >>> found.indices.ravel().tolist(), found.distances.round(2).tolist()
    ([1, 0, 0], [0.0, 0.0, 0.5])
    """
    if k < 1 or workers < 1:
        raise PolicyError("the number of neighbours and that of workers must be 1 or more")
    if metric not in ("cosine", "euclidean"):
        raise PolicyError(f"there is no metric {metric!r}; {did_you_mean(metric, ('cosine', 'euclidean'))}")
    if how not in ("auto", "exact", "partition"):
        raise PolicyError(
            f"there is no way {how!r} to find neighbours; {did_you_mean(how, ('auto', 'exact', 'partition'))}"
        )
    arranged, unit = arrange(records)
    n_seats = min(k, len(arranged) - 1)
    recall = None
    if how == "auto":
        how = "exact" if len(arranged) <= MOST_EXACT else "partition"
    if n_seats < 1:
        found, scores = np.empty((len(arranged), 0), np.int32), np.empty((len(arranged), 0))
    elif how == "exact":
        found, scores = search_all(arranged, n_seats, metric, workers, progress)
    else:
        from shoal.sparse.near_partition import search_partition

        arranged, found, scores, recall = search_partition(arranged, n_seats, metric, workers, progress)
    indices = np.full((len(records), k), -1, np.int32)
    indices[arranged.rows, : found.shape[1]] = np.where(np.isinf(scores), -1, found)
    distances = np.full(len(records), np.inf)
    if n_seats == k:
        last = scores[:, -1]
        if metric == "cosine":
            distances[arranged.rows] = np.maximum(1.0 - np.sign(last) * np.sqrt(np.abs(last) / arranged.squares), 0.0)
        else:
            distances[arranged.rows] = np.sqrt(np.maximum(arranged.squares - last, 0.0)) * unit
    return Neighbours(indices, distances, how, recall)


def arrange(records: Sparse) -> tuple[Arranged, float]:
    """Records with items, the shortest first, and the unit in which their weights now are."""
    counts = np.bincount(records.items, minlength=records.n_items)
    order = np.argsort(-counts, kind="stable")
    number = np.empty(len(counts), np.int32)
    number[order] = np.arange(len(counts), dtype=np.int32)
    is_shared = counts[records.items] > 1
    kept = np.concatenate([np.zeros(1, np.int64), np.cumsum(is_shared)])
    unit, weights = 1.0, None
    if not records.is_binary:
        weights = records.weights.astype(np.float64)
        if not records.is_integral and len(weights):
            # A power of two changes no digit, and the squares stay within range.
            unit = float(2.0 ** np.frexp(np.abs(weights).max())[1])
            weights /= unit
    squares = records.sums(np.ones(len(records.items)) if weights is None else weights**2)
    n_items = int((counts > 1).sum())
    n_dense = int((counts > max(1.0, len(records) / RECORDS_PER_BIT)).sum())
    whole = Arranged(
        kept[records.starts],
        number[records.items[is_shared]],
        None if weights is None else weights[is_shared],
        squares,
        np.arange(len(records), dtype=np.int32),
        n_items,
        min(n_dense, MOST_ROWS_OF_BITS),
    )
    with_items = np.flatnonzero(records.sizes > 0)
    return whole.take(with_items[np.argsort(squares[with_items], kind="stable")]), unit


def search_all(
    arranged: Arranged,
    k: int,
    metric: Metric,
    workers: int,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[Codes, Floats]:
    """The rows and the scores of the k nearest of each place: all compared with all."""
    n = len(arranged)
    step = arranged.most_in_block
    blocks = [(first, min(first + step, n)) for first in range(0, n, step)]
    tasks = []
    for queries in np.array_split(np.arange(n), min(n, workers * TASKS_PER_WORKER)):
        # The nearest in size first: what they leave to be beaten spares much of the rest.
        middle = int(queries[len(queries) // 2])
        near_first = sorted(blocks, key=lambda block: abs(block[0] + block[1] - 2 * middle))
        tasks.append((arranged, k, metric, queries, [(first, stop, None) for first, stop in near_first]))
    return run_tasks(tasks, workers, progress)


Steps = Sequence[tuple[int, int, Ints | None]]
Task = tuple[Arranged, int, Metric, Ints, Steps]


def run_tasks(tasks: Sequence[Task], workers: int, progress: Callable[[int, int], None] | None) -> tuple[Codes, Floats]:
    """Search for the queries of each task on threads; the results in the order of tasks and queries."""
    with Threads(workers) as executor:
        results = run_blocks(search, tasks, executor if workers > 1 else None, progress)
    return np.concatenate([found for found, _ in results]), np.concatenate([scores for _, scores in results])


def search(arranged: Arranged, k: int, metric: Metric, queries: Ints, steps: Steps) -> tuple[Codes, Floats]:
    """The rows and scores, best first, for some places.

    Parameters
    ----------
    queries : int64 array
        The places.
    steps : sequence of (first, stop, which)
        The blocks in the order in which they are visited, and which of the queries are compared with each; None for
        all of them.
    """
    scores = np.full((len(queries), k), -np.inf)
    found = np.full((len(queries), k), np.iinfo(np.int32).max, np.int32)
    everyone = np.arange(len(queries))
    is_cosine = metric == "cosine"
    a = arranged
    most_entries = max(int(a.starts[stop] - a.starts[first]) for first, stop, _ in steps)
    listed = np.empty(most_entries, np.uint16)
    values = np.empty(0 if a.weights is None else most_entries)
    n_dense = a.n_dense if a.weights is None else 0
    bits = np.empty((n_dense + 1) * sparse_bits.WORDS, np.uint64)
    list_starts = np.empty(a.n_items - n_dense + 2, np.int32)
    for first, stop, which in steps:
        seats = everyone if which is None else which
        mine = (queries[seats], seats, first, stop)
        heaps = (is_cosine, scores, found)
        if a.weights is None:
            n_words = sparse_bits.count_words(stop - first)
            rows_of_bits = bits[: (n_dense + 1) * n_words].reshape(n_dense + 1, n_words)
            index = sparse_bits.BlockIndex(n_dense, rows_of_bits, list_starts, listed)
            sparse_bits.fill_bits(a.starts, a.items, first, stop, index)
            sparse_bits.scan_bits(a.starts, a.items, a.squares, a.rows, *mine, index, *heaps)
        else:
            sparse_neighbours.fill_lists(a.starts, a.items, a.weights, first, stop, list_starts, listed, values)
            lists = (list_starts, listed, values)
            sparse_neighbours.scan_sums(a.starts, a.items, a.weights, a.squares, a.rows, *mine, *lists, *heaps)
    sparse_neighbours.sort_heaps(scores, found)
    return found, scores
