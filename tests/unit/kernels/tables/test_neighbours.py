"""The tests of `kernels/tables/neighbours.py`."""

from __future__ import annotations

import numpy as np

from shoal.kernels.tables.neighbours import nearest_lists


def test_equal_records_are_neighbours_of_each_other_and_not_of_themselves() -> None:
    near = nearest_lists(np.zeros((50, 1)), np.zeros(1), 1, 5)
    assert all(row not in listed for row, listed in enumerate(near.tolist()))
    assert near[10].tolist() == [0, 1, 2, 3, 4]
