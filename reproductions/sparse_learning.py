"""Figs 3 to 12 of the paper: nearest neighbours and k-means on sketches, beside the same on originals."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import numpy as np
import numpy.typing as npt

from reproductions.sparse_readings import Prepared, Reading
from reproductions.sparse_sets import SparseSet, read_set
from shoal.data.sparse.records import Sparse
from shoal.data.sparse.sketches import Sketches
from shoal.engine.seeds import spawn_seeds
from shoal.sparse.mining.k_means import Points, SketchPoints, spherical_k_means
from shoal.sparse.mining.neighbours_classifier import Votes, elect
from shoal.sparse.mining.similarity import Background, similarity_blocks
from shoal.utility.sparse.clustering import cluster_quality
from shoal.utility.sparse.originals import OriginalPoints, matrix_of, original_blocks

N_NEIGHBORS = (1, 5, 15, 50, 150)
VOTES: tuple[Votes, ...] = ("similarity", "uniform")
N_CLUSTERS = 10
N_STARTS = 3
Blocks = Iterable[tuple[slice, npt.NDArray[np.float32]]]
Compare = Callable[[npt.NDArray[np.intp], npt.NDArray[np.intp]], Blocks]


@dataclass(frozen=True)
class Sizes:
    """How many records are used of a set, classified, held back from training to choose the rule, and clustered."""

    records: int | None = None
    tested: int = 2000
    held: int = 1000
    clustered: int = 4000
    most_k: int = 40


@dataclass(frozen=True)
class Scored:
    """Accuracy on a sample of the test records, and the mean cosine to the centroid of the own cluster.

    The reading "original" stands for the records themselves. `k` is 0 where delta-anonymity alone is asked for.
    """

    name: str
    reading: str
    k: int
    delta: float
    n_train: int
    n_tested: int
    accuracy: float
    rule: str
    median_components: float
    suppressed_test: float
    cosine: float
    cosine_random: float
    n_clustered: int

    @property
    def error(self) -> float:
        """The standard error of the accuracy, from the number of tested records."""
        return float(np.sqrt(self.accuracy * (1 - self.accuracy) / self.n_tested))


@lru_cache(maxsize=1)
def prepared(name: str, records: int | None, most_k: int) -> tuple[Prepared, Prepared]:
    """Training and test records, whose neighbours are searched once for all readings and all k."""
    found = read_set(name, records)
    return Prepared(found.train, most_k), Prepared(found.test, most_k)


def score_original(name: str, sizes: Sizes) -> Scored:
    """The records themselves."""
    found = read_set(name, sizes.records)
    known, tested, rows, rng = _sample(found, sizes)
    matrix, other = matrix_of(known), matrix_of(tested)

    def within(some: npt.NDArray[np.intp], rest: npt.NDArray[np.intp]) -> Blocks:
        return original_blocks(matrix[some], matrix[rest], "cosine")

    labels = labels_of(known)
    guessed, rule = _classify(
        within, partial(original_blocks, other[rows], matrix, "cosine"), labels, len(rows), sizes.held, rng
    )
    accuracy = float((guessed == labels_of(tested)[rows]).mean())
    chosen = _clustered(known, sizes)
    cosine, _ = _cluster(known.take(chosen), OriginalPoints(matrix[chosen]), np.arange(len(chosen)))
    return Scored(
        name, "original", 0, 0.0, len(known), len(rows), accuracy, rule, 0.0, 0.0, cosine, 0.0, len(chosen)
    )  # fmt: skip


def score_sketches(name: str, reading: Reading, k: int, delta: float, sizes: Sizes) -> Scored:
    """Sketches of both parts, made apart with one key."""
    policy = reading.policy(k or None, delta)
    of_train, of_test = prepared(name, sizes.records, sizes.most_k)
    told = (name, reading.name, k, delta)
    return score_made(told, read_set(name, sizes.records), of_train.sketches(policy), of_test.sketches(policy), sizes)


def score_made(
    told: tuple[str, str, int, float], found: SparseSet, made: Sketches, made_test: Sketches, sizes: Sizes
) -> Scored:
    """Some sketches, one for each record; `told` are the first fields of the result."""
    known, tested, rows, rng = _sample(found, sizes)
    kept, asked = np.flatnonzero(made.counts), made_test.take(rows)
    sketches = made.take(kept)
    labels = labels_of(known)
    shares = np.bincount(labels, minlength=len(known.classes)) / len(labels)
    guessed = rng.choice(len(shares), len(rows), p=shares).astype(np.int32)
    there = np.flatnonzero(asked.counts)
    background = Background.of(sketches)

    def compare(some: Sketches, others: Sketches) -> Blocks:
        return similarity_blocks(some, others, "cosine", background)

    def within(some: npt.NDArray[np.intp], rest: npt.NDArray[np.intp]) -> Blocks:
        return compare(sketches.take(some), sketches.take(rest))

    guessed[there], rule = _classify(
        within, partial(compare, asked.take(there), sketches), labels[kept], len(there), sizes.held, rng
    )
    chosen = _clustered(known, sizes)
    present = np.flatnonzero(made.counts[chosen])
    cosine, random = _cluster(known.take(chosen), SketchPoints(made.take(chosen[present])), present)
    return Scored(
        *told,
        len(known),
        len(rows),
        float((guessed == labels_of(tested)[rows]).mean()),
        rule,
        float(np.median(sketches.counts)),
        1 - len(there) / len(rows),
        cosine,
        random,
        len(chosen),
    )


def labels_of(records: Sparse) -> npt.NDArray[np.int32]:
    """The classes, which are there."""
    assert records.labels is not None
    return records.labels


def _sample(found: SparseSet, sizes: Sizes) -> tuple[Sparse, Sparse, npt.NDArray[np.intp], np.random.Generator]:
    """Both parts, the rows to test on, the same in all runs, and a generator."""
    rng = np.random.default_rng(0)
    rows = np.sort(rng.permutation(len(found.test))[: sizes.tested])
    return found.train, found.test, rows, rng


def _clustered(records: Sparse, sizes: Sizes) -> npt.NDArray[np.intp]:
    return np.sort(np.random.default_rng(0).permutation(len(records))[: sizes.clustered])


def _classify(
    within: Compare,
    blocks: Callable[[], Blocks],
    labels: npt.NDArray[np.int32],
    n_tested: int,
    most_held: int,
    rng: np.random.Generator,
) -> tuple[npt.NDArray[np.int32], str]:
    """Choose the number of neighbours and the votes on some training records, then name the classes of the tested."""
    order = rng.permutation(len(labels))
    n_held = min(most_held, len(order) // 3)
    held, rest = order[:n_held], order[n_held:]
    n_classes = int(labels.max()) + 1
    tried = elect(within(held, rest), labels[rest], n_classes, N_NEIGHBORS, VOTES, n_held)
    n, votes = max(tried, key=lambda rule: float((tried[rule] == labels[held]).mean()))
    named = elect(blocks(), labels, n_classes, [n], [votes], n_tested)
    return named[n, votes], f"{n}, {votes}"


def _cluster(records: Sparse, points: Points, present: npt.NDArray[np.intp]) -> tuple[float, float]:
    """The mean cosine over several starts, judged by the originals; and that of the same clusters filled at random."""
    matrix: Any = matrix_of(records)
    rng = np.random.default_rng(0)
    found, random = [], []
    for seed in spawn_seeds(0, N_STARTS):
        labels = spherical_k_means(points, N_CLUSTERS, seed=seed, n_init=1, max_iter=30).labels
        sizes = np.bincount(labels, minlength=N_CLUSTERS)
        everyone = rng.choice(N_CLUSTERS, len(records), p=sizes / sizes.sum()).astype(np.int32)
        everyone[present] = labels
        found.append(cluster_quality(matrix, everyone, N_CLUSTERS))
        random.append(cluster_quality(matrix, rng.permutation(everyone), N_CLUSTERS))
    return float(np.mean(found)), float(np.mean(random))
