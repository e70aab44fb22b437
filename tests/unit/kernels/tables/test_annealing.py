"""The tests of `kernels/tables/annealing.py`."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from shoal.kernels.tables.annealing import anneal
from tests.unit.kernels.tables.local_groups import Floats, assert_whole, make_groups


def slow_loss(distances: Floats, labels: npt.NDArray[np.int32]) -> float:
    """Distances of all pairs of a group over its size, added up."""
    members = [np.flatnonzero(labels == g) for g in np.unique(labels)]
    return float(sum(distances[np.ix_(rows, rows)].sum() / 2 / len(rows) for rows in members))


@pytest.mark.parametrize("n_categories", [0, 2])
def test_annealing_keeps_groups_whole_and_repeats_itself(n_categories: int) -> None:
    found = []
    for _ in range(2):
        groups, distances = make_groups(n_categories)
        state, scale = np.array([99], np.uint64), np.ones(60)
        before = slow_loss(distances, groups.labels)
        n_hot = anneal(groups, state, 100.0, scale, 5_000)
        assert_whole(groups)
        n_cold = anneal(groups, state, 0.01, scale, 20_000)
        assert_whole(groups)
        assert n_hot / 5_000 > 0.5 > n_cold / 20_000
        assert slow_loss(distances, groups.labels) < before
        found.append(groups.labels.copy())
    assert found[0].tolist() == found[1].tolist()
