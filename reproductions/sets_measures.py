"""What the comparison of ways to publish baskets and texts measures beside the package: clusters and classifiers."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from shoal.arrays import Codes, Ints
from shoal.data.sparse.records import Sparse, ones
from shoal.data.sparse.sketches import Sketches
from shoal.engine.seeds import spawn_seeds
from shoal.sparse.mining.k_means import spherical_k_means
from shoal.sparse.mining.neighbours_classifier import elect
from shoal.sparse.mining.similarity import component_matrix
from shoal.sparse.near_groups import person_groups
from shoal.sparse.pseudo_baskets import without_rare
from shoal.utility.sparse.baskets import binary_matrix, compare_classifiers, tf_idf
from shoal.utility.sparse.clustering import cluster_quality
from shoal.utility.sparse.originals import OriginalPoints, original_blocks

N_CLUSTERS, N_STARTS, MOST_CLUSTERED = 10, 3, 5000
NEIGHBOURS = (1, 5, 15)  # beside the root of the number of known records, and three times that
WEIGHTS = (0.1, 0.3, 1.0, 3.0, 10.0)  # of the data against the penalty; 1 is scikit-learn's default


def clusters(original: Sparse, made: Sparse, seed: int) -> dict[str, float]:
    """The mean cosine of originals to the centroid of their cluster, by centroids found among other records.

    Centroids are found among originals, among as many published records, and among published ones whose columns were
    permuted, each by itself; then originals join the nearest. `random` is of random clusters of the same sizes.
    """
    rng = np.random.default_rng(seed)
    names = [original.names[i] for i in np.flatnonzero(original.supports).tolist()]
    ours = binary_matrix(original.take(_some(len(original), rng)), names)
    shown = binary_matrix(made.take(_some(len(made), rng)), names)
    points = OriginalPoints(ours)
    found: dict[str, list[float]] = {"before": [], "after": [], "permuted": [], "random": []}
    for start in spawn_seeds(seed, N_STARTS):
        for name, matrix in (("before", ours), ("after", shown), ("permuted", permuted(shown, rng))):
            among = OriginalPoints(matrix)
            labels = spherical_k_means(among, N_CLUSTERS, seed=start, n_init=1, max_iter=30).labels
            joined = points.cosines(among.centroids(labels, N_CLUSTERS)).argmax(axis=1).astype(np.int32)
            found[name].append(cluster_quality(ours, joined, N_CLUSTERS))
            if name == "after":
                found["random"].append(cluster_quality(ours, rng.permutation(joined), N_CLUSTERS))
    return {name: float(np.mean(values)) for name, values in found.items()}


def _some(n: int, rng: np.random.Generator) -> Any:
    return np.sort(rng.permutation(n)[:MOST_CLUSTERED])


def permuted(matrix: Any, rng: np.random.Generator) -> Any:
    """The same with the rows of each column drawn anew."""
    from scipy.sparse import csc_matrix

    by_column = matrix.tocsc()
    n, counts = by_column.shape[0], np.diff(by_column.indptr).tolist()
    rows = [rng.choice(n, count, replace=False, shuffle=False) for count in counts if count]
    indices = np.concatenate(rows) if rows else np.zeros(0, np.int64)
    return csc_matrix((by_column.data, indices, by_column.indptr), shape=by_column.shape).tocsr()


def logistic(kept: Sparse, made: Sparse, back: Sparse) -> list[dict[str, Any]]:
    """The share of others told by logistic regression."""
    scores = [_scored(regression(), side, kept, back) for side in (kept, made)]
    return [{"classifier": "logistic regression", "before": scores[0], "after": scores[1]}]


def regression(weight: float = 1.0) -> Any:
    """Logistic regression as scikit-learn has it by default, but followed to the optimum."""
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(C=weight, max_iter=2000)


def _scored(model: Any, side: Sparse, kept: Sparse, back: Sparse) -> float:
    """The share told by a model that learned from rows of length 1, weighted by how rare an item is among them."""
    names = [kept.names[i] for i in np.flatnonzero(kept.supports).tolist()]
    known, asked = _unit_rows(binary_matrix(side, names), binary_matrix(back, names))
    return float((model.fit(known, class_names(side)).predict(asked) == class_names(back)).mean())


def _unit_rows(known: Any, asked: Any) -> Any:
    from sklearn.preprocessing import normalize

    return [normalize(rows) for rows in tf_idf(known, asked)]


def told_by_settings(kept: Sparse, made: Sparse, back: Sparse) -> list[dict[str, Any]]:
    """What is told by other numbers of neighbours, other penalties, and by rows as they are, most of them worse."""
    from sklearn.linear_model import SGDClassifier

    found = []
    root = math.isqrt(len(kept))
    by_number = [_told_by_nearest(side, kept, back, (*NEIGHBOURS, root, 3 * root)) for side in (kept, made)]
    for number, before in by_number[0].items():
        found.append({"classifier": _number_of(number), "before": before, "after": by_number[1][number]})
    for weight in WEIGHTS:
        before, after = (_scored(regression(weight), side, kept, back) for side in (kept, made))
        found.append({"classifier": f"logistic regression, C = {weight:g}", "before": before, "after": after})
    names = [kept.names[i] for i in np.flatnonzero(kept.supports).tolist()]
    asked, scores = binary_matrix(back, names), []
    for side in (kept, made):
        model = SGDClassifier(loss="log_loss", random_state=1, max_iter=20, tol=None)
        told = model.fit(binary_matrix(side, names), class_names(side)).predict(asked)
        scores.append(float((told == class_names(back)).mean()))
    name = "logistic regression of rows of 0 and 1, 20 rounds of gradients"
    return [*found, {"classifier": name, "before": scores[0], "after": scores[1]}]


def _number_of(neighbours: int) -> str:
    return "the nearest neighbour" if neighbours == 1 else f"{neighbours:,} nearest neighbours"


def _told_by_nearest(side: Sparse, kept: Sparse, back: Sparse, numbers: tuple[int, ...]) -> dict[int, float]:
    assert side.labels is not None
    names = [kept.names[i] for i in np.flatnonzero(kept.supports).tolist()]
    known, asked = tf_idf(binary_matrix(side, names), binary_matrix(back, names))
    blocks = original_blocks(asked, known, "cosine")
    found = elect(blocks, side.labels, len(side.classes), list(numbers), ["similarity"], len(back))
    classes, true = np.array(side.classes), class_names(back)
    return {n: float((classes[found[n, "similarity"]] == true).mean()) for n in numbers}


def class_names(records: Sparse | Sketches) -> Any:
    """The class of each record."""
    assert records.labels is not None
    return np.array(records.classes)[records.labels]


def told_by_components(known: Sketches, asked: Sketches) -> list[tuple[str, Codes]]:
    """Classes by classifiers whose input are components; what a sketch has not stands as 0."""
    from sklearn.naive_bayes import GaussianNB

    one, other = component_matrix(known), component_matrix(asked)
    width = max(one.shape[1], other.shape[1])
    one, other = (np.pad(side, ((0, 0), (0, width - side.shape[1]))) for side in (one, other))
    scale = max(float(one.std()), 1e-9)
    models = (("naive Bayes", GaussianNB()), ("logistic regression", regression()))
    return [(name, m.fit(one / scale, class_names(known)).predict(other / scale)) for name, m in models]


def without_items(kept: Sparse, asked: Sparse, k: int, support: int) -> list[dict[str, Any]]:
    """What classifiers tell of originals without the items that no pseudo-basket can hold, and their share of places.

    First without those that fewer than k records hold, then also without those that fewer than `support` of their class
    do: what is lost then is lost before anything is dealt.
    """
    assert kept.labels is not None
    owners = np.repeat(np.arange(len(kept)), kept.sizes)
    in_class = kept.labels[owners].astype(np.int64) * kept.n_items + kept.items
    _, inverse, counts = np.unique(in_class, return_inverse=True, return_counts=True)
    is_common = kept.supports[kept.items] >= k
    found = []
    for is_left in (is_common, is_common & (counts[inverse] >= support)):
        sizes = np.bincount(owners[is_left], minlength=len(kept))
        starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])
        left = replace(kept, starts=starts, items=kept.items[is_left], weights=kept.weights[is_left])
        classes = [vars(c) for c in compare_classifiers(kept, left, asked)] + logistic(kept, left, asked)
        found.append({"places_left_out": 1 - float(is_left.mean()), "classes": classes})
    return found


def dealt_freely(kept: Sparse, k: int, support: int, seed: int) -> Sparse:
    """Records of the groups of a release whose items are dealt anew in its pools, with no bound on their sizes.

    No item is left out for want of room, no unit is kept together, and no copy is looked for: what classifiers lose by
    it, groups of k lose, and with a support above 1, its pools.
    """
    rng = np.random.default_rng(seed)
    common = without_rare(kept, k)[0]
    groups = person_groups(common, k, rng, by_pulls=True)
    ordered = common.take(groups.order)
    rows = np.repeat(np.arange(len(ordered)), ordered.sizes)
    items = ordered.items.astype(np.int64)
    dealt: list[tuple[Ints, Ints]] = []
    for level in range(groups.n_levels):
        pool_of, bounds = groups.pools(level)
        pool = pool_of[groups.groups[rows]]
        _, inverse, counts = np.unique(pool * ordered.n_items + items, return_inverse=True, return_counts=True)
        is_dealt = counts[inverse] >= (support if level + 1 < groups.n_levels else 1)
        low, sizes = bounds[pool[is_dealt]], np.diff(bounds)[pool[is_dealt]]
        dealt.append((_distinct_rows(inverse[is_dealt], low, sizes, rng), items[is_dealt]))
        rows, items = rows[~is_dealt], items[~is_dealt]
    keys = np.unique(np.concatenate([who * ordered.n_items + what for who, what in dealt]))  # few were dealt twice
    made_rows, made_items = np.divmod(keys, ordered.n_items)
    starts = np.searchsorted(made_rows, np.arange(len(ordered) + 1)).astype(np.int64)
    return replace(ordered, starts=starts, items=made_items.astype(np.int32), weights=ones(len(keys)))


def _distinct_rows(batches: Ints, low: Ints, sizes: Ints, rng: np.random.Generator) -> Ints:
    """A row of its pool for each entry, by chance, another for each of the same batch."""
    order = np.argsort(batches, kind="stable")
    bounds = np.append(np.flatnonzero(np.diff(batches[order], prepend=-1)), len(order)).tolist()
    rows = np.empty(len(order), np.int64)
    for begin, end in pairwise(bounds):
        entry = order[begin]
        rows[order[begin:end]] = low[entry] + rng.choice(sizes[entry], end - begin, replace=False)
    return rows
