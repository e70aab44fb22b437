"""All measures of a release of sparse records, in a time that is bounded: on samples of large ones."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from shoal.arrays import Ints
from shoal.data.sparse.records import Sparse
from shoal.data.sparse.sketches import Sketches
from shoal.engine.seeds import spawn_seeds
from shoal.errors import DataError, ShoalError
from shoal.utility.sparse.classification import Anonymizer, SketchLearning, learn
from shoal.utility.sparse.clustering import ClusterQuality, compare_clusters
from shoal.utility.sparse.dot_products import Agreement, compare_dot_products, compare_squared_lengths
from shoal.utility.sparse.neighbours_kept import N_NEAREST, NeighboursKept, count_neighbours_kept
from shoal.utility.sparse.originals import matrix_of, nearest_originals, unit_rows

N_PAIRS = 2000
N_SAMPLED = 1000
MOST_AGAINST = 50_000
MOST_LEARNED = 5000  # records that are classified and clustered: text takes a third of a minute
QUANTILES = (0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0)
MOST_BINS = 40


@dataclass(frozen=True)
class ComponentCounts:
    """How many components records were published with.

    Attributes
    ----------
    mean : float
        Over published records.
    quantiles : tuple of (float, int)
        The share of published records, and the number that so many have at most. Tails of fewer than k are cut off.
    edges, counts : tuple of int
        A histogram: bin i holds ``counts[i]`` records with ``edges[i]`` or more and fewer than ``edges[i + 1]``
        components; k records or more, unless fewer are published.
    """

    mean: float
    quantiles: tuple[tuple[float, int], ...]
    edges: tuple[int, ...]
    counts: tuple[int, ...]

    @classmethod
    def of(cls, published: Sketches, k: int) -> ComponentCounts:
        """Count; a bin has at least k records."""
        numbers = np.sort(published.counts)
        if not len(numbers):
            return cls(0.0, (), (), ())
        places = np.round(np.multiply(QUANTILES, len(numbers) - 1)).astype(np.intp)
        # The k-th smallest and largest stand for all beyond them, so that no number is of fewer than k records.
        inner = np.clip(places, min(k, len(numbers)) - 1, max(len(numbers) - k, 0))
        quantiles = tuple((share, int(numbers[place])) for share, place in zip(QUANTILES, inner, strict=True))
        each = np.bincount(numbers)
        least = max(k, -(-len(numbers) // MOST_BINS) if len(np.unique(numbers)) > MOST_BINS else 1)
        edges, counts, held = [int(numbers[0])], [], 0
        for number in range(int(numbers[0]), len(each)):
            held += int(each[number])
            if held >= least:
                edges.append(number + 1)
                counts.append(held)
                held = 0
        if held and counts:
            counts[-1] += held
            edges[-1] = len(each)
        elif held:
            edges.append(len(each))
            counts.append(held)
        return cls(float(numbers.mean()), quantiles, tuple(edges), tuple(counts))


@dataclass(frozen=True)
class SparseUtility:
    """What the protection cost.

    Attributes
    ----------
    n_records, n_published : int
    components : ComponentCounts
    random_pairs, near_pairs : Agreement or None
        Dot products of random pairs, and of records with one of their nearest.
    squared_lengths : Agreement or None
    neighbours : NeighboursKept or None
    learning : SketchLearning or None
        Where there are classes, and the records can be anonymised anew in two parts.
    clusters : ClusterQuality or None
        None, here and above, where too few records are published.
    """

    n_records: int
    n_published: int
    components: ComponentCounts
    random_pairs: Agreement | None
    near_pairs: Agreement | None
    squared_lengths: Agreement | None
    neighbours: NeighboursKept | None
    learning: SketchLearning | None
    clusters: ClusterQuality | None

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        parts = ("random_pairs", "near_pairs", "squared_lengths", "neighbours")
        told = {n: None if getattr(self, n) is None else getattr(self, n).to_dict() for n in parts}
        return asdict(self) | told


def measure_sketches(
    original: Sparse,
    published: Sketches,
    rows: Ints,
    *,
    make: Anonymizer | None = None,
    k: int = 10,
    seed: int = 0,
) -> SparseUtility:
    """Compare published sketches with the originals, those that were suppressed included.

    Parameters
    ----------
    original : Sparse
    published : Sketches
    rows : int64 array
        The original record of each sketch.
    make : callable, optional
        Anonymises other records in the same way and with the same key; for classification, see `learn`.
    k : int
        No bin of a histogram has fewer records.
    seed : int
        Of all samples.
    """
    if len(rows) != len(published) or (len(rows) and not 0 <= rows.min() <= rows.max() < len(original)):
        raise DataError("the rows of sketches do not name the original of each; give those that the method returned")
    of_against, of_sample, of_pairs, of_learning, of_clusters = spawn_seeds(seed, 5)
    against = _sampled(len(published), MOST_AGAINST, of_against)
    shown, shown_rows = published.take(against), rows[against]
    random_pairs = near_pairs = lengths = neighbours = None
    if len(shown) > N_NEAREST:
        rng = np.random.default_rng(of_pairs)
        one = rng.integers(0, len(shown), N_PAIRS)
        pairs = np.column_stack([one, (one + rng.integers(1, len(shown), N_PAIRS)) % len(shown)])
        random_pairs = compare_dot_products(original, shown, shown_rows, pairs)
        sampled = _sampled(len(shown), N_SAMPLED, of_sample)
        nearest = nearest_originals(unit_rows(matrix_of(original.take(shown_rows))), sampled, N_NEAREST)
        neighbours = count_neighbours_kept(shown, sampled, nearest)
        # Two of the nearest of each, so that at most 2,000 pairs come from 1,000 records.
        picked = np.argsort(rng.random(nearest.shape), axis=1)[:, : N_PAIRS // N_SAMPLED]
        near = np.column_stack(
            [np.repeat(sampled, picked.shape[1]), np.take_along_axis(nearest, picked, axis=1).ravel()]
        )
        near_pairs = compare_dot_products(original, shown, shown_rows, rng.permutation(near))
        lengths = compare_squared_lengths(original, shown, shown_rows, rng.permutation(len(shown))[:N_PAIRS])
    return SparseUtility(
        len(original),
        len(published),
        ComponentCounts.of(published, k),
        random_pairs,
        near_pairs,
        lengths,
        neighbours,
        _learned(original, make, of_learning),
        compare_clusters(original, published, rows, seed=of_clusters, most_records=MOST_LEARNED),
    )


def _learned(original: Sparse, make: Anonymizer | None, seed: np.random.SeedSequence) -> SketchLearning | None:
    if make is None or original.labels is None:
        return None
    try:
        return learn(original, make, seed=seed, most_records=MOST_LEARNED)
    except ShoalError:  # one class, or parts too small to be anonymised apart
        return None


def _sampled(n: int, most: int, seed: np.random.SeedSequence) -> Ints:
    return np.sort(np.random.default_rng(seed).permutation(n)[:most])
