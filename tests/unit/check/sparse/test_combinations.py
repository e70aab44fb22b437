"""The checker counts combinations as one would by hand, however few cells it looks at at once."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.check.sparse import combinations
from shoal.check.sparse.combinations import Combinations, count_combinations, matrix_of, worst_confidence
from shoal.data.sparse.records import Sparse
from tests.unit.sparse.slow_combinations import highest_confidence, random_lists, sets_of, supports


@pytest.mark.parametrize("m", [1, 2, 3])
@pytest.mark.parametrize("cells", [1, 13, 1 << 20])
def test_combinations_are_counted(monkeypatch: pytest.MonkeyPatch, m: int, cells: int) -> None:
    monkeypatch.setattr(combinations, "_CELLS_AT_ONCE", cells)
    monkeypatch.setattr(combinations, "_LISTED_AT_ONCE", cells)
    for seed in range(3):
        records = Sparse.of(random_lists(np.random.default_rng(seed), 30, 9, 6))
        slow = supports(sets_of(records), m)
        found = count_combinations(matrix_of(records.starts, records.items, records.n_items), 3, m)
        assert found == Combinations(len(slow), sum(n < 3 for n in slow.values()), min(slow.values()))


@pytest.mark.parametrize("m", [1, 2, 3])
def test_the_highest_confidence_is_found(m: int) -> None:
    for seed in range(4):
        records = Sparse.of(random_lists(np.random.default_rng(seed), 30, 8, 5))
        held = matrix_of(records.starts, records.items, records.n_items)
        share, both, left = worst_confidence(held, np.array([2, 4]), m)
        names = [records.names[i] for i in (2, 4)]
        assert share == pytest.approx(highest_confidence(sets_of(records), names, m))
        assert share == both / left


def test_nothing_is_nothing() -> None:
    empty = matrix_of(np.zeros(3, np.int64), np.zeros(0, np.int64), 2)
    assert count_combinations(empty, 5, 3) == Combinations(0, 0, 0)
    assert worst_confidence(empty, np.array([0]), 3) == (0.0, 0, 0)


def test_an_item_that_a_record_repeats_counts_once() -> None:
    held = matrix_of(np.array([0, 3]), np.array([1, 1, 0]), 2)
    assert count_combinations(held, 1, 2) == Combinations(3, 0, 1)
