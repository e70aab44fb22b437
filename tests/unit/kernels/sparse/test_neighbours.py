"""The kernels of sparse neighbours against slow twins."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.kernels.sparse import neighbours as sparse_neighbours


def ragged(lists):
    starts = np.concatenate([[0], np.cumsum([len(one) for one in lists])]).astype(np.int64)
    return starts, np.concatenate([np.asarray(one, np.int32) for one in lists]).astype(np.int32)


def best_of(pairs, k):
    return sorted(pairs, key=lambda pair: (-pair[0], pair[1]))[:k]


def test_a_heap_keeps_the_best_and_of_equals_the_smallest_rows():
    rng = np.random.default_rng(0)
    for k in (1, 2, 5, 12):
        scores, rows = np.full((3, k), -np.inf), np.full((3, k), np.iinfo(np.int32).max, np.int32)
        offered = [(float(s), int(r)) for s, r in zip(rng.integers(-3, 4, 60), rng.permutation(60), strict=True)]
        for score, row in offered:
            sparse_neighbours.offer(scores, rows, 1, score, row)
        sparse_neighbours.sort_heaps(scores, rows)
        assert list(zip(scores[1], rows[1], strict=True)) == best_of(offered, k)
        assert np.isinf(scores[[0, 2]]).all()


@pytest.mark.parametrize("is_cosine", [True, False])
@pytest.mark.parametrize("n_block", [5, 700, 2048])
def test_sums_equal_adding_one_by_one(n_block, is_cosine):
    rng = np.random.default_rng(n_block)
    dense = (rng.random((n_block + 10, 50)) < 0.2) * rng.integers(-5, 9, (n_block + 10, 50)) / 4
    dense[:, 0] += 0.25 * (dense == 0).all(axis=1)
    starts, items = ragged([np.flatnonzero(one) for one in dense])
    weights, squares = dense[dense != 0], (dense**2).sum(axis=1)
    rows = rng.permutation(len(dense)).astype(np.int32)
    first, stop, k = 10, 10 + n_block, 6
    list_starts, listed, values = np.empty(52, np.int32), np.empty(len(items), np.uint16), np.empty(len(items))
    sparse_neighbours.fill_lists(starts, items, weights, first, stop, list_starts, listed, values)
    queries, seats = np.array([0, 10, stop - 1]), np.array([1, 0, 2])
    scores, found = np.full((3, k), -np.inf), np.full((3, k), np.iinfo(np.int32).max, np.int32)
    records = (starts, items, weights, squares, rows, queries, seats, first, stop)
    sparse_neighbours.scan_sums(*records, list_starts, listed, values, is_cosine, scores, found)
    sparse_neighbours.sort_heaps(scores, found)
    for q, seat in zip(queries, seats, strict=True):
        products = dense @ dense[q]
        twin = products * np.abs(products) / squares if is_cosine else 2 * products - squares
        pairs = [(twin[place], rows[place]) for place in range(first, stop) if place != q]
        n = min(k, len(pairs))
        assert list(zip(scores[seat, :n], found[seat, :n], strict=True)) == best_of(pairs, k)
