"""Spherical k-means on sketches: clusters of records that point the same way, with no key and no originals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from shoal.arrays import Codes, Rows, Singles
from shoal.data.sparse.sketches import Sketches
from shoal.engine.seeds import spawn_seeds
from shoal.errors import DataError, PolicyError
from shoal.sparse.mining.estimates import mean_squares
from shoal.sparse.mining.similarity import Background, component_matrix, shrunk

_BLOCK = 1 << 14


class Points(Protocol):
    """What `spherical_k_means` needs of records, be they sketches or originals."""

    @property
    def seeds(self) -> Rows:
        """The records that a cluster may start from."""

    def rows(self, rows: Rows) -> Singles:
        """Records as centroids: (n_rows, width)."""

    def cosines(self, centroids: Singles) -> Singles:
        """Of each record to each centroid: (n_records, n_centroids). Centroids need not have unit length."""

    def centroids(self, labels: Codes, n_clusters: int) -> Singles:
        """The mean of the unit vectors of each cluster; zeros where it is empty."""


@dataclass(frozen=True)
class Clustering:
    """Clusters of records.

    Attributes
    ----------
    labels : int32 array (n_records,)
    centroids : float32 array (n_clusters, width)
    cosine : float
        The mean cosine of a record to its centroid, as far as the records that were clustered tell.
    n_iter : int
        Rounds of the best start.
    """

    labels: Codes
    centroids: Singles
    cosine: float
    n_iter: int


class SketchKMeans:
    """k-means by cosine.

    Parameters
    ----------
    n_clusters : int, default 10
    seed : int, default 0
        Of the starts. None takes the operating system's entropy.
    n_init : int, default 4
        How many starts; the one with the largest mean cosine is kept.
    max_iter : int, default 50

    Attributes
    ----------
    labels_ : int32 array (n_records,)
        The cluster of each record.
    centroids_ : float32 array (n_clusters, n_components)
        The components of their sketches, of records scaled to unit length.
    cosine_ : float
        The mean cosine to the own centroid, estimated. Too large where clusters are small and components few, since
        the noise of a record is part of its centroid.
    n_iter_ : int

    Notes
    -----
    Cosines rather than distances, since the paper judges clusters by cosines and records differ much in length.
    Component j of a centroid is the mean over the members that have it, and a record is compared on the components that
    it has.

    References
    ----------
    C. C. Aggarwal, P. S. Yu, "On privacy-preservation of text and sparse binary data with sketches", SDM 2007, section
    3.3, "Clustering", and 4.2.
    I. S. Dhillon, D. S. Modha, "Concept decompositions for large sparse text data using clustering", Machine Learning
    42, 2001.

    Examples
    --------
    >>> sketches = Sketches(np.arange(0, 13, 3), np.array([4, 2, -4, 4, 2, -2, -4, 2, 4, -4, 4, 2]))
    >>> labels = SketchKMeans(n_clusters=2).fit(sketches).labels_
    >>> bool(labels[0] == labels[1] != labels[2] == labels[3])
    True
    """

    labels_: Codes
    centroids_: Singles
    cosine_: float
    n_iter_: int

    def __init__(self, n_clusters: int = 10, seed: int | None = 0, n_init: int = 4, max_iter: int = 50) -> None:
        self.n_clusters = n_clusters
        self.seed = seed
        self.n_init = n_init
        self.max_iter = max_iter

    def fit(self, sketches: Sketches) -> SketchKMeans:
        """Find the clusters."""
        found = spherical_k_means(
            SketchPoints(sketches), self.n_clusters, seed=self.seed, n_init=self.n_init, max_iter=self.max_iter
        )
        self.labels_, self.centroids_ = found.labels, found.centroids
        self.cosine_, self.n_iter_ = found.cosine, found.n_iter
        return self

    def predict(self, sketches: Sketches) -> Codes:
        """The nearest cluster of each sketch, which must come from the key of those of `fit`."""
        points = SketchPoints(sketches, self.centroids_.shape[1])
        return _nearest(points.cosines(self.centroids_))


class SketchPoints:
    """Sketches, scaled to the unit length of their records, as `spherical_k_means` takes them."""

    def __init__(self, sketches: Sketches, width: int | None = None) -> None:
        counts = sketches.counts
        background = Background.of(sketches)
        squares = shrunk(mean_squares(sketches), counts, background.square, background.square_deviation**2)
        self._units = component_matrix(sketches, width)
        self._units /= np.sqrt(squares).astype(np.float32)[:, None]
        self._counts = np.minimum(counts, self._units.shape[1])

    @property
    def seeds(self) -> Rows:
        """Records with no fewer components than the median: a start of few components is hardly one."""
        return np.flatnonzero(self._counts >= max(np.median(self._counts), 1))

    def rows(self, rows: Rows) -> Singles:
        """The components of some records."""
        return self._units[rows]

    def cosines(self, centroids: Singles) -> Singles:
        """On the components that a record has; 0 where it has none."""
        # The length of a centroid, like that of a record, is the root of the mean square of the components it has.
        having = np.maximum((centroids != 0).sum(axis=1), 1)
        lengths = np.sqrt((centroids.astype(np.float64) ** 2).sum(axis=1) / having)
        scaled = centroids / np.maximum(lengths, 1e-30).astype(np.float32)[:, None]
        return np.asarray(self._units @ scaled.T / np.maximum(self._counts, 1).astype(np.float32)[:, None])

    def centroids(self, labels: Codes, n_clusters: int) -> Singles:
        """Component by component, over the members that have it."""
        width = self._units.shape[1]
        totals, having = np.zeros((n_clusters, width)), np.zeros((n_clusters, width))
        for begin in range(0, len(labels), _BLOCK):
            rows = slice(begin, begin + _BLOCK)
            member = (labels[rows, None] == np.arange(n_clusters)).astype(np.float32)
            totals += member.T @ self._units[rows]
            having += member.T @ (np.arange(width) < self._counts[rows, None]).astype(np.float32)
        return (totals / np.maximum(having, 1)).astype(np.float32)


def spherical_k_means(
    points: Points,
    n_clusters: int,
    *,
    seed: int | np.random.SeedSequence | None = 0,
    n_init: int = 4,
    max_iter: int = 50,
) -> Clustering:
    """Lloyd's rounds by cosine, from several starts; see `SketchKMeans`."""
    if min(n_clusters, n_init, max_iter) < 1:
        raise PolicyError("the numbers of clusters, of starts and of rounds must be 1 or more; mend them")
    if len(points.seeds) < n_clusters:
        raise DataError(f"there are too few records for {n_clusters} clusters; ask for fewer")
    runs = [_run(points, n_clusters, max_iter, np.random.default_rng(s)) for s in spawn_seeds(seed, n_init)]
    return max(runs, key=lambda run: run.cosine)


