"""The nearest of every record, against all distances."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.kernels.tables.neighbours import nearest_lists
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
