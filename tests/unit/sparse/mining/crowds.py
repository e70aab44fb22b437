"""Sparse records at random, alike and in two crowds."""

from __future__ import annotations

import numpy as np

from shoal.data.sparse.records import Sparse


def two_crowds(n: int, seed: int) -> Sparse:
    """Records of 4 to 16 items, mostly from the half of their class."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 2, n).astype(np.int32)
    shares = np.where((np.arange(60) < 30)[None] == (labels[:, None] == 0), 0.28, 0.05)
    present = rng.random((n, 60)) < shares
    present[:, 0] |= ~present.any(axis=1)
    starts = np.concatenate([[0], np.cumsum(present.sum(axis=1))])
    items = np.nonzero(present)[1].astype(np.int32)
    names = tuple(f"{i:02d}" for i in range(60))
    return Sparse(starts, items, np.ones(len(items), np.int64), names, labels, ("a", "b"))


def random_records(n: int, size: int, n_items: int, seed: int = 0, kind: str = "sets") -> tuple[Sparse, np.ndarray]:
    rng = np.random.default_rng(seed)
    items = np.sort(np.argsort(rng.random((n, n_items)), axis=1)[:, :size], axis=1)
    weights = np.ones((n, size), np.int64) if kind == "sets" else rng.normal(size=(n, size))
    dense = np.zeros((n, n_items))
    np.put_along_axis(dense, items, weights, axis=1)
    names = tuple(f"item {i:03d}" for i in range(n_items))
    return Sparse(np.arange(0, n * size + 1, size), items.ravel().astype(np.int32), weights.ravel(), names), dense
