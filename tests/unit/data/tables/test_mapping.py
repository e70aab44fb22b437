"""Which published cell stands for which original one."""

from __future__ import annotations

from collections import Counter

import numpy as np

from shoal.data.tables.mapping import applied_mapping
from shoal.data.tables.table import encode_cells


def test_every_pair_is_counted() -> None:
    rng = np.random.default_rng(0)
    before = [None if v == 4 else f"v{v}" for v in rng.integers(0, 5, 60)]
    after = [None if v == 2 else f"label {v}" for v in rng.integers(0, 3, 60)]
    columns = [encode_cells("x", np.array(cells, dtype=object)) for cells in (before, after)]
    found = applied_mapping(*columns)
    assert found.names == ["x", "published x", "records"]
    rows = zip(*(found[name].cells().tolist() for name in found.names), strict=True)
    assert {(a, b): int(n) for a, b, n in rows} == Counter(zip(before, after, strict=True))
