"""The tests of `attack/strings/fragments.py`."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from shoal.attack.strings.case import StringCase
from shoal.attack.strings.fragments import Fragments
from shoal.data.strings.strings import Strings


def _slow_longest(text: str, shown: list[str]) -> list[int]:
    return [
        next(n for n in range(len(text) - i, -1, -1) if n == 0 or any(text[i : i + n] in s for s in shown))
        for i in range(len(text))
    ]


@pytest.mark.parametrize("seed", range(5))
def test_runs_and_holders_equal_a_plain_search(seed: int) -> None:
    rng = np.random.default_rng(seed)
    sides = [["".join(rng.choice(list("ab"), rng.integers(1, 12))) for _ in range(n)] for n in (7, 5, 4)]
    case = StringCase(*(Strings.of(side) for side in sides))
    fragments = Fragments.of(case, rng)
    targets = sides[1] + sides[2]
    starts = np.flatnonzero(np.diff(fragments.suffixes.owner, prepend=-1))
    runs = np.zeros(len(fragments.suffixes.text), int)
    places, found = fragments.runs()
    runs[places] = found
    shown, held = fragments.holders(3)
    assert fragments.lengths.tolist() == [len(t) for t in targets]
    for text, (start, _) in zip(targets, list(pairwise([*starts, len(runs)]))[len(sides[0]) :], strict=True):
        assert runs[start : start + len(text)].tolist() == _slow_longest(text, sides[0])
        for i in range(len(text)):
            piece = text[i : i + 3]
            is_whole = len(piece) == 3
            assert shown[start + i] == (sum(piece in s for s in sides[0]) if is_whole else 0)
            assert held[start + i] == (sum(piece in s for s in targets) if is_whole else 0)
