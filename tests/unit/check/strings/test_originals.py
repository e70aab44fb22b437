"""The tests of `check/strings/originals.py`."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.check.strings import originals
from shoal.check.strings.originals import batches, own_strings, string_words, without_gaps, without_rare
from shoal.data.strings.strings import Strings
from shoal.strings.condense import without_rare_symbols


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
