"""The tests of `kernels/sparse/bits.py`."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.kernels.sparse import bits as sparse_bits
from shoal.kernels.sparse import neighbours as sparse_neighbours


def ragged(lists):
    starts = np.concatenate([[0], np.cumsum([len(one) for one in lists])]).astype(np.int64)
    return starts, np.concatenate([np.asarray(one, np.int32) for one in lists]).astype(np.int32)


def best_of(pairs, k):
    return sorted(pairs, key=lambda pair: (-pair[0], pair[1]))[:k]


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
    index = sparse_bits.BlockIndex(n_dense, bits, list_starts, listed)
    sparse_bits.fill_bits(starts, items, first, stop, index)
    queries = np.array([0, 3, 11, 20, 22, stop - 1])
    seats = np.array([5, 4, 3, 2, 1, 0])
    scores, found = np.full((6, k), -np.inf), np.full((6, k), np.iinfo(np.int32).max, np.int32)
    sparse_bits.scan_bits(starts, items, sizes, rows, queries, seats, first, stop, index, is_cosine, scores, found)
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