def _run(points: Points, n_clusters: int, max_iter: int, rng: np.random.Generator) -> Clustering:
    centroids = _starts(points, n_clusters, rng)
    labels: Codes | None = None
    n_iter, settled = 0, False
    while n_iter < max_iter and not settled:
        n_iter += 1
        cosines = points.cosines(centroids)
        nearest = _nearest(cosines)
        _refill(nearest, cosines, points.seeds, n_clusters)
        settled = labels is not None and bool((labels == nearest).all())
        labels = nearest
        centroids = centroids if settled else points.centroids(labels, n_clusters)
    assert labels is not None
    cosine = float(np.take_along_axis(points.cosines(centroids), labels[:, None], axis=1).mean(dtype=np.float64))
    return Clustering(labels, centroids, cosine, n_iter)


def _starts(points: Points, n_clusters: int, rng: np.random.Generator) -> Singles:
    """Records far from each other, drawn as by k-means++ with 1 - cosine for the squared distance."""
    seeds = points.seeds
    chosen = [int(rng.integers(len(seeds)))]
    nearest = np.full(len(seeds), -np.inf)
    while len(chosen) < n_clusters:
        nearest = np.maximum(nearest, points.cosines(points.rows(seeds[chosen[-1:]]))[seeds, 0])
        chances = np.clip(1 - nearest, 0, None)
        chances[chosen] = 0
        if not chances.any():  # all others are copies of those chosen
            chances = np.ones(len(seeds))
            chances[chosen] = 0
        chosen.append(int(rng.choice(len(seeds), p=chances / chances.sum())))
    return points.rows(seeds[chosen])


def _nearest(cosines: Singles) -> Codes:
    return np.asarray(cosines.argmax(axis=1), np.int32)


def _refill(labels: Codes, cosines: Singles, seeds: Rows, n_clusters: int) -> None:
    """Give each empty cluster the record that fits its own worst."""
    sizes = np.bincount(labels, minlength=n_clusters)
    fits = cosines[seeds, labels[seeds]]
    for empty in np.flatnonzero(sizes == 0):
        for place in np.argsort(fits, kind="stable"):
            if sizes[labels[seeds[place]]] > 1:
                sizes[labels[seeds[place]]] -= 1
                labels[seeds[place]], fits[place] = empty, np.inf
                sizes[empty] = 1
                break
