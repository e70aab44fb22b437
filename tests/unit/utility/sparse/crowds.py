"""Records of a few crowds, and sketches of them."""

from __future__ import annotations

import numpy as np

from shoal.data.sparse.records import Sparse
from shoal.data.sparse.sketches import Sketches
from shoal.sparse.signs import new_key
from shoal.sparse.sketch import sketch_records

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


def maker(n_components: int, every: int = 0):
    """Sketches in reverse order; each `every`-th record is suppressed."""

    def make(records: Sparse) -> tuple[Sketches, np.ndarray]:
        rows = np.arange(len(records))[::-1]
        rows = rows[rows % every != 0] if every else rows
        return sketch_records(records, np.full(len(records), n_components), KEY).take(rows), rows

    return make
