"""k-variance anonymity: how many components leave the similarities of a record to its k nearest in doubt.

For each record q and each of its k nearest l, the estimate of x_q . x_l from the first min(m_q, m_l) components must
have a standard deviation of at least the threshold, so the edge (q, l) allows M_ql = floor(variance / threshold^2)
common components: min(m_q, m_l) <= M_ql. Where threshold and variance can be read in two ways, see
`shoal.kinds.sparse.policy`.

How this departs from the paper's Fig. 2: "minimum integral value" is read as the maximum that satisfies the condition;
counts start at caps rather than at infinity; and passes need not settle (three records that are each other's only
neighbours in a ring, all edges alike, go round for ever), so a last visit of every edge lowers what is still too much.

**Guarantee**: no edge is violated. **Not protected**: nothing is said about pairs that are not among each other's k
nearest, nor about single attributes: caps by `shoal.sparse.delta` and `shoal.sparse.recovery_cap` see to those.

References
----------
C. C. Aggarwal, P. S. Yu, "On privacy-preservation of text and sparse binary data with sketches", SDM 2007,
Definition 3, Fig. 2.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np

from shoal.arrays import Codes, Floats, Ints
from shoal.data.sparse.records import Sparse
from shoal.engine.threads import Threads
from shoal.kernels.sparse.edges import fill_allowed, lower_counts, settle_counts

Threshold = Literal["sqrt", "difference"]
Variance = Literal["smaller", "paper", "exact"]

MAX_PASSES = 50
_BLOCK_EDGES = 1 << 18


@dataclass(frozen=True)
class Edges:
    """The edges from each record to its neighbours.

    Attributes
    ----------
    neighbours : int32 array (n_records, k)
        The rows of its neighbours; -1 for none.
    allowed : int32 array (n_records, k)
        How many components the two may share; 2^31 - 1 for any number.
    """

    neighbours: Codes
    allowed: Codes


def edges_of(
    records: Sparse, neighbours: Codes, threshold: Threshold = "sqrt", variance: Variance = "smaller"
) -> Edges:
    """What the edges to the given neighbours allow.

    Examples
    --------
    >>> items = np.array([0, 1, 2, 1, 2, 3], np.int32)
    >>> records = Sparse(np.array([0, 3, 6]), items, np.ones(6, np.int64), ("a", "b", "c", "d"))
    >>> edges_of(records, np.array([[1], [0]], np.int32), variance="exact").allowed.ravel()  # below (9 + 4 - 4) / 1
    array([8, 8], dtype=int32)
    """
    neighbours = np.ascontiguousarray(neighbours, np.int32)
    allowed = np.empty_like(neighbours)
    weights, squares = records.weights.astype(np.float64), records.squares
    reading = (threshold == "difference", variance != "exact", variance != "paper")
    n = len(records)
    n_blocks = max(1, min(n, neighbours.size // _BLOCK_EDGES + 1))
    cuts = np.linspace(0, n, n_blocks + 1).astype(np.int64).tolist()
    with Threads(os.cpu_count() or 1, thread_name_prefix="shoal") as threads:
        jobs = [
            threads.submit(
                fill_allowed,
                *(records.starts, records.items, weights, squares, neighbours, records.n_items),
                *(begin, end, *reading, allowed),
            )
            for begin, end in pairwise(cuts)
        ]
        for job in jobs:
            job.result()
    return Edges(neighbours, allowed)


def k_variance_counts(
    edges: Edges,
    distances: Floats,
    caps: Ints,
    *,
    tolerance: float = 0.0,
    max_passes: int = MAX_PASSES,
) -> tuple[Ints, int]:
    """The number of components of each record, and how many passes it took.

    Parameters
    ----------
    edges : Edges
    distances : float64 array (n_records,)
        The distance to the k-th neighbour: the farthest choose first. Of equal ones, the earlier row.
    caps : int64 array (n_records,)
        The most components of each record for other reasons.
    tolerance : float, default 0
        Passes end when counts change by no more than this share of their total.
    max_passes : int

    Returns
    -------
    int64 array (n_records,), int
        Where passes settled, each count is the most that its own edges allow given the others, so it is never below
        `strict_counts`. Where they did not, the last visit may leave some below.
    """
    counts = np.ascontiguousarray(caps, np.int64).copy()
    caps = counts.copy()
    order = np.argsort(-distances, kind="stable").astype(np.int64)
    n_passes = 0
    while n_passes < max_passes:
        change = settle_counts(edges.neighbours, edges.allowed, order, caps, counts)
        n_passes += 1
        if change <= tolerance * counts.sum():
            break
    lower_counts(edges.neighbours, edges.allowed, order, counts)
    return counts, n_passes
