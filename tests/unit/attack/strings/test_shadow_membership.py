"""The tests of `attack/strings/shadow_membership.py`: it learns from a leaky release, and is blind by a chain."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from shoal.attack.strings.case import StringCase
from shoal.attack.strings.shadow_membership import ShadowMembership, readings
from shoal.data.strings.strings import Strings
from shoal.errors import Infeasible
from shoal.strings import Condensation


@pytest.fixture(scope="module")
def sides() -> tuple[Strings, Strings]:
    """Strings that have nothing in common, of lengths that differ."""
    rng = np.random.default_rng(0)
    strings = Strings.of(["".join(rng.choice(list("ACGT"), rng.integers(40, 60))) for _ in range(900)])
    return strings.take(np.arange(300)), strings.take(np.arange(300, 900))


def area(sides: tuple[Strings, Strings], again: Any) -> float:
    case = StringCase(again(sides[0], 1), *sides, again)
    assert ShadowMembership().missing(case) is None
    found = ShadowMembership().run(case, np.random.default_rng(1))
    assert found.details["taught"] == 1.0
    return float(found.details["area_under_curve"])


def by(**settings: Any) -> Any:
    return lambda strings, seed: Condensation(k=20, seed=seed, workers=1, **settings).fit_transform(strings)


def test_copies_are_told_templates_tell_much_and_a_chain_nothing(sides: tuple[Strings, Strings]) -> None:
    assert area(sides, lambda strings, _: strings) > 0.99
    assert area(sides, by(generator="template", support=3)) > 0.65
    assert abs(area(sides, by(generator="markov")) - 0.5) < 0.07
    assert area(sides, by()) < 0.6  # of 150 others, so 0.07 either way


def test_a_share_a_column_is_read_where_it_is_told() -> None:
    """A release that keeps nothing but the shares of the columns of few strings tells members by likelihood."""
    rng = np.random.default_rng(3)
    texts = rng.choice(list("ACGT"), (240, 60))
    columns = np.array([rng.permutation(c) for c in texts[:40].T]).T
    strings = Strings.of(["".join(row) for row in texts])
    members, others, reference = (strings.take(np.arange(a, a + 40)) for a in (0, 40, 80))
    published = Strings.of(["".join(row) for row in columns], alphabet=strings.alphabet)
    ours, theirs, last = readings([members, others, reference], published, rng)
    assert ours[:, 3].mean() > theirs[:, 3].mean() + 1.0
    assert np.allclose(last.std(axis=0), 1.0)


def test_what_is_missing_is_said(sides: tuple[Strings, Strings]) -> None:
    attack = ShadowMembership()
    assert attack.in_release() is None
    assert "how" in str(attack.missing(StringCase(sides[0], *sides)))
    assert "80 strings" in str(attack.missing(StringCase(sides[0], sides[0], sides[1].take(np.arange(79)), by())))


def test_nothing_is_learned_where_no_release_can_be_made(sides: tuple[Strings, Strings]) -> None:
    def refuse(strings: Strings, seed: int) -> Strings:
        raise Infeasible("no")

    found = ShadowMembership().run(StringCase(sides[0], *sides, refuse), np.random.default_rng(1))
    assert found.details["area_under_curve"] == 0.5
    assert found.details["taught"] == 0.0
