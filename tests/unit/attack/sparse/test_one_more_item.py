"""One more item follows from half of a raw basket, and for strangers as often as for members of pseudo-baskets."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from shoal.attack.sparse.one_more_item import OneMoreItem, RareItem, best_item_is_right
from tests.unit.attack.sparse.basket_cases import dealt, raw


def test_raw_baskets_tell_one_more_item_of_members() -> None:
    found = OneMoreItem().run(raw(), np.random.default_rng(1))
    assert found.details["right_by_1_members"] > 0.75
    assert found.details["right_by_1_members"] > found.details["right_by_1_others"] + 0.1


@pytest.mark.parametrize("attack", [OneMoreItem(), RareItem()])
def test_pseudo_baskets_tell_no_more_of_members_than_of_others(attack) -> None:
    found = attack.run(dealt(), np.random.default_rng(1))
    assert found.control is not None
    assert found.risk.low <= 0.05
    assert found.main.attempts == found.control.attempts == 300


def test_the_unknown_item_of_the_highest_score_is_guessed() -> None:
    votes = csr_matrix(np.array([[9.0, 2, 3], [1, 1, 0], [5, 0, 0]]))
    known = csr_matrix(np.array([[1.0, 0, 0], [0, 0, 0], [1, 0, 0]]))
    whole = csr_matrix(np.array([[1.0, 0, 1], [1, 0, 0], [1, 1, 0]]))
    tie = np.array([0.0, 1e-6, 0.0])  # the rarer of equals
    assert best_item_is_right(votes, known, whole, tie).tolist() == [True, False, False]
