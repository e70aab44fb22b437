"""The tests of `utility/strings/subsequences.py`."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from shoal.data.strings.strings import Strings
from shoal.utility.strings import subsequences
from shoal.utility.strings.subsequences import adjacent_repeats, subsequences_kept


def plain(texts: list[str], width: int) -> Counter[tuple[str, ...]]:
    """How many texts hold each subsequence."""
    found: Counter[tuple[str, ...]] = Counter()
    for text in texts:
        runs = {
            tuple(text[t + i * gap] for i in range(width))
            for gap in (1, 2, 3)
            for t in range(len(text) - gap * (width - 1))
        }
        found.update(runs)
    return found


def test_subsequences_equal_a_plain_count(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    sides = [
        ["".join(rng.choice(list(letters), rng.integers(1, 12))) for _ in range(30)] for letters in ("abcd", "cde")
    ]
    monkeypatch.setattr(subsequences, "MOST_POSSIBLE", 64)  # of four letters: three
    monkeypatch.setattr(subsequences, "N_FREQUENT", 10)
    before, after = (plain(texts, 3) for texts in sides)
    alphabetical = sorted(before, key=lambda s: (-before[s], s))[:10]
    level = sorted(after.values())[-10]
    expected = sum(after[s] >= level for s in alphabetical) / 10
    assert subsequences_kept(*(Strings.of(texts) for texts in sides)) == expected
    assert 0 < expected < 1


def test_the_same_strings_keep_all_and_short_ones_have_none() -> None:
    strings = Strings.of(["abcabcabcabc", "bcabcabcabca"] * 3)
    assert subsequences_kept(strings, strings) == 1.0
    assert subsequences_kept(Strings.of(["a", "b"]), strings) is None
    assert subsequences_kept(strings, Strings.of(["a", "b"])) == 0.0


def test_repeats_do_not_reach_over_the_end_of_a_string() -> None:
    assert adjacent_repeats(Strings.of(["ab", "ba", "aa"])) == pytest.approx(1 / 3)
    assert adjacent_repeats(Strings.of(["a", "a"])) is None
