"""Dictionaries of texts: sorted, missing spellings last."""

from __future__ import annotations

import numpy as np

from shoal.data.tables.dictionary import TextEncoder, from_distinct, objects


def test_pieces_give_what_the_whole_gives() -> None:
    rng = np.random.default_rng(0)
    cells = [None if v == 5 else "?" if v == 4 else f"v{v}" for v in rng.integers(0, 6, 50)]
    whole, pieces = TextEncoder(), TextEncoder()
    whole.add(cells)
    for i in range(0, 50, 7):
        pieces.add(cells[i : i + 7])
    for encoder in (whole, pieces):
        column = encoder.column("x", markers=("?",))
        assert column.values.tolist() == sorted({c for c in cells if c not in (None, "?")})
        assert column.markers == ("?", None)
        assert np.array([*column.values, *column.markers], dtype=object)[column.codes].tolist() == cells
    assert TextEncoder().column("x").codes.tolist() == []


def test_missing_spellings_are_last_and_nothing_is_the_very_last() -> None:
    column = from_distinct("x", np.array([0, 1, 2, 3]), ["b", None, "", "a"], markers=("",))
    assert column.codes.tolist() == [1, 3, 2, 0]
    assert column.markers == ("", None)


def test_objects_have_one_dimension() -> None:
    assert objects([(1, 2), (3, 4)]).shape == (2,)
