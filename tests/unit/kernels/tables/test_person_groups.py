"""Groups of different persons: what they must hold, and what they cost beside a slow greedy twin."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.kernels.tables.person_groups import grow_person_groups


def width(points, weights):
    return float((np.minimum(points.max(axis=0) - points.min(axis=0), 1.0) * weights).sum())


def cost(points, weights, labels):
    return sum(width(points[labels == g], weights) * (labels == g).sum() for g in set(labels.tolist()))


def greedy(points, weights, persons, k):
    """Greedy k-member clustering of different persons, and leftovers where they cost least; nothing is improved."""
    alive, groups, last = list(range(len(points))), [], 0
    while len({persons[i] for i in alive}) >= k:
        gaps = [(np.minimum(abs(points[last] - points[i]), 1.0) * weights).sum() for i in alive]
        group = [alive.pop(int(np.argmax(gaps)))]
        while len(group) < k:
            held = {persons[i] for i in group}
            free = [i for i in alive if persons[i] not in held]
            group.append(free[int(np.argmin([width(points[[*group, i]], weights) for i in free]))])
            alive.remove(group[-1])
        last = group[-1]
        groups.append(group)
    for i in alive:
        added = [width(points[[*g, i]], weights) * (len(g) + 1) - width(points[g], weights) * len(g) for g in groups]
        groups[int(np.argmin(added))].append(i)
    labels = np.empty(len(points), dtype=int)
    for number, group in enumerate(groups):
        labels[group] = number
    return labels


@pytest.mark.parametrize(("n", "n_persons", "k"), [(12, 6, 2), (40, 15, 3), (60, 59, 5), (80, 12, 4)])
def test_groups_hold_k_persons_and_cost_no_more_than_the_greedy_ones(n, n_persons, k):
    rng = np.random.default_rng(n)
    points = np.column_stack([rng.random((n, 2)), rng.integers(0, 3, n)])
    weights = np.array([1.0, 0.5, 1.0])
    persons = np.unique(rng.integers(0, n_persons, n), return_inverse=True)[1].astype(np.int32)
    labels = np.full(n, -1, dtype=np.int32)
    grow_person_groups(points, weights, persons, np.arange(n), np.array([n]), k, labels)
    assert labels.min() >= 0
    for g in set(labels.tolist()):
        assert len(set(persons[labels == g].tolist())) >= k
    assert cost(points, weights, labels) <= cost(points, weights, greedy(points, weights, persons, k)) + 1e-9


def test_a_block_without_k_persons_is_one_group_and_blocks_do_not_mix():
    points, weights = np.arange(8.0)[:, None] / 8, np.ones(1)
    persons = np.array([0, 0, 0, 1, 2, 3, 4, 5], dtype=np.int32)
    labels = np.full(8, -1, dtype=np.int32)
    grow_person_groups(points, weights, persons, np.arange(8), np.array([3, 8]), 2, labels)
    assert len(set(labels[:3].tolist())) == 1
    assert set(labels[:3].tolist()).isdisjoint(labels[3:].tolist())
    assert len(set(labels[3:].tolist())) == 2


def test_equal_records_cost_nothing():
    points, persons = np.zeros((6, 1)), np.array([0, 0, 1, 1, 2, 2], dtype=np.int32)
    labels = np.full(6, -1, dtype=np.int32)
    grow_person_groups(points, np.ones(1), persons, np.arange(6), np.array([6]), 3, labels)
    assert len(set(persons[labels == labels[0]].tolist())) == 3
