"""Sparse records made in code, and releases of their sketches with as many components as a test asks for."""

from __future__ import annotations

from typing import Any

import numpy as np

from shoal.attack.sparse.case import SparseCase
from shoal.attack.sparse.targets import sketch_records
from shoal.data.sparse.records import Sparse
from shoal.data.sparse.sketches import Sketches

KEY = bytes(range(32))
N_ITEMS = 150


def make_records(n: int, seed: int, kind: str = "binary") -> Sparse:
    """Sets of 6 to 12 of 150 items, the first ones more popular; or the same with counts or real weights."""
    rng = np.random.default_rng(seed)
    popularity = 1 / (10 + np.arange(N_ITEMS))
    sizes = rng.integers(6, 13, n)
    rows = [np.sort(rng.choice(N_ITEMS, m, replace=False, p=popularity / popularity.sum())) for m in sizes]
    items = np.concatenate(rows).astype(np.int32)
    weights: Any = np.ones(len(items), np.int64)
    if kind == "counts":
        weights = 1 + rng.poisson(0.5, len(items)).astype(np.int64)
    elif kind == "real":
        weights = rng.uniform(0.5, 1.5, len(items))
    elif kind == "signed":
        weights = rng.choice(np.array([-1, 1], np.int64), len(items))
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])
    return Sparse(starts, items, weights, tuple(f"i{i:03d}" for i in range(N_ITEMS)))


def make_case(records: Sparse, counts: Any, *, control: Sparse | None = None, step: float = 0.25) -> SparseCase:
    """Publish the first components of each record, in another order than they came."""
    rows = np.random.default_rng(0).permutation(len(records))
    counts = np.broadcast_to(counts, len(records))[rows].astype(np.int64)
    whole = sketch_records(records.take(rows), KEY, int(counts.max()), None if records.is_integral else step)
    components = whole[np.arange(whole.shape[1]) < counts[:, None]]
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])
    if records.is_integral:
        published = Sketches(starts, components.astype(np.int64))
    else:
        published = Sketches(starts, components, step)
    return SparseCase(published, records, control, rows, KEY)


def delta_rule(records: Sparse, delta: float) -> Any:
    """The number of components by delta-anonymity without a cap, of sets."""
    return np.floor((records.squares - 1) / delta).astype(np.int64)
