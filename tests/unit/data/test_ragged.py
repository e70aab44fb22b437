"""Rows of different lengths, one after another."""

from __future__ import annotations

import numpy as np
import pytest

import shoal.data.ragged as ragged
from shoal.data.ragged import count_codes, distinct, encode_labels, ragged_places, runs_of_rows, take_ragged
from shoal.errors import DataError


@pytest.mark.parametrize("seed", range(5))
def test_places_are_those_of_a_loop_over_rows(seed: int) -> None:
    rng = np.random.default_rng(seed)
    starts = np.concatenate([[0], np.cumsum(rng.integers(0, 4, 12))])
    rows = rng.integers(0, 12, int(rng.integers(0, 20)))
    places, new_starts = ragged_places(starts, rows)
    expected = [list(range(starts[r], starts[r + 1])) for r in rows]
    assert places.tolist() == [place for row in expected for place in row]
    assert np.diff(new_starts).tolist() == [len(row) for row in expected]


@pytest.mark.parametrize("seed", range(5))
def test_rows_are_taken_run_by_run(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ragged, "ENTRIES_AT_ONCE", 5)
    rng = np.random.default_rng(seed)
    starts = np.concatenate([[0], np.cumsum(rng.integers(0, 9, 12))])
    rows = rng.integers(0, 12, 5 * seed)
    values, ones = rng.integers(0, 99, starts[-1]).astype(np.int32), np.broadcast_to(np.ones(1, np.int64), starts[-1])
    places, expected = ragged_places(starts, rows)
    new_starts, (taken, weights) = take_ragged(starts, rows, values, ones)
    np.testing.assert_array_equal(new_starts, expected)
    np.testing.assert_array_equal(taken, values[places])
    assert taken.dtype == np.int32
    assert weights.tolist() == [1] * len(places)
    assert not len(places) or weights.strides == (0,)


@pytest.mark.parametrize("sizes", [[], [0, 0], [3], [20], [1, 1, 1, 1, 1, 1], [0, 9, 0, 1, 4, 4, 0]])
def test_runs_cover_all_rows_once(sizes: list[int]) -> None:
    starts = np.concatenate([[7], 7 + np.cumsum(sizes, dtype=np.int64)]).astype(np.int64)
    runs = list(runs_of_rows(starts, 4))
    assert [row for low, high in runs for row in range(low, high)] == list(range(len(sizes)))
    assert all(starts[high - 1] - starts[low] <= 8 for low, high in runs)


def test_counts_and_distinct_values_are_those_of_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ragged, "ENTRIES_AT_ONCE", 7)
    codes = np.random.default_rng(0).integers(0, 9, 50).astype(np.int32)
    np.testing.assert_array_equal(count_codes(codes, 12), np.bincount(codes, minlength=12))
    np.testing.assert_array_equal(distinct(codes), np.unique(codes))
    assert distinct(codes[:0]).tolist() == []
    assert count_codes(codes[:0], 2).tolist() == [0, 0]


def test_labels_are_numbered_in_the_order_of_their_names() -> None:
    codes, names = encode_labels(["b", "a", "b"], 3, "strings")
    assert (codes.tolist(), names) == ([1, 0, 1], ("a", "b"))
    assert encode_labels([], 0, "strings")[1] == ()
    with pytest.raises(DataError, match="2 class labels for 3 strings"):
        encode_labels(["a", "b"], 3, "strings")
    with pytest.raises(DataError, match="not text"):
        encode_labels(["a", 1], 2, "strings")  # type: ignore[list-item]
