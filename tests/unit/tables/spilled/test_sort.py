"""Rows in the order of their content, sorted in pieces."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.data.tables.spill import SpillFolder
from shoal.data.tables.table import Column
from shoal.tables.record_order import content_order
from shoal.tables.spilled.sort import ContentSort, joined


def column(name: str, n_values: int, markers: tuple[str | None, ...] = ()) -> Column:
    return Column(name, np.zeros(0, dtype=np.int32), np.arange(n_values), markers)


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from([3, 10, 40, 1000]), st.sampled_from([1, 9, 60]))
def test_pieces_are_the_sorted_rows(seed: int, range_rows: int, part_rows: int) -> None:
    rng = np.random.default_rng(seed)
    columns = [column("b", 3), column("a", 4, ("?", None)), column("c", 2)]
    rows = np.stack([*(rng.integers(0, n, 200) for n in (3, 6, 2)), rng.integers(1, 4, 200)], axis=1).astype(np.int32)
    sort = ContentSort(SpillFolder(), columns, [1, 0, 2], range_rows)
    for begin in range(0, len(rows), part_rows):
        sort.add(rows[begin : begin + part_rows])
    pieces = list(sort.pieces())
    ranks = columns[1].ranks()[rows[:, 1]]
    expected = joined(rows[np.lexsort([rows[:, 2], rows[:, 0], rows[:, 1], ranks])])
    found = np.concatenate(pieces)
    assert found[:, -1].sum() == rows[:, -1].sum()
    assert joined(found).tolist() == found.tolist()
    assert {tuple(row) for row in found.tolist()} == {tuple(row) for row in expected.tolist()}
    keys = np.stack([columns[1].ranks()[found[:, 1]], found[:, 0], found[:, 2]])
    assert np.lexsort(keys[::-1]).tolist() == list(range(len(found)))


def test_the_order_is_that_of_tables_in_memory() -> None:
    from shoal.data.tables.table import Table

    rng = np.random.default_rng(1)
    rows = np.stack([rng.integers(0, 9, 500), rng.integers(0, 5, 500), np.ones(500)], axis=1).astype(np.int32)
    columns = [column("x", 9), column("y", 5)]
    table = Table.of([Column(c.name, rows[:, i], c.values) for i, c in enumerate(columns)])
    sort = ContentSort(SpillFolder(), columns, [1, 0], 50)
    for part in np.split(rows, 10):
        sort.add(part)
    assert (
        np.concatenate(list(sort.pieces())).tolist() == joined(rows[content_order(table, ["y"], ["x", "y"])]).tolist()
    )


def test_nothing_has_no_pieces() -> None:
    sort = ContentSort(SpillFolder(), [column("x", 1)], [0], 5)
    sort.add(np.zeros((0, 2), dtype=np.int32))
    assert not list(sort.pieces())


@pytest.mark.parametrize("weights", [[1, 2, 3], [5, 1, 1]])
def test_equal_rows_become_one(weights: list[int]) -> None:
    rows = np.array([[1, 1, weights[0]], [1, 1, weights[1]], [2, 1, weights[2]]], dtype=np.int32)
    assert joined(rows).tolist() == [[1, 1, weights[0] + weights[1]], [2, 1, weights[2]]]
