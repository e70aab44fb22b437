"""Rows of different lengths, one after another."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.data.ragged import encode_labels, ragged_places
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


def test_labels_are_numbered_in_the_order_of_their_names() -> None:
    codes, names = encode_labels(["b", "a", "b"], 3, "strings")
    assert (codes.tolist(), names) == ([1, 0, 1], ("a", "b"))
    assert encode_labels([], 0, "strings")[1] == ()
    with pytest.raises(DataError, match="2 class labels for 3 strings"):
        encode_labels(["a", "b"], 3, "strings")
    with pytest.raises(DataError, match="not text"):
        encode_labels(["a", 1], 2, "strings")  # type: ignore[list-item]
