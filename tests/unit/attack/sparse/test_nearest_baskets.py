"""Members and copies are told by the nearest published record where that is theirs."""

from __future__ import annotations

import numpy as np

from shoal.attack.sparse.nearest_baskets import BasketCopies, NearestBaskets
from tests.unit.attack.sparse.basket_cases import dealt, raw


def test_membership_is_plain_in_raw_baskets_alone() -> None:
    clear, hidden = (NearestBaskets().run(case, np.random.default_rng(1)) for case in (raw(), dealt()))
    assert clear.details["area_under_curve"] > 0.95
    assert clear.risk.low > 0.5
    assert hidden.details["area_under_curve"] < 0.7
    assert hidden.risk.value < 0.2


def test_copies_are_found_in_raw_baskets_alone() -> None:
    clear, hidden = (BasketCopies().run(case, np.random.default_rng(1)) for case in (raw(), dealt()))
    assert clear.main.value == clear.details["equal_members"] == 1
    assert hidden.details["equal_members"] == 0
    assert hidden.risk.low == 0
