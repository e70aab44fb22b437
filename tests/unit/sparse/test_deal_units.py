"""Whole pools are dealt run by run, and only what has room is looked at."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.data.ragged_rows import Ragged
from shoal.errors import Infeasible
from shoal.sparse import deal_units as module
from shoal.sparse.deal_units import Dealt, deal_units, rank_within
from shoal.sparse.near_groups import NearGroups
from shoal.sparse.units import single_units


def case(n_groups: int = 16, k: int = 5) -> tuple[Ragged, NearGroups, int]:
    rng = np.random.default_rng(2)
    n, n_items = n_groups * k, 30
    rows = [np.sort(rng.choice(n_items, rng.integers(1, 8), replace=False)) for _ in range(n)]
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum([len(row) for row in rows])])
    groups = NearGroups(np.arange(n, dtype=np.int32), np.arange(0, n + 1, k), np.array([0, n_groups]))
    return Ragged(starts, [np.concatenate(rows).astype(np.int32)]), groups, n_items


def dealt_of(room: int | None = None) -> tuple[Dealt, np.ndarray]:
    rows, groups, n_items = case()
    dealt = Dealt(rows.empty(rows.starts, np.int32), np.zeros(len(rows), np.int32))
    shares = np.bincount(rows.values[0], minlength=n_items) / len(rows)
    rng, state = np.random.default_rng(4), np.array([9], np.uint64)
    left = deal_units(dealt, single_units(rows, n_items), groups, shares, None, 3, rng, state, room)
    return dealt, left.counts()


def test_each_is_dealt_as_often_as_it_is_held_where_enough_of_a_pool_hold_it(monkeypatch: pytest.MonkeyPatch) -> None:
    rows, _, n_items = case()
    dealt, left = dealt_of()
    held = np.bincount(rows.values[0], minlength=n_items)
    found = dealt.items(np.arange(len(rows)))
    assert (np.bincount(found.values[0], minlength=n_items) + left).tolist() == held.tolist()
    assert left.max() < 3
    assert (found.sizes <= rows.sizes).all()
    own = [found.values[0][low:high].tolist() for low, high in zip(found.starts[:-1], found.starts[1:], strict=True)]
    assert all(len(set(row)) == len(row) for row in own)
    for at_once in (1, 20):
        monkeypatch.setattr(module, "UNITS_AT_ONCE", at_once)
        again, left_again = dealt_of()
        assert again.items(np.arange(len(rows))).values[0].tolist() == found.values[0].tolist()
        assert left_again.tolist() == left.tolist()


def test_a_pool_that_does_not_fit_is_refused() -> None:
    with pytest.raises(Infeasible, match="items are left to be dealt among records with"):
        dealt_of(room=5)


def test_ranks_are_those_among_equal_keys() -> None:
    assert rank_within(np.array([3, 1, 3, 3, 1])).tolist() == [0, 0, 1, 2, 1]
