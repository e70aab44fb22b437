"""The nearest of every record, against all distances."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.kernels.tables.neighbours import nearest_lists, nearest_others
from tests.unit.kernels.tables.local_groups import make_groups


def test_equal_records_are_neighbours_of_each_other_and_not_of_themselves() -> None:
    near = nearest_lists(np.zeros((50, 1)), np.zeros(1), 1, 5)
    assert all(row not in listed for row, listed in enumerate(near.tolist()))
    assert near[10].tolist() == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("n_categories", [0, 2])
def test_neighbours_are_those_of_all_distances(n_categories: int) -> None:
    groups, distances = make_groups(n_categories, n_rows=200, n_groups=40)
    np.fill_diagonal(distances, np.inf)
    expected = np.array([np.lexsort((np.arange(200), row))[:20] for row in distances])
    ranked = np.take_along_axis(distances, groups.near.astype(np.intp), axis=1)
    np.testing.assert_allclose(ranked, np.take_along_axis(distances, expected, axis=1))
    if n_categories == 0:
        assert groups.near.tolist() == expected.tolist()


@pytest.mark.parametrize("n_metric", [0, 1, 3])
@pytest.mark.parametrize("n_rows", [2, 70, 500])
def test_the_nearest_other_is_that_of_all_distances_and_of_equals_the_first(n_rows: int, n_metric: int) -> None:
    rng = np.random.default_rng(n_rows)
    points = rng.integers(0, 4, (n_rows, 3)) / 2
    asked = np.sort(rng.choice(n_rows, n_rows // 2, replace=False))
    gaps = points[asked, None] - points[None]
    distances = (gaps[..., :n_metric] ** 2).sum(axis=2) + (gaps[..., n_metric:] != 0).sum(axis=2)
    distances[np.arange(len(asked)), asked] = np.inf
    nearest, found = nearest_others(points, n_metric, asked)
    assert nearest.tolist() == distances.argmin(axis=1).tolist()
    np.testing.assert_array_equal(found, distances.min(axis=1))
