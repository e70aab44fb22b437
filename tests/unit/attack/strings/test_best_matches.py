"""The tests of `attack/strings/best_matches.py`: they tell members of a leaky release, and are blind where nothing leaks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from shoal.attack.strings.best_matches import FragmentMembership, PlaceMembership, beyond_alike
from shoal.attack.strings.case import StringCase
from shoal.data.strings.strings import Strings
from shoal.strings import Condensation


@pytest.fixture(scope="module")
def sides() -> tuple[Strings, Strings]:
    """Strings that have nothing in common, of lengths that differ."""
    rng = np.random.default_rng(0)
    texts = ["".join(rng.choice(list("ACDEFGHIKL"), rng.integers(40, 90))) for _ in range(400)]
    strings = Strings.of(texts)
    return strings.take(np.arange(200)), strings.take(np.arange(200, 400))


def area(attack: Any, published: Strings, sides: tuple[Strings, Strings]) -> float:
    case = StringCase(published, *sides)
    assert attack.missing(case) is None
    found = attack.run(case, np.random.default_rng(1))
    assert f"{found.details['area_under_curve']:.2f}" in found.sentence
    return float(found.details["area_under_curve"])


@pytest.mark.parametrize("attack", [PlaceMembership(), FragmentMembership()])
def test_copies_are_told_and_strangers_are_not(attack: Any, sides: tuple[Strings, Strings]) -> None:
    assert area(attack, sides[0], sides) > 0.99
    rng = np.random.default_rng(2)
    strangers = Strings.of(["".join(rng.choice(list("ACDEFGHIKL"), rng.integers(40, 90))) for _ in range(200)])
    assert abs(area(attack, strangers, sides) - 0.5) < 0.1


def test_templates_tell_members_by_place_and_windows_tell_less(sides: tuple[Strings, Strings]) -> None:
    template = Condensation(k=20, seed=1, workers=1, support=3, generator="template").fit_transform(sides[0])
    window = Condensation(k=20, seed=1, workers=1).fit_transform(sides[0])
    assert area(PlaceMembership(), template, sides) > 0.75
    assert area(PlaceMembership(), window, sides) < 0.65


def test_too_few_others_are_too_few(sides: tuple[Strings, Strings]) -> None:
    few = StringCase(sides[0], sides[0], sides[1].take(np.arange(39)))
    assert "40 strings" in str(PlaceMembership().missing(few))
    assert PlaceMembership().missing(StringCase(sides[0], sides[0])) is not None


def test_scores_are_judged_by_strings_of_like_length() -> None:
    lengths = np.arange(100)
    found = beyond_alike(lengths * 2.0, lengths, lengths * 2.0, lengths)
    assert np.abs(found[15:85]).max() <= 1.0
