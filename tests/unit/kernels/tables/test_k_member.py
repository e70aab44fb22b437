"""Clusters by least added loss and by nearest neighbours, against scans that are too simple to be wrong."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.kernels.tables.k_member import label_k_member, label_neighbours
from shoal.kernels.tables.width_tree import (
    WidthPoints,
)
from tests.unit.kernels.tables.width_points import random_data

Floats = npt.NDArray[np.float64]


def width(data: WidthPoints, rows: list[int]) -> float:
    points = data.points[rows]
    return float((data.weights * np.minimum(points.max(axis=0) - points.min(axis=0), 1.0)).sum())


def put_leftovers(data: WidthPoints, clusters: list[list[int]], rest: list[int]) -> list[int]:
    for row in rest:
        losses = [(len(c) + 1) * width(data, [*c, row]) - len(c) * width(data, c) for c in clusters]
        clusters[int(np.argmin(losses))].append(row)
    labels = np.empty(len(data.points), int)
    for label, cluster in enumerate(clusters):
        labels[cluster] = label
    return labels.tolist()


def slow_k_member(data: WidthPoints, k: int) -> list[int]:
    """The paper's figure line by line; rows stay ascending, so the first of equals is the smallest row."""
    left = list(range(len(data.points)))
    clusters: list[list[int]] = []
    r = 0
    while len(left) >= k:
        r = max(left, key=lambda row: width(data, [r, row]))
        left.remove(r)
        cluster = [r]
        while len(cluster) < k:
            r = min(left, key=lambda row: width(data, [*cluster, row]))
            left.remove(r)
            cluster.append(r)
        clusters.append(cluster)
    return put_leftovers(data, clusters, left)


def slow_neighbours(data: WidthPoints, k: int) -> list[int]:
    left = list(range(len(data.points)))
    clusters: list[list[int]] = []
    while len(left) >= k:
        seed = left.pop(0)
        nearest = sorted(left, key=lambda row: width(data, [seed, row]))[: k - 1]
        clusters.append([seed, *nearest])
        left = [row for row in left if row not in nearest]
    return put_leftovers(data, clusters, left)


@settings(max_examples=100, deadline=None)
@given(st.integers(2, 6), st.integers(0, 30), st.integers(1, 8), st.integers(0, 2**32))
def test_clusters_are_those_of_the_scans(k: int, extra: int, n_values: int, seed: int) -> None:
    data, record = random_data(np.random.default_rng(seed), k + extra, n_values)
    assert label_k_member(data, record, k).tolist() == slow_k_member(data, k)
    assert label_neighbours(data, record, k).tolist() == slow_neighbours(data, k)


@pytest.mark.parametrize(("k", "n_values"), [(2, 60), (3, 4), (7, 9)])
def test_clusters_stay_those_of_the_scans_over_many_leaves_and_rebuilt_trees(k: int, n_values: int) -> None:
    data, record = random_data(np.random.default_rng([k, n_values, 1]), 400, n_values)
    assert label_k_member(data, record, k).tolist() == slow_k_member(data, k)
    assert label_neighbours(data, record, k).tolist() == slow_neighbours(data, k)


def test_equal_records_are_grouped_by_row() -> None:
    data = WidthPoints(np.ones((5000, 2)), np.ones(2))
    expected = [row // 5 for row in range(5000)]
    assert label_k_member(data, np.zeros(5000, np.int64), 5).tolist() == expected
    assert label_neighbours(data, np.zeros(5000, np.int64), 5).tolist() == expected
