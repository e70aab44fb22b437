"""Clusters of sketches."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.data.sparse.records import Sparse
from shoal.data.sparse.sketches import Sketches
from shoal.errors import DataError, PolicyError
from shoal.sparse.mining import SketchKMeans
from shoal.sparse.mining.k_means import SketchPoints, spherical_k_means
from shoal.sparse.signs import new_key
from shoal.sparse.sketch import sketch_records
from shoal.utility.sparse.originals import OriginalPoints, matrix_of

KEY = new_key(8)


def crowds(n: int, n_crowds: int = 4, seed: int = 0) -> Sparse:
    """Records of 10 of the 15 items of their crowd, and 2 of any."""
    rng = np.random.default_rng(seed)
    labels = (np.arange(n) % n_crowds).astype(np.int32)
    present = np.zeros((n, 15 * n_crowds), bool)
    for row, crowd in enumerate(labels):
        present[row, 15 * crowd + rng.permutation(15)[:10]] = True
        present[row, rng.integers(0, 15 * n_crowds, 2)] = True
    starts = np.concatenate([[0], np.cumsum(present.sum(axis=1))])
    items = np.nonzero(present)[1].astype(np.int32)
    names = tuple(f"{i:03d}" for i in range(15 * n_crowds))
    return Sparse(starts, items, np.ones(len(items), np.int64), names, labels, tuple("abcd")[:n_crowds])


def are_the_same_parts(one: np.ndarray, other: np.ndarray) -> bool:
    pairs = set(zip(one.tolist(), other.tolist(), strict=True))
    return len(pairs) == len(set(one.tolist())) == len(set(other.tolist()))


@pytest.mark.parametrize("low", [60, 10])
def test_crowds_are_found(low: int) -> None:
    records = crowds(240)
    counts = np.random.default_rng(0).integers(low, 61, 240)
    model = SketchKMeans(n_clusters=4).fit(sketch_records(records, counts, KEY))
    truth, enough = records.labels, counts >= 40
    assert are_the_same_parts(model.labels_[enough], truth[enough])
    others = sketch_records(crowds(40, seed=1), np.full(40, 60), KEY)
    named = dict(zip(model.labels_[enough].tolist(), truth[enough].tolist(), strict=True))
    assert [named[c] for c in model.predict(others).tolist()] == others.labels.tolist()


def test_with_many_components_clusters_are_those_of_originals() -> None:
    records = crowds(120, seed=2)
    sketches = sketch_records(records, np.full(120, 2000), KEY)
    points, originals = SketchPoints(sketches), OriginalPoints(matrix_of(records))
    cosines = originals.cosines(originals.centroids(records.labels, 4))
    assert points.cosines(points.centroids(records.labels, 4)) == pytest.approx(cosines, abs=0.12)
    one = spherical_k_means(points, 4, seed=1).labels
    assert are_the_same_parts(one, spherical_k_means(originals, 4, seed=1).labels)


def test_a_centroid_component_is_over_the_members_that_have_it() -> None:
    sketches = Sketches(np.array([0, 3, 5, 7]), np.array([3, 3, -3, -3, 3, 1, 1]))
    points = SketchPoints(sketches)
    units = points.rows(np.arange(3))
    means = points.centroids(np.array([0, 0, 1], np.int32), 3)
    assert means[0] == pytest.approx([*((units[0, :2] + units[1, :2]) / 2), units[0, 2]])
    assert means[1] == pytest.approx(units[2])
    assert not means[2].any()


def test_the_same_seed_gives_the_same_clusters_and_rounds_help() -> None:
    sketches = sketch_records(crowds(200, seed=3), np.full(200, 12), KEY)
    one, other = (SketchKMeans(n_clusters=5, seed=4).fit(sketches) for _ in range(2))
    assert (one.labels_ == other.labels_).all()
    assert one.cosine_ >= SketchKMeans(n_clusters=5, seed=4, max_iter=1).fit(sketches).cosine_
    assert one.n_iter_ > 1


def test_no_cluster_is_empty() -> None:
    """Copies leave starts without records of their own."""
    sketches = Sketches(np.arange(0, 61, 2), np.tile([4, 2], 30))
    model = SketchKMeans(n_clusters=3, max_iter=5).fit(sketches)
    assert len(np.unique(model.labels_)) == 3


def test_what_cannot_be_is_refused() -> None:
    sketches = Sketches(np.array([0, 1, 2]), np.array([1, 3]))
    with pytest.raises(DataError, match="3 clusters"):
        SketchKMeans(n_clusters=3).fit(sketches)
    with pytest.raises(PolicyError):
        SketchKMeans(n_clusters=0).fit(sketches)
