"""Cells between round numbers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.utility.tables.cells import round_edges, round_width, whole_edges

SIZES = st.floats(-1e99, 1e99) | st.floats(-100, 100) | st.floats(-1e-300, 1e-300)


@settings(max_examples=300, deadline=None)
@given(SIZES, SIZES, st.integers(1, 40))
def test_round_edges_hold_all_values(a: float, b: float, n_cells: int) -> None:
    low, high = min(a, b), max(a, b)
    edges = round_edges(low, high, n_cells)
    assert 2 <= len(edges) <= n_cells + 3
    assert (np.diff(edges) > 0).all()
    hair = 1e-6 * (edges[1] - edges[0])
    assert edges[0] <= low + hair
    assert edges[-1] > high - hair


@settings(max_examples=200, deadline=None)
@given(st.integers(-(2**49), 2**49), st.integers(0, 10**6), st.integers(1, 40))
def test_cells_of_whole_numbers_hold_equally_many(low: int, span: int, n_cells: int) -> None:
    edges = whole_edges(low, low + span, n_cells)
    assert edges[0] < low
    assert low + span < edges[-1]
    widths = set(np.diff(edges))
    assert len(widths) == 1
    assert widths.pop().is_integer()
    assert len(edges) <= n_cells + 3


@pytest.mark.parametrize("value", [0.0, 0.5, 42.0, -7.0, 1e18, 1e99])
def test_a_single_value_has_a_cell(value: float) -> None:
    edges = round_edges(value, value, 16)
    assert len(edges) == 2
    assert edges[0] <= value <= edges[1]


def test_widths_are_one_two_or_five() -> None:
    assert [round_width(w) for w in (0.011, 1, 1.2, 2.1, 5.5, 99)] == [0.02, 1.0, 2.0, 5.0, 10.0, 100.0]
