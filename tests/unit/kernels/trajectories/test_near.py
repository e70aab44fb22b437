"""The tests of `kernels/trajectories/near.py`, against a slow twin."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.kernels.trajectories.near import grow_groups


def slow_groups(
    ways: np.ndarray, near: np.ndarray, seeds: np.ndarray, persons: np.ndarray, k: int, lost: float
) -> list[int]:
    groups, n_groups = [-1] * len(ways), 0
    for seed in seeds.tolist():
        members = [seed]
        while groups[seed] < 0 and len(members) < k:
            costs = {}
            for other in near[seed].tolist():
                if groups[other] < 0 and persons[other] not in persons[members]:
                    spans = np.ptp(ways[[*members, other]], axis=0)
                    costs[other] = np.minimum(0.5 * (spans[:, :2].max(axis=1) + spans[:, 2]), lost).sum()
            best = min(costs, key=lambda o: (costs[o], near[seed].tolist().index(o)), default=None)
            if best is None or costs[best] >= lost * ways.shape[1]:
                break
            members.append(best)
        if groups[seed] < 0 and len(members) == k:
            for member in members:
                groups[member] = n_groups
            n_groups += 1
    return groups


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("k", [2, 4])
def test_groups_are_those_of_the_slow_twin(seed: int, k: int) -> None:
    rng = np.random.default_rng(seed)
    ways, persons = rng.random((40, 3, 3)), rng.integers(0, 20, 40).astype(np.int32)
    near = np.argsort(((ways[:, None] - ways) ** 2).sum(axis=(2, 3)), axis=1)[:, :25].copy()
    seeds = rng.permutation(40)
    groups, begun_by = grow_groups(ways, near, seeds, persons, k, 0.6)
    assert groups.tolist() == slow_groups(ways, near, seeds, persons, k, 0.6)
    assert len(begun_by) == groups.max() + 1
    assert groups[begun_by].tolist() == list(range(len(begun_by)))
    for group in range(len(begun_by)):
        own = persons[groups == group]
        assert len(set(own.tolist())) == len(own) == k


def test_nobody_joins_who_would_lose_all() -> None:
    ways = np.array([[[0.0, 0, 0]], [[0.1, 0, 0]], [[50.0, 0, 0]]])
    near = np.tile(np.arange(3), (3, 1))
    groups, _ = grow_groups(ways, near, np.array([2, 1, 0]), np.arange(3, dtype=np.int32), 2, 1.0)
    assert groups.tolist() == [0, 0, -1]
