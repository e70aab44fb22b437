"""Ranges of records along a curve are the blocks of the same records in memory."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.data.memory import bounded
from shoal.data.tables.room import TooManyDistinct
from shoal.data.tables.spill import SpillFolder
from shoal.data.tables.table import Column, Table
from shoal.tables.microaggregation.near_linear import curve_blocks
from shoal.tables.partition.mdav import points_of
from shoal.tables.record_order import secret_order
from shoal.tables.spilled.ranges import CurveRecords


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 9), st.integers(1, 4), st.integers(2, 40))
def test_ranges_are_the_blocks_of_records_in_memory(seed: int, n_ranges: int, n_quasi: int, n_values: int) -> None:
    rng = np.random.default_rng(seed)
    n_rows = int(rng.integers(n_ranges, 200))
    cells = rng.integers(0, n_values, (n_rows, n_quasi + 1)).astype(np.int32)
    cells = np.unique(cells, axis=0)
    rows = np.column_stack([cells, rng.integers(1, 5, len(cells))]).astype(np.int32)
    records = np.repeat(rows[:, :-1], rows[:, -1], axis=0)
    names = [f"c{i}" for i in range(n_quasi + 1)]
    table = Table.of([Column(n, np.ascontiguousarray(records[:, i]), np.arange(n_values)) for i, n in enumerate(names)])
    in_order = records[secret_order(table, names[:-1], names, 7)]
    expected = curve_blocks(points_of(in_order[:, :-1].astype(np.float64)), 1, -(-len(records) // n_ranges))
    folder = SpillFolder()
    file = folder.new(n_quasi + 1)
    file.append(rows)
    quasi = list(range(n_quasi))
    found = CurveRecords.of("a", file, quasi, lambda some: some[:, :n_quasi].astype(np.float64), 1 << 20)
    sizes, times = found.sizes
    assert (sizes * times).sum() == found.n_records == len(records)
    dealt = found.dealt(folder, len(expected), 7)
    assert [part.read()[:, :-1].tolist() for part in dealt] == [in_order[block].tolist() for block in expected]


def test_more_equal_records_than_fit_are_refused() -> None:
    folder = SpillFolder()
    file = folder.new(1)
    file.append(np.array([[0, 3], [1, 9], [2, 1]], dtype=np.int32))
    with bounded(1 << 30), pytest.raises(TooManyDistinct, match="9 records are equal in all quasi-identifiers"):
        CurveRecords.of("a", file, [0], lambda some: some[:, :1].astype(np.float64), 8)
