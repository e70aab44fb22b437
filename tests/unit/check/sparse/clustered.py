"""Sets of items around a few centres."""

from __future__ import annotations

import numpy as np

from tests.unit.check.sparse import slow_sketches as slow


def clustered(n=150, seed=0):
    """Sets of 4 to 15 items out of 60, around 10 centres."""
    rng = np.random.default_rng(seed)
    centres = [rng.choice(60, 12, replace=False) for _ in range(10)]
    records = []
    for _ in range(n):
        items = np.append(rng.choice(centres[rng.integers(10)], rng.integers(4, 12)), rng.integers(0, 60, 3))
        records.append({f"{i:02d}": 1 for i in items})
    return slow.sparse(records)
