"""Sketches in memory: rows of different lengths."""

from __future__ import annotations

import numpy as np

from shoal.data.sparse.sketches import Sketches


def test_rows_are_taken_and_padded() -> None:
    sketches = Sketches(np.array([0, 2, 2, 5]), np.array([1, -1, 3, 4, 5]), labels=np.array([0, 1, 0], np.int32))
    assert sketches.counts.tolist() == [2, 0, 3]
    assert sketches.is_integral
    taken = sketches.take(np.array([2, 0, 2]))
    assert taken.padded().tolist() == [[3, 4, 5], [1, -1, 0], [3, 4, 5]]
    assert taken.labels.tolist() == [0, 0, 0]
    assert sketches.take(np.zeros(0, np.intp)).padded().shape == (0, 0)
    assert not Sketches(np.array([0, 1]), np.array([0.5]), 0.5).is_integral
