"""The tests of `utility/sparse/clustering.py`."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.data.sparse.records import Sparse
from shoal.data.sparse.sketches import Sketches
from shoal.sparse.signs import new_key
from shoal.sparse.sketch import sketch_records
from shoal.utility.sparse import compare_clusters
from shoal.utility.sparse.clustering import cluster_quality
from shoal.utility.sparse.originals import matrix_of

KEY = new_key(2)


def crowds(n: int, n_crowds: int = 3, seed: int = 0) -> Sparse:
    """Records of 6 of the 20 items of their crowd, and 3 of any."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, n_crowds, n).astype(np.int32)
    present = np.zeros((n, 20 * n_crowds), bool)
    for row, crowd in enumerate(labels):
        present[row, 20 * crowd + rng.permutation(20)[:6]] = True
        present[row, rng.integers(0, 20 * n_crowds, 3)] = True
    starts = np.concatenate([[0], np.cumsum(present.sum(axis=1))])
    items = np.nonzero(present)[1].astype(np.int32)
    names = tuple(f"{i:03d}" for i in range(20 * n_crowds))
    return Sparse(starts, items, np.ones(len(items), np.int64), names, labels, tuple("abcdef")[:n_crowds])


def dense_of(records: Sparse) -> np.ndarray:
    out = np.zeros((len(records), records.n_items))
    out[np.repeat(np.arange(len(records)), records.sizes), records.items] = records.weights
    return out


def maker(n_components: int, every: int = 0):
    """Sketches in reverse order; each `every`-th record is suppressed."""

    def make(records: Sparse) -> tuple[Sketches, np.ndarray]:
        rows = np.arange(len(records))[::-1]
        rows = rows[rows % every != 0] if every else rows
        return sketch_records(records, np.full(len(records), n_components), KEY).take(rows), rows

    return make


def test_cluster_quality_is_the_mean_cosine_to_the_mean_of_originals() -> None:
    records = crowds(40)
    labels = np.arange(40, dtype=np.int32) % 2
    dense = dense_of(records)
    cosines = []
    for row, label in zip(dense, labels, strict=True):
        mean = dense[labels == label].mean(axis=0)
        cosines.append(row @ mean / (np.linalg.norm(row) * np.linalg.norm(mean)))
    assert cluster_quality(matrix_of(records), labels, 3) == pytest.approx(np.mean(cosines))


def test_clusters_before_and_after() -> None:
    records = crowds(300)
    best = cluster_quality(matrix_of(records), records.labels, 3)
    found = {m: compare_clusters(records, *maker(m)(records), n_clusters=3) for m in (4, 100)}
    assert found[100].before == pytest.approx(best, rel=0.02)
    assert found[100].after == pytest.approx(best, rel=0.05)
    assert found[100].random < found[4].after < found[100].after
    part = compare_clusters(records, *maker(100, every=3)(records), n_clusters=3)
    assert part.suppressed == pytest.approx(1 / 3)
    assert found[100].random < part.after < found[100].after - 0.02
    assert compare_clusters(records, *maker(5)(records.take(np.arange(4)))) is None
