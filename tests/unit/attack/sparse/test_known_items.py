"""Few known items single members out of raw baskets, and not of pseudo-baskets."""

from __future__ import annotations

import numpy as np

from shoal.attack.sparse.basket_targets import parts_of
from shoal.attack.sparse.known_items import KnownItems, count_fits
from tests.unit.attack.sparse.basket_cases import dealt, raw


def test_members_stand_out_of_raw_baskets_alone() -> None:
    clear, hidden = (KnownItems().run(case, np.random.default_rng(1)) for case in (raw(), dealt()))
    assert clear.risk.low > 0.05
    assert hidden.risk.low == 0
    assert clear.details["none_by_5_members"] == 0
    assert clear.details["none_by_5_others"] > 0.5


def test_fits_are_those_of_a_slow_count() -> None:
    ready = raw().ready
    parts = parts_of(ready.held[:40], np.full(40, 2), np.random.default_rng(0))
    assert np.diff(parts.indptr).tolist() == [2] * 40
    dense, asked = ready.held.toarray() > 0, parts.toarray() > 0
    slow = [sum(bool((row[known]).all()) for row in dense) for known in asked]
    assert count_fits(ready, parts).tolist() == slow
