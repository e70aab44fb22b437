"""The tree and the clusters it finds, against scans that are too simple to be wrong."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.kernels.tables.mdav import MixedPoints, label_mdav
from tests.unit.kernels.tables.mixed_points import Floats, random_data, squared


def slow_average(data: MixedPoints, alive: npt.NDArray[np.intp]) -> Floats:
    average = np.empty(data.points.shape[1])
    for j, owner in enumerate(data.owner):
        if owner < 0:
            average[j] = math.fsum(data.points[alive, j]) / len(alive)
            continue
        counts = np.bincount(data.codes[alive, owner])
        if data.is_median[owner]:
            rank = next(r for r in range(len(counts)) if 2 * counts[: r + 1].sum() >= len(alive))
        else:
            rank = int(np.argmax(counts))
        average[j] = data.coordinates[data.offsets[j] + rank]
    return average


def slow_mdav(data: MixedPoints, k: int) -> npt.NDArray[np.int32]:
    """MDAV-generic word by word; rows stay ascending, so the first of equals is the smallest row."""
    labels = np.full(len(data.points), -1, np.int32)
    formed = 0

    def distances(rows: npt.NDArray[np.intp], query: Floats) -> Floats:
        return squared(data.points[rows], query, data.n_metric, data.weights)

    def farthest(query: Floats) -> int:
        alive = np.flatnonzero(labels < 0)
        return int(alive[np.argmax(distances(alive, query))])

    def form_cluster(seed: int) -> None:
        nonlocal formed
        others = np.array([row for row in np.flatnonzero(labels < 0) if row != seed])
        nearest = others[np.argsort(distances(others, data.points[seed]), kind="stable")[: k - 1]]
        labels[[seed, *nearest]] = formed
        formed += 1

    while (labels < 0).sum() >= 3 * k:
        x_r = farthest(slow_average(data, np.flatnonzero(labels < 0)))
        x_s = farthest(data.points[x_r])
        form_cluster(x_r)
        if labels[x_s] >= 0:
            x_s = farthest(data.points[x_r])
        form_cluster(x_s)
    if (labels < 0).sum() >= 2 * k:
        form_cluster(farthest(slow_average(data, np.flatnonzero(labels < 0))))
    labels[labels < 0] = formed
    return labels


def numeric(points: Floats) -> MixedPoints:
    n_rows, n_columns = points.shape
    return MixedPoints(
        points=np.ascontiguousarray(points, dtype=np.float64),
        weights=np.zeros(n_columns),
        codes=np.zeros((n_rows, 0), np.int32),
        starts=np.zeros(1, np.int64),
        is_median=np.zeros(0, np.int64),
        owner=np.full(n_columns, -1, np.int64),
        offsets=np.zeros(n_columns, np.int64),
        coordinates=np.zeros(0),
        n_metric=n_columns,
    )


@settings(max_examples=150, deadline=None)
@given(st.integers(2, 7), st.integers(0, 40), st.integers(1, 6), st.integers(0, 2**32))
def test_clusters_of_mixed_records_are_those_of_the_scan(k: int, extra: int, n_values: int, seed: int) -> None:
    n_rows = k + extra % (3 * k + 4)  # k to 4k + 3: each of the three cases and their borders
    data = random_data(np.random.default_rng(seed), n_rows, n_values)
    assert label_mdav(data, k).tolist() == slow_mdav(data, k).tolist()


@pytest.mark.parametrize("n_values", [2, 4, 9])
@pytest.mark.parametrize("k", [2, 3, 7])
def test_clusters_stay_those_of_the_scan_over_many_leaves_and_rebuilt_trees(k: int, n_values: int) -> None:
    data = random_data(np.random.default_rng([k, n_values]), 700, n_values)
    assert label_mdav(data, k).tolist() == slow_mdav(data, k).tolist()


@pytest.mark.parametrize("n_columns", [1, 3, 5, 13])
def test_clusters_of_numbers_are_those_of_the_scan(n_columns: int) -> None:
    rng = np.random.default_rng(n_columns)
    for points in (
        rng.normal(size=(600, n_columns)),
        rng.integers(-2, 3, size=(600, n_columns)).astype(float),
        rng.pareto(1.0, size=(600, n_columns)) * (rng.random((600, n_columns)) < 0.1) + 1e6,  # far from the origin
    ):
        assert label_mdav(numeric(points), 4).tolist() == slow_mdav(numeric(points), 4).tolist()


def test_equal_records_are_grouped_by_row() -> None:
    labels = label_mdav(numeric(np.ones((500, 2))), 5)
    assert labels.tolist() == [row // 5 for row in range(500)]


def test_a_partner_swallowed_by_the_first_cluster_is_chosen_again() -> None:
    points = np.array(
        [[0.0]] * 5 + [[9.0]] + [[0.0]] * 3
    )  # x_s ties at distance 9 with row 0, a neighbour of nobody else
    assert (
        label_mdav(numeric(points), 3).tolist() == slow_mdav(numeric(points), 3).tolist() == [0, 0, 1, 1, 1, 0, 2, 2, 2]
    )
