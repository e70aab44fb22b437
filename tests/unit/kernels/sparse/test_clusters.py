"""The tests of `kernels/sparse/clusters.py`."""

from __future__ import annotations

import numpy as np

from shoal.kernels.sparse import clusters as sparse_clusters


def ragged(lists):
    starts = np.concatenate([[0], np.cumsum([len(one) for one in lists])]).astype(np.int64)
    return starts, np.concatenate([np.asarray(one, np.int32) for one in lists]).astype(np.int32)


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
