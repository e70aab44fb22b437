"""Clustering before and after: k-means on originals and on sketches, both judged by the originals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from shoal.arrays import Codes, Ints
from shoal.data.sparse.records import Sparse
from shoal.data.sparse.sketches import Sketches
from shoal.engine.seeds import spawn_seeds
from shoal.sparse.mining.k_means import SketchPoints, spherical_k_means
from shoal.utility.measured import Measured
from shoal.utility.sparse.originals import OriginalPoints, cluster_means, matrix_of, unit_rows

N_CLUSTERS = 10
MOST_RECORDS = 10_000
N_STARTS = 3
N_TRIES = 2  # of each start, the better


@dataclass(frozen=True)
class ClusterQuality(Measured):
    """The mean cosine of an original record to the true centroid of its cluster.

    Attributes
    ----------
    before, after, random : float
        Clusters found among originals; among sketches, with suppressed records put into clusters at random, in
        proportion to their sizes; and the latter clusters with their records drawn anew at random.
    deviation_after : float
        Of `after`, between starts of the algorithm.
    n_clusters : int
    n_records : int
        A sample, where the data has more.
    suppressed : float
        The share of these that are not published.
    """

    before: float
    after: float
    random: float
    deviation_after: float
    n_clusters: int
    n_records: int
    suppressed: float


def compare_clusters(
    original: Sparse,
    published: Sketches,
    rows: Ints,
    *,
    n_clusters: int = N_CLUSTERS,
    seed: int | np.random.SeedSequence = 0,
    most_records: int = MOST_RECORDS,
) -> ClusterQuality | None:
    """Cluster originals and sketches; None where there are too few of either.

    Parameters
    ----------
    original, published, rows
        As for `shoal.utility.sparse.measure.measure_sketches`.
    n_clusters : int
    seed : int or SeedSequence
        Of the sample, the starts and the random assignments.
    most_records : int
        At most this many originals, with the sketches of those among them that are published.

    References
    ----------
    C. C. Aggarwal, P. S. Yu, "On privacy-preservation of text and sparse binary data with sketches", SDM 2007, section
    4.2.
    """
    of_sample, of_starts, of_random = spawn_seeds(seed, 3)
    chosen = np.sort(np.random.default_rng(of_sample).permutation(len(original))[:most_records])
    place = np.full(len(original), -1, np.int64)
    place[chosen] = np.arange(len(chosen))
    kept = np.flatnonzero(place[rows] >= 0)
    matrix = matrix_of(original.take(chosen))
    originals, sketches = OriginalPoints(matrix), SketchPoints(published.take(kept))
    if min(len(originals.seeds), len(sketches.seeds)) < n_clusters:
        return None
    rng = np.random.default_rng(of_random)
    starts = spawn_seeds(of_starts, N_STARTS)
    before = [
        cluster_quality(matrix, spherical_k_means(originals, n_clusters, seed=s, n_init=N_TRIES).labels, n_clusters)
        for s in starts
    ]
    after, random = [], []
    for start in starts:
        found = spherical_k_means(sketches, n_clusters, seed=start, n_init=N_TRIES).labels
        sizes = np.bincount(found, minlength=n_clusters)
        labels = rng.choice(n_clusters, len(chosen), p=sizes / sizes.sum()).astype(np.int32)
        labels[place[rows[kept]]] = found
        after.append(cluster_quality(matrix, labels, n_clusters))
        random.append(cluster_quality(matrix, rng.permutation(labels), n_clusters))
    return ClusterQuality(
        float(np.mean(before)),
        float(np.mean(after)),
        float(np.mean(random)),
        float(np.std(after, ddof=1)),
        n_clusters,
        len(chosen),
        1 - len(kept) / len(chosen),
    )


def cluster_quality(matrix: Any, labels: Codes, n_clusters: int) -> float:
    """The mean cosine of each row to the mean of the rows of its cluster; empty rows count as 0."""
    means = cluster_means(matrix, labels, n_clusters)
    lengths = np.linalg.norm(means, axis=1, keepdims=True)
    cosines = unit_rows(matrix) @ (means / np.where(lengths > 0, lengths, 1.0)).T
    return float(np.asarray(cosines)[np.arange(len(labels)), labels].mean())
