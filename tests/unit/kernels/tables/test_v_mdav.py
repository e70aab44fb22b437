"""V-MDAV over a tree, against the algorithm word by word."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.kernels.tables.v_mdav import label_v_mdav

Floats = npt.NDArray[np.float64]


def squared(points: Floats, weights: Floats, n_metric: int, query: Floats) -> Floats:
    total = np.zeros(len(points))
    for j in range(points.shape[1]):
        if j < n_metric:
            total += (points[:, j] - query[j]) * (points[:, j] - query[j])
        else:
            total += np.where(points[:, j] != query[j], weights[j], 0.0)
    return total


def slow_v_mdav(points: Floats, weights: Floats, n_metric: int, average: Floats, k: int, gamma: float) -> list[int]:
    n_rows = len(points)
    apart = np.array([squared(points, weights, n_metric, p) for p in points])
    from_average = squared(points, weights, n_metric, average)
    left, labels, label = list(range(n_rows)), np.full(n_rows, -1), 0
    while len(left) >= k:
        seed = max(left, key=lambda row: from_average[row])
        left.remove(seed)
        group = [seed, *sorted(left, key=lambda row: apart[seed, row])[: k - 1]]
        left = [row for row in left if row not in group]
        while left and len(group) < 2 * k - 1:
            candidate = min(left, key=lambda row: min(apart[m, row] for m in group))
            inside = min(apart[m, candidate] for m in group)
            outside = min((apart[candidate, row] for row in left if row != candidate), default=np.inf)
            if gamma == 0 or not inside < gamma * gamma * outside:
                break
            group.append(candidate)
            left.remove(candidate)
        labels[group] = label
        label += 1
    placed = np.flatnonzero(labels >= 0)
    for row in left:
        labels[row] = labels[placed[np.argmin(apart[row, placed])]]
    return labels.tolist()


def random_data(rng: np.random.Generator, n_rows: int, n_values: int) -> tuple[Floats, Floats, int, Floats]:
    n_metric, n_other = int(rng.integers(0, 3)), int(rng.integers(1, 3))
    metric = rng.integers(0, n_values, (n_rows, n_metric)) * rng.choice([1.0, 0.3])
    points = np.column_stack([metric, rng.integers(0, n_values, (n_rows, n_other))]).astype(float)
    weights = np.array([0.0] * n_metric + [1.0, 0.75][:n_other])
    return points, weights, n_metric, np.append(metric.mean(axis=0), points[0, n_metric:])


@settings(max_examples=100, deadline=None)
@given(
    st.integers(2, 6),
    st.integers(0, 40),
    st.integers(1, 9),
    st.sampled_from([0.0, 0.2, 1.1, 3.0]),
    st.integers(0, 2**32),
)
def test_groups_are_those_of_the_scan(k: int, extra: int, n_values: int, gamma: float, seed: int) -> None:
    points, weights, n_metric, average = random_data(np.random.default_rng(seed), k + extra, n_values)
    labels = label_v_mdav(points, weights, n_metric, average, k, gamma)
    assert labels.tolist() == slow_v_mdav(points, weights, n_metric, average, k, gamma)


@pytest.mark.parametrize(("k", "gamma"), [(2, 1.1), (3, 0.2), (5, 2.0)])
def test_groups_stay_those_of_the_scan_over_many_leaves_and_rebuilt_trees(k: int, gamma: float) -> None:
    rng = np.random.default_rng(k)
    for points in (rng.normal(size=(500, 3)), rng.integers(0, 5, (500, 3)).astype(float)):
        average = points.mean(axis=0)
        labels = label_v_mdav(points, np.zeros(3), 3, average, k, gamma)
        assert labels.tolist() == slow_v_mdav(points, np.zeros(3), 3, average, k, gamma)
