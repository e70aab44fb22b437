"""The tests of `attack/strings/neighbourhood.py`."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.attack.strings.case import StringCase
from shoal.attack.strings.neighbourhood import MOST_APART, Neighbourhood
from shoal.data.strings.strings import Strings


@pytest.mark.parametrize("seed", range(4))
def test_near_strings_are_counted_as_in_a_plain_comparison(seed: int) -> None:
    rng = np.random.default_rng(seed)
    sides = [["".join(rng.choice(list("ab"), rng.integers(1, 9))) for _ in range(n)] for n in (70, 50, 40)]
    found = Neighbourhood.of(StringCase(*(Strings.of(side) for side in sides)), rng)
    together = sides[1] + sides[2]

    def slow(text: str) -> tuple[int, ...]:
        apart = [sum(a != b for a, b in zip(text, s, strict=True)) for s in sides[0] if len(s) == len(text)]
        return tuple(apart.count(d) for d in range(MOST_APART + 1))

    expected = sorted(
        (i < len(sides[1]), together.count(text) == 1, slow(text)) for i, text in enumerate(together) if text
    )
    flags = zip(found.is_member.tolist(), found.is_unique.tolist(), map(tuple, found.counts.tolist()), strict=True)
    assert sorted(flags) == expected
