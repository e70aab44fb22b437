"""The tests of `tables/partition/merge_runs.py`."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from shoal.kernels.tables.mdav import MixedPoints
from shoal.tables.microaggregation.merge_runs import losses_of, merge_pool
from shoal.tables.partition.base import rank_array
from shoal.tables.partition.mdav import mixed_points

Labels = npt.NDArray[np.int32]


def slow_loss(data: MixedPoints, labels: Labels) -> float:
    """Squared distances of all pairs of a group over its size, added up."""
    apart = data.points[:, None, :] - data.points[None, :, :]
    metric, other = apart[..., : data.n_metric], apart[..., data.n_metric :]
    distances = (metric**2).sum(axis=-1) + (other != 0) @ data.weights[data.n_metric :]
    members = [np.flatnonzero(labels == g) for g in np.unique(labels)]
    return float(sum(distances[np.ix_(rows, rows)].sum() / 2 / len(rows) for rows in members))


def test_the_better_of_two_partitions_is_taken_in_each_place() -> None:
    data = mixed_points(rank_array(np.array([0.0, 1, 10, 11, 100, 101, 110, 111])[:, None]))
    first = np.array([0, 0, 1, 1, 2, 3, 2, 3], np.int32)
    second = np.array([0, 1, 0, 1, 2, 2, 3, 3], np.int32)
    merged = merge_pool(data, [first, second], 2)
    assert merged.tolist() == [0, 0, 1, 1, 2, 2, 3, 3]
    assert merge_pool(data, [second, first], 2).tolist() == merged.tolist()
    assert merge_pool(data, [first], 2).tolist() == first.tolist()
    assert losses_of(data, merged, 2).sum() == pytest.approx(slow_loss(data, merged))
