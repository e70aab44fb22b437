"""Nearest neighbours among the records of like clusters, in time that grows linearly with their number.

Clusters are those of k-means on a part of the records (spherical for the cosine); a record is compared with the
clusters whose centres are nearest to it, until these hold its budget of records together. Inside of them the products
are exact. So the work for a record does not grow with their number, and what is lost are neighbours in clusters further
away: a sample of the records is compared with all, and the share of its true neighbours that were found is reported.
The budget falls slowly as there are more records: neighbours are then nearer, and stand in fewer clusters.

No random numbers: the records that centres start from are evenly spaced in the order of the records.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from shoal.arrays import Codes, Floats, Ints, Rows, Singles
from shoal.engine.blocks import run_blocks
from shoal.engine.threads import Threads
from shoal.kernels.sparse import clusters as kernels
from shoal.sparse.neighbours import Arranged, Metric, Steps, Task, run_tasks, search

BUDGET = 65_536  # records that each is compared with, where there are `BUDGET_AT`
BUDGET_AT = 250_000
LEAST_BUDGET = 16_384
CLUSTER = 3072  # records of a cluster, on average
MOST_CLUSTERS = 1024
MOST_TABLE_ROWS = 2048
SAMPLE_PER_CLUSTER = 48
ROUNDS = 8
QUERIES_AT_ONCE = 1 << 16
RECALL_SAMPLE = 1000


@dataclass(frozen=True)
class Centres:
    """The centres of clusters: a column of `table` each, and what is taken off its products."""

    table: Singles
    biases: Singles


def search_partition(
    arranged: Arranged,
    k: int,
    metric: Metric,
    workers: int,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[Arranged, Codes, Floats, float]:
    """Find most of the k nearest of each record.

    Returns
    -------
    arranged : Arranged
        The records in the order of the clusters.
    found, scores : array (n_records, k)
        Rows and scores by place in that order, best first.
    recall : float
        The share of true neighbours among those found, for a sample of at least 500 records. Of equally near records
        the first are the true ones, so it is rather too low.
    """
    weights = _weights(arranged, metric)
    clusters = _assign(arranged, weights, _find_centres(arranged, metric, workers), workers)
    order, units = cut_units(clusters, arranged.rows, arranged.squares, arranged.most_in_block)
    arranged = arranged.take(order)
    weights = _weights(arranged, metric)
    centres = _centres(arranged, weights, units, int(units[-1]) + 1, metric)
    n = len(arranged)
    budget = max(round(BUDGET * (BUDGET_AT / n) ** 0.25), LEAST_BUDGET, 16 * k)
    spans = [(first, min(first + QUERIES_AT_ONCE, n)) for first in range(0, n, QUERIES_AT_ONCE)]
    jobs = [(arranged, weights, centres, units, budget, k, metric, first, stop) for first, stop in spans]
    with Threads(workers) as executor:
        results = run_blocks(_search_span, jobs, executor if workers > 1 else None, progress)
    found, scores = np.concatenate([r[0] for r in results]), np.concatenate([r[1] for r in results])
    return arranged, found, scores, _recall(arranged, found, metric, workers)


def cut_units(clusters: Codes, rows: Codes, squares: Floats, most: int) -> tuple[Rows, Codes]:
    """Cut clusters into units of at most so many records.

    Returns
    -------
    order : array
        The records unit by unit, of each the shortest first.
    units : int32 array
        The unit at each place of that order, ascending.

    Notes
    -----
    A cluster that is too large is cut in the order of the rows: where that is one of content, equal records stay
    together, so that any number of them is no more work than others.
    """
    order = np.lexsort((rows, clusters))
    ordered = clusters[order]
    firsts = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    sizes = np.diff(np.append(firsts, len(ordered)))
    n_pieces = -(-sizes // most)
    lengths = -(-sizes // n_pieces)
    piece = (np.arange(len(ordered)) - np.repeat(firsts, sizes)) // np.repeat(lengths, sizes)
    units = (np.repeat(np.cumsum(n_pieces) - n_pieces, sizes) + piece).astype(np.int32)
    units = np.unique(units, return_inverse=True)[1].astype(np.int32)
    within = np.lexsort((rows[order], squares[order], units))
    return order[within], units


def _weights(arranged: Arranged, metric: Metric) -> Singles:
    """What clusters are made of: for the cosine, records of length 1."""
    weights = np.ones(len(arranged.items)) if arranged.weights is None else arranged.weights
    if metric == "cosine":
        weights = weights / np.repeat(np.sqrt(arranged.squares), np.diff(arranged.starts))
    return weights.astype(np.float32)


def _find_centres(arranged: Arranged, metric: Metric, workers: int) -> Centres:
    """Some rounds of k-means on records that are evenly spaced."""
    n = len(arranged)
    n_clusters = int(np.clip(n // CLUSTER, 1, MOST_CLUSTERS))
    n_sample = min(n, n_clusters * SAMPLE_PER_CLUSTER)
    by_row = np.argsort(arranged.rows, kind="stable")
    places = by_row[np.arange(n_sample) * n // n_sample]
    sample = arranged.take(places)
    own = _weights(sample, metric)
    clusters = np.full(n_sample, -1, np.int32)
    clusters[np.arange(n_clusters) * n_sample // n_clusters] = np.arange(n_clusters, dtype=np.int32)
    leaders = clusters >= 0
    centres = _centres(
        sample.take(np.flatnonzero(leaders)),
        own[np.repeat(leaders, np.diff(sample.starts))],
        clusters[leaders],
        n_clusters,
        metric,
    )
    for _ in range(ROUNDS):
        clusters = _assign(sample, own, centres, workers)
        centres = _centres(sample, own, clusters, n_clusters, metric)
    return centres


def _centres(arranged: Arranged, weights: Singles, clusters: Codes, n_clusters: int, metric: Metric) -> Centres:
    """The means of clusters; for the cosine, their directions. A cluster without records has the centre 0."""
    sums = np.zeros((min(max(arranged.n_items, 2), MOST_TABLE_ROWS), n_clusters))
    kernels.add_members(arranged.starts, arranged.items, weights, clusters, sums)
    squares = (sums**2).sum(axis=0)
    if metric == "cosine":
        return Centres(
            (sums / np.sqrt(np.where(squares > 0, squares, 1.0))).astype(np.float32), np.zeros(n_clusters, np.float32)
        )
    counts = np.maximum(np.bincount(clusters, minlength=n_clusters), 1)
    return Centres((sums / counts).astype(np.float32), (squares / counts**2 / 2).astype(np.float32))


def _assign(arranged: Arranged, weights: Singles, centres: Centres, workers: int) -> Codes:
    """The cluster of each record."""
    n = len(arranged)
    step = max(1, -(-n // (8 * workers)))
    jobs = [(arranged, weights, centres, first, min(first + step, n)) for first in range(0, n, step)]
    with Threads(workers) as executor:
        return np.concatenate(run_blocks(_assign_span, jobs, executor if workers > 1 else None))


def _assign_span(arranged: Arranged, weights: Singles, centres: Centres, first: int, stop: int) -> Codes:
    found = np.empty(stop - first, np.int32)
    kernels.assign(arranged.starts, arranged.items, weights, first, stop, centres.table, centres.biases, found)
    return found


def _search_span(
    arranged: Arranged,
    weights: Singles,
    centres: Centres,
    units: Codes,
    budget: int,
    k: int,
    metric: Metric,
    first: int,
    stop: int,
) -> tuple[Codes, Floats]:
    """Search for the places from `first` to `stop`: in their own units first, then in the others that are near."""
    sizes = np.bincount(units)
    ends = np.cumsum(sizes)
    is_chosen = np.zeros((len(sizes), stop - first), np.bool_)
    kernels.choose_clusters(
        arranged.starts,
        arranged.items,
        weights,
        first,
        stop,
        centres.table,
        centres.biases,
        sizes,
        budget,
        is_chosen,
    )
    own = units[first:stop]
    is_chosen[own, np.arange(stop - first)] = False
    steps: list[tuple[int, int, Ints | None]] = []
    for unit in range(own[0], own[-1] + 1):
        steps.append((int(ends[unit] - sizes[unit]), int(ends[unit]), np.flatnonzero(own == unit)))
    for unit in range(len(sizes)):
        which = np.flatnonzero(is_chosen[unit])
        if len(which):
            steps.append((int(ends[unit] - sizes[unit]), int(ends[unit]), which))
    return search(arranged, k, metric, np.arange(first, stop), steps)


def _recall(arranged: Arranged, found: Codes, metric: Metric, workers: int) -> float:
    """The share of true neighbours among those found, for evenly spaced places."""
    n, k = found.shape
    n_sample = min(n, RECALL_SAMPLE)
    sample = np.arange(n_sample) * n // n_sample
    step = arranged.most_in_block
    blocks: Steps = [(first, min(first + step, n), None) for first in range(0, n, step)]
    tasks: list[Task] = [(arranged, k, metric, part, blocks) for part in np.array_split(sample, min(workers, n_sample))]
    truth, _ = run_tasks(tasks, workers, None)
    owner = np.arange(n_sample)[:, np.newaxis] << 32
    return float(np.isin(found[sample] + owner, truth + owner).mean())
