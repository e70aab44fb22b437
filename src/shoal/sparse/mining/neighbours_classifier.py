"""k-nearest-neighbour classification of sketches, with no key and no originals."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

import numpy as np

from shoal.arrays import Codes, Floats, Mask, Rows, Singles
from shoal.data.sparse.sketches import Sketches
from shoal.errors import DataError, PolicyError
from shoal.sparse.mining.similarity import Background, Metric, similarity_blocks

Votes = Literal["similarity", "uniform"]


# A vote is exp(SHARPNESS * similarity). Of 16 to 64, tried as told below, 16 and 32 did equally well, 64 worse.
SHARPNESS = 24.0


class SketchKNeighbors:
    """The classes of the nearest sketches.

    Parameters
    ----------
    n_neighbors : int, default 150
        Estimates are noisy, so many neighbours serve better than few; with votes by similarity, far ones count little.
    metric : {"cosine", "euclidean"}
    votes : {"similarity", "uniform"}
        A vote grows exponentially with similarity, or all are equal.

    Attributes
    ----------
    classes_ : tuple of str
        The names of the classes.

    Notes
    -----
    Similarities are those of `similarity_blocks`: on the common components of two records, and cautious where these are
    few. Neighbours that are equally near share the votes that are left for them, so that the order of records is
    without influence; a tie of votes goes to the class of more similar neighbours, then to the first by name.

    The defaults were chosen on random samples of 6,000 records of 20 newsgroups and of V20.I4.D20K, a third of them
    held back, with 10 to 128 components. To judge a release, `shoal.utility.sparse.learn` chooses anew, on training
    records alone.

    References
    ----------
    C. C. Aggarwal, P. S. Yu, "On privacy-preservation of text and sparse binary data with sketches", SDM 2007, section
    3.3, "Classification".

    Examples
    --------
    >>> labels = np.array([0, 1], np.int32)
    >>> sketches = Sketches(np.array([0, 3, 6]), np.array([4, 2, -4, -4, 2, 4]), labels=labels, classes=("a", "b"))
    >>> SketchKNeighbors(n_neighbors=1).fit(sketches).predict(sketches)
    array([0, 1], dtype=int32)
    """

    classes_: tuple[str, ...]

    def __init__(self, n_neighbors: int = 150, metric: Metric = "cosine", votes: Votes = "similarity") -> None:
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.votes = votes

    def fit(self, sketches: Sketches) -> SketchKNeighbors:
        """Keep the sketches with their classes."""
        if isinstance(self.n_neighbors, bool) or self.n_neighbors < 1:
            raise PolicyError("the number of neighbours is below 1; give 1 or more")
        if self.metric not in ("cosine", "euclidean"):
            raise PolicyError("the metric of neighbours is not known; take 'cosine' or 'euclidean'")
        if self.votes not in ("similarity", "uniform"):
            raise PolicyError("the votes of neighbours are not known; take 'similarity' or 'uniform'")
        if sketches.labels is None or not len(sketches):
            raise DataError("a classifier needs sketches with classes; publish the classes, or read another file")
        self.classes_ = sketches.classes
        self._known = sketches
        self._background = Background.of(sketches)
        return self

    def predict(self, sketches: Sketches) -> Codes:
        """The class of each sketch, an index into `classes_`. The sketches must come from the key of those of `fit`."""
        blocks = similarity_blocks(sketches, self._known, self.metric, self._background)
        assert self._known.labels is not None
        found = elect(blocks, self._known.labels, len(self.classes_), [self.n_neighbors], [self.votes], len(sketches))
        return found[self.n_neighbors, self.votes]

    def score(self, sketches: Sketches) -> float:
        """The share of sketches whose class is found; classes are compared by name."""
        if sketches.labels is None or not len(sketches):
            raise DataError("a score needs sketches with classes; give them, or use predict")
        code_of = {name: code for code, name in enumerate(self.classes_)}
        truth = np.array([code_of.get(name, -1) for name in sketches.classes], np.int32)[sketches.labels]
        return float((self.predict(sketches) == truth).mean())


def elect(
    blocks: Iterable[tuple[slice, Singles]],
    labels: Codes,
    n_classes: int,
    n_neighbors: Sequence[int],
    votes: Sequence[Votes],
    n_tested: int,
) -> dict[tuple[int, Votes], Codes]:
    """The classes that the nearest known records vote for, for several numbers of neighbours and kinds of vote at once.

    Parameters
    ----------
    blocks : iterable of (slice, float32 array)
        Similarities of tested records to all known ones; from `similarity_blocks`, or of originals.
    labels : int32 array
        Of the known records.
    n_classes, n_tested : int
    n_neighbors : sequence of int
    votes : sequence of {"similarity", "uniform"}
    """
    out: dict[tuple[int, Votes], Codes] = {(k, v): np.zeros(n_tested, np.int32) for k in n_neighbors for v in votes}
    n_known = len(labels)
    places = {k: n_known - min(k, n_known) for k in n_neighbors}
    for rows, block in blocks:
        # The k-th best similarities of each row, all from one partial sort.
        ordered = np.partition(block, sorted(set(places.values())), axis=1)
        limits = {k: ordered[:, place] for k, place in places.items()}
        owners, known = np.nonzero(block >= limits[max(places)][:, None])
        near = block[owners, known]
        cells = owners * n_classes + labels[known]
        strengths = np.exp(SHARPNESS * (near - block.max(axis=1)[owners]).astype(np.float64))
        for k, limit in limits.items():
            shares = _shares(near, limit[owners], owners, len(block), min(k, n_known))
            kinds = [_sums(cells, w, len(block), n_classes) for w in (shares, shares * strengths)]
            for vote in votes:
                first, second = kinds if vote == "uniform" else kinds[::-1]
                leading = np.where(_is_most(first), second, 0.0)
                out[k, vote][rows] = _is_most(leading).argmax(axis=1)
    return out


def _is_most(votes: Floats) -> Mask:
    """Which classes have the most votes; sums of the same votes in another order are the same."""
    return np.asarray(votes >= votes.max(axis=1, keepdims=True) * (1 - 1e-9))


def _shares(near: Singles, limits: Singles, owners: Rows, n_rows: int, k: int) -> Floats:
    """One vote for each that is nearer than the k-th; those as near as it share the rest."""
    nearer, tied = near > limits, near == limits
    left = k - np.bincount(owners[nearer], minlength=n_rows)
    each = left / np.maximum(np.bincount(owners[tied], minlength=n_rows), 1)
    return np.asarray(np.where(nearer, 1.0, np.where(tied, each[owners], 0.0)), np.float64)


def _sums(cells: Rows, weights: Floats, n_rows: int, n_classes: int) -> Floats:
    totals = np.bincount(cells, weights=weights, minlength=n_rows * n_classes)
    return np.asarray(totals, np.float64).reshape(n_rows, n_classes)
