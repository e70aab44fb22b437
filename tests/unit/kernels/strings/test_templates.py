"""The tests of `kernels/strings/templates.py`."""

from __future__ import annotations

import numpy as np

from shoal.kernels.strings.templates import fill_numbered, find_features


def test_features_are_found_where_they_first_stand() -> None:
    symbols, starts = np.array([2, 0, 0, 1, 2, 2], np.int32), np.array([0, 2, 4, 6])
    first = np.full((2, 3), -1, np.int64)
    find_features(symbols, starts, 2, 2, first)
    assert first.tolist() == [[2, -1, 0], [0, 2, 4]]


def test_entries_are_shares_under_the_given_numbers() -> None:
    symbols, starts = np.array([0, 1, 1], np.int32), np.array([0, 3])
    numbers = np.array([[10, 11], [-1, 12]], np.int32)
    features, weights = np.zeros(3, np.int32), np.zeros(3, np.float32)
    fill_numbered(symbols, starts, 2, 3, numbers, np.array([0, 3]), features, weights)
    assert features.tolist() == [10, 11, 12]
    np.testing.assert_allclose(weights, [2 / 3, 1 / 3, 1])
