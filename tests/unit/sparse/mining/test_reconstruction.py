"""The tests of `sparse/mining/reconstruction.py`."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.data.sparse.records import Sparse
from shoal.sparse.mining import attribute_estimates, reconstruct
from shoal.sparse.signs import new_key
from shoal.sparse.sketch import sketch_records

KEY = new_key(3)


def random_records(n: int, size: int, n_items: int, seed: int = 0, kind: str = "sets") -> tuple[Sparse, np.ndarray]:
    rng = np.random.default_rng(seed)
    items = np.sort(np.argsort(rng.random((n, n_items)), axis=1)[:, :size], axis=1)
    weights = np.ones((n, size), np.int64) if kind == "sets" else rng.normal(size=(n, size))
    dense = np.zeros((n, n_items))
    np.put_along_axis(dense, items, weights, axis=1)
    names = tuple(f"item {i:03d}" for i in range(n_items))
    return Sparse(np.arange(0, n * size + 1, size), items.ravel().astype(np.int32), weights.ravel(), names), dense


def test_reconstruction_is_the_attribute_estimates() -> None:
    records, _ = random_records(11, 5, 25)
    sketches = sketch_records(records, np.arange(11), KEY)
    blocks = list(reconstruct(sketches, records.names, KEY, rows_at_once=4))
    assert [len(b) for b in blocks] == [4, 4, 3]
    whole = np.concatenate(blocks)
    expected = attribute_estimates(sketches, records.item_keys(), KEY).values
    assert whole[1:] == pytest.approx(expected[1:], abs=1e-5)
    assert not whole[0].any()
    assert not np.allclose(np.concatenate(list(reconstruct(sketches, records.names, new_key(4)))), whole)
