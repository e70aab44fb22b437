"""The tests of `utility/sparse/neighbours_kept.py`."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.data.sparse.sketches import Sketches
from shoal.utility.sparse import count_neighbours_kept
from shoal.utility.sparse.originals import matrix_of, nearest_originals, unit_rows
from tests.unit.utility.sparse.crowds import crowds, maker


def cosines_of(dense: np.ndarray) -> np.ndarray:
    units = dense / np.linalg.norm(dense, axis=1, keepdims=True)
    return units @ units.T


def test_neighbours_kept_are_those_of_a_loop() -> None:
    records = crowds(130)
    sketches, rows = maker(25)(records)
    shown = records.take(rows)
    sampled = np.array([5, 90])
    nearest = nearest_originals(unit_rows(matrix_of(shown)), sampled, 10)
    found = count_neighbours_kept(sketches, sampled, nearest)
    # With one number of components for all and sets of nearly one length, cosines of sketches rank alike.
    padded = sketches.padded()
    for reach in (10, 50, 100):
        kept = 0
        for row, truly in zip(sampled, nearest, strict=True):
            products = cosines_of(padded)[row]
            products[row] = -9
            kept += len(set(np.argsort(-products)[:reach]) & set(truly.tolist()))
        assert found.shares[reach] == pytest.approx(kept / 20, abs=0.101)
        assert found.by_chance[reach] == pytest.approx(reach / 129)
    assert found.shares[10] < found.shares[50] < found.shares[100]


def test_neighbours_that_tie_share_the_places() -> None:
    same = Sketches(np.arange(0, 401, 4), np.tile([1, 3, 1, 1], 100))
    found = count_neighbours_kept(same, np.array([0]), np.arange(1, 11)[None])
    assert found.shares == pytest.approx({10: 10 / 99, 50: 50 / 99})
    assert found.shares == pytest.approx(found.by_chance)
