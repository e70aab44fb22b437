"""The kernels of sparse neighbours against slow twins."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.kernels.sparse import bits as sparse_bits
from shoal.kernels.sparse import clusters as sparse_clusters
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
@pytest.mark.parametrize("n_dense", [0, 30, 400])
@pytest.mark.parametrize("n_block", [5, 700, 4096])
def test_bits_equal_counting_one_by_one(n_block, n_dense, is_cosine):
    rng = np.random.default_rng(n_block)
    # More than 63 items and more than 127: digits beyond the six that are added at once.
    lists = [np.sort(rng.choice(400, size, replace=False)) for size in rng.integers(1, 60, 20 + n_block)]
    for long, size in ((3, 400), (11, 130), (25, 300), (26, 64)):
        lists[min(long, len(lists) - 1)] = np.sort(rng.choice(400, size, replace=False))
    starts, items = ragged(lists)
    sizes = np.diff(starts).astype(np.float64) + rng.integers(0, 3, len(lists))
    rows = rng.permutation(len(lists)).astype(np.int32)
    first, stop, k = 20, 20 + n_block, 6
    bits = np.empty((n_dense + 1, sparse_bits.count_words(n_block)), np.uint64)
    list_starts, listed = np.empty(400 - n_dense + 2, np.int32), np.empty(len(items), np.uint16)
    sparse_bits.fill_bits(starts, items, first, stop, n_dense, bits, list_starts, listed)
    queries = np.array([0, 3, 11, 20, 22, stop - 1])
    seats = np.array([5, 4, 3, 2, 1, 0])
    scores, found = np.full((6, k), -np.inf), np.full((6, k), np.iinfo(np.int32).max, np.int32)
    index = (n_dense, bits, list_starts, listed)
    sparse_bits.scan_bits(starts, items, sizes, rows, queries, seats, first, stop, *index, is_cosine, scores, found)
    sparse_neighbours.sort_heaps(scores, found)
    sets = [set(one.tolist()) for one in lists]
    for q, seat in zip(queries, seats, strict=True):
        pairs = []
        for place in range(first, stop):
            if place != q:
                common = len(sets[q] & sets[place])
                score = common * common / sizes[place] if is_cosine else 2 * common - sizes[place]
                pairs.append((score, rows[place]))
        n = min(k, len(pairs))
        assert list(zip(scores[seat, :n], found[seat, :n], strict=True)) == best_of(pairs, k)
        assert np.isinf(scores[seat, n:]).all()


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


def test_clusters_are_chosen_from_the_nearest_on():
    rng = np.random.default_rng(4)
    lists = [np.sort(rng.choice(30, 6, replace=False)) for _ in range(80)]
    starts, items = ragged(lists)
    weights = rng.random(len(items)).astype(np.float32)
    table, biases = rng.random((30, 12)).astype(np.float32), rng.random(12).astype(np.float32)
    sizes = rng.integers(1, 40, 12)
    products = np.zeros((80, 12))
    for i in range(80):
        entries = slice(starts[i], starts[i + 1])
        products[i] = weights[entries] @ table[[_row(item, 30) for item in items[entries]]] - biases
    found = np.empty(60, np.int32)
    sparse_clusters.assign(starts, items, weights, 20, 80, table, biases, found)
    np.testing.assert_array_equal(found, products[20:].argmax(axis=1))
    for budget in (1, 60, 10**6):
        is_chosen = np.zeros((12, 60), np.bool_)
        sparse_clusters.choose_clusters(starts, items, weights, 20, 80, table, biases, sizes, budget, is_chosen)
        for i in range(60):
            chosen, scores = is_chosen[:, i], products[20 + i]
            width = (scores.max() - scores.min()) / (sparse_clusters.N_BINS - 1)
            assert sizes[chosen].sum() >= min(budget, sizes.sum())
            assert sizes[chosen].sum() - sizes[chosen].max() < budget
            if not chosen.all():
                assert scores[chosen].min() >= scores[~chosen].max() - 1.01 * width


def _row(item, n_table):
    """Half of a table is for single items, the other half is shared."""
    return item if item < n_table // 2 else n_table // 2 + item % (n_table - n_table // 2)


def test_members_are_added_to_the_centre_of_their_cluster():
    starts, items = ragged([[0, 1], [1], [0, 9]])
    sums = np.zeros((6, 2))
    sparse_clusters.add_members(
        starts, items, np.array([1, 2, 3, 4, 5], np.float32), np.array([0, 0, 1], np.int32), sums
    )
    assert sums[:, 0].tolist() == [1, 5, 0, 0, 0, 0]
    assert sums[:, 1].tolist() == [4, 0, 0, 5, 0, 0]
