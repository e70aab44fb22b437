"""The tests of `check/strings/originals.py`."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from shoal.check.strings import originals
from shoal.check.strings.originals import batches, own_strings, string_words, without_gaps, without_rare
from shoal.data.strings.strings import Strings, StringSource
from shoal.strings.rare_symbols import without_rare_symbols


@pytest.mark.parametrize("is_tokens", [False, True])
def test_rare_symbols_are_taken_out_as_the_method_does(is_tokens):
    rng = np.random.default_rng(4)
    chances = 0.5 ** np.arange(12)
    texts = [
        "".join(rng.choice(list("abcdefghijkl"), rng.integers(0, 9), p=chances / chances.sum())) for _ in range(300)
    ]
    texts += ["l", "kl", "lkl"]
    given = [list(t) for t in texts] if is_tokens else texts
    strings = Strings.of(given, ["x" if i % 3 else "y" for i in range(len(texts))])
    for rare in (1, 2, 10, 60, 1000):
        ours = without_rare(strings, strings.labels.astype(np.int64), rare)
        theirs = without_rare_symbols(strings, rare)[0]
        assert ours.texts() == theirs.texts()


@pytest.mark.parametrize("rare", [1, 4])
def test_own_strings_are_those_of_either_side_that_few_rows_hold(rare: int) -> None:
    """A rare gap is replaced by the letter before, so that strings may be equal on one side alone."""
    rng = np.random.default_rng(2)
    texts = ["".join(rng.choice(list("ab-c"), 4, p=[0.5, 0.4, 0.05, 0.05])) for _ in range(40)]
    original = Strings.of([*texts, "ac", "ac", "a-c", "-", ""])
    bare = without_rare(original, np.zeros(len(original), np.int64), rare)
    expected = set()
    for side in (original, bare):
        plain = without_gaps(side).texts()
        expected |= {text for text in plain if text and plain.count(text) < 3}
    own = own_strings(original, bare, 3)
    assert {text for side in own for text in side.texts()} == expected


def test_what_has_no_rare_symbols_is_given_back_as_it_is() -> None:
    strings = Strings.of(["ab", "ba", "aab"])
    assert without_rare(strings, np.zeros(3, np.int64), 3) is strings
    one, two = own_strings(strings, strings, 2)
    assert one is two


def test_words_tell_strings_apart_and_do_not_depend_on_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    texts = ["".join(rng.choice(list("ab"), rng.integers(0, 6))) for _ in range(200)]
    strings = Strings.of(texts)
    words = string_words(strings)
    assert len(set(zip(words.tolist(), strings.lengths.tolist(), strict=True))) == len(set(texts))
    monkeypatch.setattr(originals, "batches", lambda lengths: batches(lengths, 7))
    assert string_words(strings).tolist() == words.tolist()
    assert np.concatenate(list(batches(strings.lengths, 7))).tolist() == list(range(200))


@pytest.mark.parametrize("has_classes", [False, True])
def test_the_commonest_value_of_a_named_place_stands_for_a_rare_one_as_in_the_method(has_classes: bool) -> None:
    """So that what stands behind it keeps its place; a plain loop tells the same."""
    rng = np.random.default_rng(6)
    chances = 0.6 ** np.arange(9)
    cells = [[str(c) for c in rng.choice(list("ihgfedcba"), 5, p=chances / chances.sum())] for _ in range(200)]
    cells = [[*row, "xy"[i % 2] if i < 8 else "zw"[i % 2]] for i, row in enumerate(cells)]
    classes = ["k" if i % 3 else "m" for i in range(200)]
    made = Strings.of(cells, classes if has_classes else None)
    strings = replace(made, source=StringSource("a", "matrix", sites=tuple("abcdef")))
    labels = made.labels.astype(np.int64) if has_classes else np.zeros(200, np.int64)
    for rare in (1, 3, 8, 20, 60, 1000):
        ours = without_rare(strings, labels, rare).texts()
        theirs, _, n_places = without_rare_symbols(strings, rare)
        slow, n_slow = _slowly_filled(cells, labels.tolist(), rare)
        assert ours == theirs.texts() == slow
        assert n_places == n_slow


def _slowly_filled(cells: list[list[str]], labels: list[int], rare: int) -> tuple[list[list[str]], int]:
    made, n_places = [list(row) for row in cells], 0
    for label in set(labels):
        rows = [i for i, own in enumerate(labels) if own == label]
        common = {c for i in rows for c in cells[i] if sum(c in cells[r] for r in rows) >= rare}
        anywhere = sorted(c for i in rows for c in cells[i] if c in common)
        for j in range(len(cells[0])):
            there = sorted(cells[i][j] for i in rows if cells[i][j] in common) or anywhere
            commonest = min(there, key=lambda c, there=there: (-there.count(c), c)) if there else None
            for i in rows:
                if cells[i][j] not in common:
                    made[i][j], n_places = commonest, n_places + 1
    return [[c for c in row if c is not None] for row in made], n_places
