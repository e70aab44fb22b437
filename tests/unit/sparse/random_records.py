"""Sparse records at random."""

from __future__ import annotations

import numpy as np

from shoal.data.sparse.records import Sparse


def draw(n=60, n_items=300, kind="sets", seed=0, longest=20):
    rng = np.random.default_rng(seed)
    rows = [np.sort(rng.choice(n_items, rng.integers(0, longest), replace=False)) for _ in range(n)]
    starts = np.concatenate([[0], np.cumsum([len(r) for r in rows])])
    items = np.concatenate(rows).astype(np.int32)
    weights = {
        "sets": np.ones(len(items), np.int64),
        "counts": rng.integers(1, 9, len(items)),
        "reals": rng.normal(size=len(items)),
    }[kind]
    return Sparse(starts, items, weights, tuple(f"item {i:04d}" for i in range(n_items)))
