"""The tests of `check/sparse/neighbours.py`."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from shoal.check.sparse import neighbours as sparse_neighbours
from shoal.check.sparse.neighbours import SparseRecords, nearest
from tests.unit.check.sparse import slow_sketches as slow
from tests.unit.check.sparse.clustered import clustered

K = 4


@pytest.fixture(scope="module")
def data():
    return clustered()


@pytest.mark.parametrize("metric", ["cosine", "euclidean"])
@pytest.mark.parametrize("has_signs", [False, True])
def test_small_blocks_find_the_same(data, metric, has_signs, monkeypatch):
    if has_signs:
        data = replace(data, weights=np.random.default_rng(0).choice([-1, 1, 2], len(data.weights)))
    records = SparseRecords.of(data, np.zeros(len(data), np.int64), metric)
    rows = np.arange(len(data))
    whole, products = nearest(records, rows, K)
    assert whole.tolist() == slow.neighbours_of(data, K, metric)
    monkeypatch.setattr(sparse_neighbours, "BLOCK_WORK", 5000)
    monkeypatch.setattr(sparse_neighbours, "DENSE_CELLS", 1000)
    again, dots = nearest(records, rows[::-1].copy(), K)
    assert np.array_equal(again[::-1], whole)
    assert np.array_equal(dots[::-1], products)
    monkeypatch.setattr(sparse_neighbours, "_CHUNK", 7)
    first = np.repeat(rows, K)
    assert np.array_equal(records.pairs(first, whole.ravel())[0], products.ravel())


def test_records_without_common_items_have_neighbours_too():
    records = slow.sparse([{c: 1, c.upper(): 1} for c in "abcdef"] + [{"a": 1}, {}])
    for metric in ("cosine", "euclidean"):
        prepared = SparseRecords.of(records, np.zeros(8, np.int64), metric)
        found, _ = nearest(prepared, np.arange(7), 3)
        assert found.tolist() == slow.neighbours_of(records, 3, metric)[:7]
