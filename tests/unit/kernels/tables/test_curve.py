"""The Hilbert curve has no jumps, and neither turns nor shifts lose a record."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from shoal.kernels.compile import interpreted
from shoal.kernels.tables.curve import CurveGrid, curve_order, turned_frames


@pytest.mark.parametrize(("n_axes", "side"), [(1, 16), (2, 16), (3, 8), (4, 4)])
def test_the_curve_goes_from_cell_to_neighbouring_cell_through_all(n_axes: int, side: int) -> None:
    cells = np.array(list(itertools.product(range(side), repeat=n_axes)), dtype=float)
    order = curve_order(cells * (1 - 1e-9), np.eye(n_axes), 0.0)
    assert sorted(order) == list(range(side**n_axes))
    if n_axes == 1:
        assert order.tolist() == list(range(side))
    # The grid of 2^b cells a side is a refinement of ours up to its border, so most steps are of length 1.
    steps = np.abs(np.diff(cells[order], axis=0)).sum(axis=1)
    assert steps.mean() < 1.25
    assert steps.max() <= n_axes + 1


def test_the_curve_on_its_own_grid_has_no_jump_at_all() -> None:
    for n_axes, n_bits in ((2, 5), (3, 3)):
        side = 2**n_bits
        corners = np.array(list(itertools.product(range(side), repeat=n_axes)), dtype=float)
        far = np.full((1, n_axes), float(side))  # makes one unit an exact number of finest cells
        order = curve_order(np.vstack([corners, far]), np.eye(n_axes), 0.0)
        inside = order[order < len(corners)]
        assert (np.abs(np.diff(corners[inside], axis=0)).sum(axis=1) == 1).all()


def test_records_in_one_cell_keep_their_order() -> None:
    assert curve_order(np.ones((7, 3)), np.eye(3), 0.3).tolist() == list(range(7))


@pytest.mark.parametrize("n_axes", [1, 3, 8, 20])
def test_frames_are_rotations_and_always_the_same(n_axes: int) -> None:
    frames, again = turned_frames(n_axes, 4), turned_frames(n_axes, 4)
    for i, (frame, shift) in enumerate(frames):
        assert frame.shape == (n_axes, min(n_axes, 8))
        np.testing.assert_allclose(frame.T @ frame, np.eye(frame.shape[1]), atol=1e-5)
        assert 0 <= shift < 1
        assert (frame == again[i][0]).all()
        rows = curve_order(np.random.default_rng(0).normal(size=(50, n_axes)), frame, shift)
        assert sorted(rows) == list(range(50))


@pytest.mark.parametrize("n_axes", [1, 2, 5, 8, 11])
def test_interpreted_it_is_the_same_curve(n_axes: int) -> None:
    axes = np.random.default_rng(n_axes).normal(size=(200, n_axes))
    for frame, shift in turned_frames(n_axes, 3):
        grids = CurveGrid(frame, shift), CurveGrid(frame, shift)
        for part in np.array_split(axes, 3):
            grids[0].show(part)
            with interpreted(True):
                grids[1].show(part)
        with interpreted(True):
            keys = grids[1].keys(axes)
        assert grids[0].keys(axes).tolist() == keys.tolist()


@pytest.mark.parametrize("is_small", [True, False])
@pytest.mark.parametrize("extent", [5e-324, 1e-308, 1e-295])
def test_records_that_differ_by_next_to_nothing_stay_in_their_order(extent: float, is_small: bool) -> None:
    axes = np.array([[extent, 0.0], [0.0, 0.0], [extent, extent]])
    with interpreted(is_small):
        assert curve_order(axes, *turned_frames(2, 1)[0]).tolist() == [0, 1, 2]
