"""Areas and hits are those of all pairs, ties included."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.attack.roc import Roc


def test_area_is_that_of_all_pairs():
    rng = np.random.default_rng(0)
    members, others = rng.integers(0, 9, 50) + 1.0, rng.integers(0, 9, 60).astype(float)
    pairs = (members[:, None] > others) + 0.5 * (members[:, None] == others)
    assert Roc.of(members, others).area == pytest.approx(pairs.mean())


def test_hits_without_ties():
    members, others = Roc.of([5.0, 3.5, 1.5, 0.5], [4.0, 3.0, 2.0, 1.0]).hits(0.25)
    assert (members.value, others.value) == (0.5, 0.25)


def test_those_who_tie_are_taken_in_part():
    members, others = Roc.of([1.0, 1.0, 0.5], [1.0, 1.0, 0.0, 0.0]).hits(0.25)
    assert (members.value, others.value) == (pytest.approx(1 / 3), 0.25)


def test_nobody_is_taken_where_no_member_ties():
    members, others = Roc.of([2.0, 2.0], [0.0] * 200).hits(0.01)
    assert (members.value, others.value) == (1.0, 0.0)


def test_scores_that_say_nothing_hit_as_often_as_they_err():
    members, others = Roc.of([0.0] * 50, [0.0] * 200).hits(0.01)
    assert members.value == pytest.approx(others.value) == pytest.approx(0.01)


def test_hits_at_few_false_alarms_need_many_others():
    assert np.isnan(Roc.of([1.0], [0.0] * 999).details["hits_at_0.1_percent_false_alarms"])
    assert Roc.of([1.0], [0.0] * 1000).details["hits_at_0.1_percent_false_alarms"] == 1
