"""The tests of `check/strings/support.py`."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.check.strings.support import recompute_support, surprise
from shoal.data.strings.strings import Strings
from tests.unit.check.strings.slow_strings import judge


@pytest.mark.parametrize(("order", "support"), [(1, 1), (2, 1), (2, 3), (3, 2), (4, 3)])
def test_support_is_that_of_the_slow_twin(order, support):
    rng = np.random.default_rng(order)
    members = ["".join(rng.choice(list("abc"), rng.integers(5, 13))) for _ in range(70)]  # more than one word of bits
    groups = np.repeat([0, 1, 2], [3, 66, 1])
    drawn = ["".join(rng.choice(list("abcd"), 8, p=[0.4, 0.3, 0.29, 0.01])) for _ in range(60)]
    drawn_groups = np.arange(60) % 3
    original = Strings.of(members, alphabet="abcd")
    found = recompute_support(
        Strings.of(drawn, alphabet="abcd"), drawn_groups, original, groups, np.full(3, 8), order, support
    )
    for i, string in enumerate(drawn):
        own = [m for m, g in zip(members, groups, strict=True) if g == drawn_groups[i]]
        is_possible, n_places, followed, expected = judge(string, own, order, support)
        assert found.is_possible[i] == is_possible
        assert (found.n_places[i], found.followed[i]) == (n_places, followed)
        assert found.expected[i] == pytest.approx(expected)
    assert found.is_possible.any()
    assert not found.is_possible.all()


def test_false_alarms_are_as_rare_as_is_said():
    rng = np.random.default_rng(0)
    chances = rng.random((4000, 60))
    followed = (rng.random(chances.shape) < chances).sum(axis=1)
    found = surprise(followed, chances.sum(axis=1), np.full(4000, 60))
    for x in (1.0, 2.0, 4.0):
        assert (found > x).mean() <= np.exp(-x)
    assert surprise(np.array([40]), np.array([20.0]), np.array([40]))[0] > 22
