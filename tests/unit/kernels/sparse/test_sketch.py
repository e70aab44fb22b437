"""Sums of signed weights against products of dense matrices."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.kernels.sparse.sketch import TILE, sketch_counts, sketch_reals, sketch_sets

N_ITEMS = 400


def draw(sizes, n_columns, seed=0):
    rng = np.random.default_rng(seed)
    items = np.concatenate([np.sort(rng.choice(N_ITEMS, n, replace=False)) for n in sizes]).astype(np.int32)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    table = rng.choice(np.array([-1, 1], np.int8), (N_ITEMS, n_columns))
    return rng, starts, items, table


def dense_sketches(starts, items, weights, table):
    matrix = np.zeros((len(starts) - 1, N_ITEMS), weights.dtype)
    matrix[np.repeat(np.arange(len(starts) - 1), np.diff(starts)), items] = weights
    return matrix @ table.astype(weights.dtype)


def expect(out, counts, dense):
    assert out.tolist() == np.concatenate([row[:n] for row, n in zip(dense, counts, strict=True)]).tolist()


# Around 127 items, where lanes of 8 bits are emptied; around 64 components, the width of a tile.
SIZES = [1, 0, 5, 126, 127, 128, 254, 255, 300, 400]
COUNTS = np.array([1, 4, 64, 65, 128, 63, 0, 100, 128, 127])


def test_sets():
    _, starts, items, table = draw(SIZES, 2 * TILE)
    table[:, 7] = 1  # sums of 400
    out_starts = np.concatenate([[0], np.cumsum(COUNTS)])
    out = np.full(out_starts[-1], 99, np.int64)
    sketch_sets(starts, items, table, COUNTS, out_starts, 0, 0, len(SIZES), out)
    expect(out, COUNTS, dense_sketches(starts, items, np.ones(len(items), np.int64), table))


@pytest.mark.parametrize("largest", [3, 2000, 2**40])
def test_counts(largest):
    rng, starts, items, table = draw(SIZES, 2 * TILE)
    weights = rng.integers(-largest, largest, len(items))
    weights[weights == 0] = largest
    out_starts = np.concatenate([[0], np.cumsum(COUNTS)])
    out = np.full(out_starts[-1], 99, np.int64)
    sketch_counts(starts, items, weights, table, COUNTS, out_starts, 0, 0, len(SIZES), out)
    expect(out, COUNTS, dense_sketches(starts, items, weights, table))


def test_counts_at_the_edge_of_16_bits():
    table = np.ones((2, TILE), np.int8)
    for total in (32766, 32767, 32768, 65536):
        out = np.zeros(3, np.int64)
        weights = np.array([total - 1, 1])
        items, zero = np.array([0, 1], np.int32), np.zeros(1, np.int64)
        sketch_counts(np.array([0, 2]), items, weights, table, np.array([3]), zero, 0, 0, 1, out)
        assert out.tolist() == [total] * 3


def test_reals_are_rounded_half_to_even_without_negative_zeros():
    rng, starts, items, table = draw(SIZES, 2 * TILE)
    weights = rng.normal(size=len(items))
    out_starts = np.concatenate([[0], np.cumsum(COUNTS)])
    out = np.full(out_starts[-1], 99.0)
    sketch_reals(starts, items, weights, table, COUNTS, out_starts, 0, 0, len(SIZES), 0.25, out)
    expect(out, COUNTS, np.rint(dense_sketches(starts, items, weights, table) / 0.25) * 0.25 + 0.0)

    half = np.array([[1], [1], [-1]], np.int8).repeat(TILE, axis=1)
    out = np.full(3, 99.0)
    starts, items = np.array([0, 1, 2, 3]), np.arange(3, dtype=np.int32)
    sketch_reals(starts, items, np.array([0.5, 1.5, 0.5]), half, np.ones(3, np.int64), np.arange(4), 0, 0, 3, 1.0, out)
    assert out.tolist() == [0.0, 2.0, 0.0]
    assert not np.signbit(out).any()


def test_later_components_are_added_behind_the_first_ones():
    _, starts, items, table = draw(SIZES, 2 * TILE)
    out_starts = np.concatenate([[0], np.cumsum(COUNTS)])
    out = np.full(out_starts[-1], 99, np.int64)
    for first in (0, TILE):
        part = np.ascontiguousarray(table[:, first : first + TILE])
        sketch_sets(starts, items, part, COUNTS, out_starts, first, 0, 4, out)
        sketch_sets(starts, items, part, COUNTS, out_starts, first, 4, len(SIZES), out)
    expect(out, COUNTS, dense_sketches(starts, items, np.ones(len(items), np.int64), table))
