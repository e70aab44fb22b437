"""One more item follows from half of a raw basket, and for strangers as often as for members of pseudo-baskets."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.attack.sparse.one_more_item import OneMoreItem, RareItem, rate_of_persons
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
    assert 300 <= found.main.attempts <= 4 * 300


def test_tries_of_one_person_count_for_less_than_those_of_several() -> None:
    rng = np.random.default_rng(0)
    chances = rng.uniform(0.2, 0.8, 500)
    alike = rng.random((4, 500)) < chances
    own = rate_of_persons(alike.mean(axis=0), 4)
    assert 500 < own.attempts < 4 * 500
    assert own.value == pytest.approx(alike.mean())
    # Equal tries of a person are one try; those of persons who are all alike are as many persons.
    assert rate_of_persons(alike[0].astype(float), 4).attempts == 500
    assert rate_of_persons((rng.random((4, 500)) < 0.5).mean(axis=0), 4).attempts > 0.85 * 4 * 500
    assert rate_of_persons(np.ones(20), 4).attempts == 80
    assert rate_of_persons(np.zeros(0), 4).attempts == 0
