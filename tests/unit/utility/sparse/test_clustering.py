"""The tests of `utility/sparse/clustering.py`."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.data.sparse.records import Sparse
from shoal.utility.sparse import compare_clusters
from shoal.utility.sparse.clustering import cluster_quality
from shoal.utility.sparse.originals import matrix_of
from tests.unit.utility.sparse.crowds import crowds, maker


def dense_of(records: Sparse) -> np.ndarray:
    out = np.zeros((len(records), records.n_items))
    out[np.repeat(np.arange(len(records)), records.sizes), records.items] = records.weights
    return out


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
