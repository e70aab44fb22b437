"""How often an attack on strings succeeds, on members and on others."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from shoal.attack.result import Rate
from shoal.attack.strings.rates import beside, rates_of


def test_members_come_before_others() -> None:
    succeeds = np.array([True, True, False, True, False])
    tried = np.array([True, False, True, True, True])
    assert rates_of(SimpleNamespace(n_main=3, n_control=2), succeeds) == (Rate(2, 3), Rate(1, 2))
    assert rates_of(SimpleNamespace(n_main=3, n_control=2), succeeds, tried) == (Rate(1, 2), Rate(1, 2))
    assert rates_of(SimpleNamespace(n_main=5, n_control=0), succeeds) == (Rate(3, 5), None)


def test_the_control_is_said_only_where_it_was_tried() -> None:
    assert beside(None) == beside(Rate(0, 0)) == ""
    assert beside(Rate(1, 4)) == " (25.0 % for strings that were not in the data)"
