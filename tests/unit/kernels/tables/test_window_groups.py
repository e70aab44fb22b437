"""Clusters of windows, beside a slow twin and by what they have to keep."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.kernels.tables.window_groups import group_window


def slow_groups(columns: np.ndarray, weights: np.ndarray, persons: np.ndarray, k: int) -> list[int]:
    """The same clusters by plain loops over lists."""
    n = columns.shape[1]

    def width(rows: list[int]) -> np.float32:
        total = np.float32(0)
        for j in range(len(columns)):
            extent = columns[j, rows].max() - columns[j, rows].min()
            total += weights[j] * min(extent, np.float32(1))
        return total

    alive, labels, groups, last = list(range(n)), [-1] * n, [], 0
    while len({persons[i] for i in alive}) >= k:
        members: list[int] = []
        for _ in range(k):
            if not members:
                best = max(range(len(alive)), key=lambda p: (width([last, alive[p]]), -p))
            else:
                taken = {persons[i] for i in members}
                free = [p for p in range(len(alive)) if persons[alive[p]] not in taken]
                best = min(free, key=lambda p: (width([*members, alive[p]]), p))
            last = alive[best]
            members.append(last)
            alive[best] = alive[-1]
            alive.pop()
        for i in members:
            labels[i] = len(groups)
        groups.append(members)
    for i in alive if groups else []:
        costs = [width([*g, i]) * (len(g) + 1) - width(g) * len(g) for g in groups]
        best = int(np.argmin(costs))
        labels[i] = best
        groups[best].append(i)
    return labels


@pytest.mark.parametrize("seed", range(6))
def test_it_is_the_slow_twin(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, d, k = int(rng.integers(5, 40)), int(rng.integers(1, 4)), int(rng.integers(2, 5))
    # Multiples of 1/64, so that sums are exact in whatever order they are added.
    columns = (rng.integers(0, 64, (d, n)) / 64).astype(np.float32)
    weights, persons = np.ones(d, np.float32), rng.integers(0, n, n).astype(np.int32)
    labels = np.empty(n, np.int32)
    group_window.py_func(columns, weights, persons, k, labels)  # type: ignore[attr-defined]
    assert labels.tolist() == slow_groups(columns, weights, persons, k)


def test_every_cluster_has_k_persons() -> None:
    rng = np.random.default_rng(3)
    columns = rng.random((3, 300)).astype(np.float32)
    persons = rng.integers(0, 60, 300).astype(np.int32)
    labels = np.empty(300, np.int32)
    n_groups = group_window(columns, np.ones(3, np.float32), persons, 7, labels)
    assert n_groups == labels.max() + 1
    assert min(len(set(persons[labels == g])) for g in range(n_groups)) >= 7


def test_too_few_persons_make_no_cluster() -> None:
    labels = np.zeros(9, np.int32)
    persons = np.array([0, 1, 2] * 3, np.int32)
    assert group_window(np.zeros((1, 9), np.float32), np.ones(1, np.float32), persons, 4, labels) == 0
    assert set(labels.tolist()) == {-1}
