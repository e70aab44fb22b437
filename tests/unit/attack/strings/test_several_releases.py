"""The tests of `attack/strings/several_releases.py`: more releases tell more, unless they tell nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from shoal.attack.strings import several_releases
from shoal.attack.strings.case import StringCase
from shoal.attack.strings.several_releases import SeveralReleases
from shoal.data.strings.strings import Strings
from shoal.strings import Condensation


@pytest.fixture(scope="module")
def sides() -> tuple[Strings, Strings]:
    """Strings that have nothing in common, of lengths that differ."""
    rng = np.random.default_rng(0)
    strings = Strings.of(["".join(rng.choice(list("ACGT"), rng.integers(40, 60))) for _ in range(600)])
    return strings.take(np.arange(300)), strings.take(np.arange(300, 600))


def areas(sides: tuple[Strings, Strings], **settings: Any) -> tuple[float, float]:
    def again(strings: Strings, seed: int) -> Strings:
        made: Strings = Condensation(k=20, seed=seed, workers=1, **settings).fit_transform(strings)
        return made

    case = StringCase(again(sides[0], 1), *sides, again)
    assert SeveralReleases().missing(case) is None
    details = SeveralReleases().run(case, np.random.default_rng(1)).details
    return float(details["area_of_one_release"]), float(details["area_under_curve"])


def test_more_releases_tell_more_and_those_of_a_chain_nothing(sides: tuple[Strings, Strings]) -> None:
    one, several = areas(sides, generator="template", support=1)
    assert several > max(one + 0.03, 0.6)
    one, several = areas(sides, generator="markov")
    assert abs(one - 0.5) < 0.07
    assert abs(several - 0.5) < 0.07


def test_what_is_missing_is_said(sides: tuple[Strings, Strings], monkeypatch: pytest.MonkeyPatch) -> None:
    def again(strings: Strings, seed: int) -> Strings:
        return strings

    attack = SeveralReleases()
    assert attack.in_release() is None
    assert "how" in str(attack.missing(StringCase(sides[0], *sides)))
    assert "40 strings" in str(attack.missing(StringCase(sides[0], sides[0], sides[1].take(np.arange(39)), again)))
    monkeypatch.setattr(several_releases, "MOST_MADE", 10)
    assert "10 symbols" in str(attack.missing(StringCase(sides[0], *sides, again)))
