"""The loops of grouping against what they are meant to do, row by row."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from shoal.kernels.sparse.bisection import add_row, bisect, greedy_groups, product


def rows(n: int, n_items: int, seed: int = 0):
    rng = np.random.default_rng(seed)
    dense = (rng.random((n, n_items)) < 0.3) * rng.random((n, n_items))
    dense[:, 0] += 0.1
    dense /= np.linalg.norm(dense, axis=1, keepdims=True)
    sizes = (dense > 0).sum(axis=1)
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    return starts, np.nonzero(dense)[1].astype(np.int32), dense[dense > 0].astype(np.float32), dense


def test_products_and_sums_are_those_of_dense_rows() -> None:
    starts, items, weights, dense = rows(5, 9)
    vector = np.arange(9.0)
    assert np.allclose([product(starts, items, weights, i, vector) for i in range(5)], dense @ vector, atol=1e-6)
    add_row(starts, items, weights, 2, -2.0, vector)
    assert np.allclose(vector, np.arange(9.0) - 2 * dense[2], atol=1e-6)


def test_leaves_are_small_and_large_enough_and_hold_every_row_once() -> None:
    starts, items, weights, _ = rows(500, 20)
    order = np.arange(500, dtype=np.int32)
    leaves = bisect(starts, items, weights, 20, order, 60, 10, np.array([3], np.uint64))
    assert sorted(order.tolist()) == list(range(500))
    assert np.diff(leaves).max() <= 60
    assert np.diff(leaves).min() >= 7  # an eighth of 61
    single = np.arange(40, dtype=np.int32)
    assert np.array_equal(bisect(starts, items, weights, 20, single, 1, 1, np.array([3], np.uint64)), np.arange(41))


def test_two_clear_clusters_are_split_apart() -> None:
    starts = np.arange(0, 41, 2).astype(np.int64)
    items = np.array([[0, 1] if i % 2 else [2, 3] for i in range(20)], np.int32).ravel()
    order = np.arange(20, dtype=np.int32)
    leaves = bisect(starts, items, np.full(40, 0.5**0.5, np.float32), 4, order, 10, 2, np.array([5], np.uint64))
    assert leaves.tolist() == [0, 10, 20]
    assert len({i % 2 for i in order[:10].tolist()}) == 1


def slow_groups(dense: np.ndarray, order: list[int], k: int) -> list[list[int]]:
    middle = dense[order].sum(axis=0)
    left = sorted(order, key=lambda i: (round(float(dense[i] @ middle), 6), order.index(i)))
    groups = []
    while len(left) >= 2 * k:
        near = sorted(left[1:], key=lambda i: -float(dense[i] @ dense[left[0]]))
        groups.append([left[0], *near[: k - 1]])
        left = [i for i in left if i not in groups[-1]]
    return [*groups, left]


def test_greedy_groups_are_those_of_the_slow_twin() -> None:
    starts, items, weights, dense = rows(50, 12, seed=4)
    order = np.arange(50, dtype=np.int32)
    found = greedy_groups(starts, items, weights, 12, order, np.array([0, 50]), 6)
    groups = [set(order[low:high].tolist()) for low, high in pairwise(found)]
    assert groups == [set(g) for g in slow_groups(dense.astype(np.float32), list(range(50)), 6)]
