"""The tests of `utility/sparse/originals.py`."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from shoal.data.sparse.records import Sparse
from shoal.utility.sparse.originals import matrix_of, nearest_originals, original_blocks, unit_rows
from tests.unit.utility.sparse.crowds import crowds


def dense_of(records: Sparse) -> np.ndarray:
    out = np.zeros((len(records), records.n_items))
    out[np.repeat(np.arange(len(records)), records.sizes), records.items] = records.weights
    return out


def cosines_of(dense: np.ndarray) -> np.ndarray:
    units = dense / np.linalg.norm(dense, axis=1, keepdims=True)
    return units @ units.T


def test_originals_are_compared_without_a_matrix_of_all_pairs() -> None:
    records = crowds(60)
    dense = dense_of(records)
    matrix = matrix_of(records)
    for metric, expected in (
        ("cosine", cosines_of(dense)[:20]),
        ("euclidean", -((dense[:20, None] - dense[None]) ** 2).sum(axis=2) / (2 * (dense**2).sum(axis=1).mean())),
    ):
        got = np.concatenate([block for _, block in original_blocks(matrix[:20], matrix, metric)])
        assert got == pytest.approx(expected, abs=1e-5)


def test_nearest_originals_are_those_of_a_sort() -> None:
    records = crowds(80, seed=1)
    cosines = np.round(cosines_of(dense_of(records)), 6)
    rows = np.array([3, 70, 0])
    got = nearest_originals(unit_rows(matrix_of(records)), rows, 5)
    for row, found in zip(rows, got, strict=True):
        others = sorted(set(range(80)) - {row}, key=lambda j: -cosines[row, j])
        assert cosines[row, found] == pytest.approx(cosines[row, others[:5]])
        assert row not in found
        assert len(set(found)) == 5
        tied = [j for a, j in pairwise(found.tolist()) if cosines[row, a] == cosines[row, j] and a > j]
        assert not tied
