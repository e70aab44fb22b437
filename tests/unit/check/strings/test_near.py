"""Near copies: every string within one edit of another, and no other, is found; beside a plain comparison."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.check.strings import near as string_near
from shoal.check.strings.near import near_copies, near_originals, near_strings
from shoal.data.strings.strings import Strings


def one_edit(text: str, letters: str) -> set[str]:
    """All strings that are at most one edit away."""
    out = {text}
    for i in range(len(text) + 1):
        out |= {text[:i] + x + text[i:] for x in letters}
        if i < len(text):
            out |= {text[:i] + x + text[i + 1 :] for x in letters} | {text[:i] + text[i + 1 :]}
    return out


@pytest.mark.parametrize("batch", [1, 40, 4_000_000])
@pytest.mark.parametrize("seed", range(6))
def test_near_strings_are_those_of_a_plain_comparison(monkeypatch: pytest.MonkeyPatch, seed: int, batch: int) -> None:
    monkeypatch.setattr(string_near, "BATCH_SYMBOLS", batch)
    rng = np.random.default_rng(seed)
    letters = "ab" if seed % 2 else "abcd"
    longest = (4, 9, 14)[seed % 3]
    sides = [["".join(rng.choice(list(letters), rng.integers(0, longest))) for _ in range(60)] for _ in range(2)]
    found = near_strings(*(Strings.of(side, alphabet=letters) for side in sides))
    expected = [any(other in one_edit(text, letters) for other in sides[1]) for text in sides[0]]
    assert found.tolist() == expected
    assert any(expected)


@pytest.mark.parametrize("length", range(14, 24))
def test_one_edit_is_seen_around_the_length_from_which_ends_are_compared(length: int) -> None:
    rng = np.random.default_rng(length)
    original = "".join(rng.choice(list("AC"), length))
    edits = sorted(one_edit(original, "AC"))
    assert near_strings(Strings.of(edits, alphabet="AC"), Strings.of([original], alphabet="AC")).all()
    ours = Strings.of([original], alphabet="AC")
    assert all(near_strings(ours, Strings.of([edit], alphabet="AC")).all() for edit in edits)


@pytest.mark.parametrize("place", [0, 1, 149, 150, 151, 298, 299])
def test_one_edit_anywhere_in_a_long_string_is_seen_and_two_are_not(place: int) -> None:
    rng = np.random.default_rng(place)
    original = "".join(rng.choice(list("ACGT"), 300))
    other = "T" if original[place] != "T" else "A"
    edits = [
        original[:place] + other + original[place + 1 :],
        original[:place] + original[place + 1 :],
        original[:place] + other + original[place:],
        original,
    ]
    far = edits[0][:75] + ("C" if edits[0][75] != "C" else "G") + edits[0][76:]
    found = near_strings(Strings.of([*edits, far], alphabet="ACGT"), Strings.of([original], alphabet="ACGT"))
    assert found.tolist() == [True] * 4 + [False]


def test_an_original_without_its_rare_symbols_is_looked_for_too() -> None:
    original = Strings.of(["abcdefgh", "abcdefgh", "abcdYYgh"])
    published = Strings.of(["abcdddgX", "hgfedcba"])
    assert near_originals(published, original, 1, 9).tolist() == [False, False]
    assert near_originals(published, original, 2, 9).tolist() == [True, False]


def test_tokens_and_symbols_that_the_original_lacks_are_compared_as_they_are() -> None:
    original = Strings.of([["home", "cart", "pay"], ["home", "help"]])
    published = Strings.of([["home", "pay"], ["home", "stranger"], ["help", "home", "pay"]])
    assert near_originals(published, original, 1, 9).tolist() == [True, True, False]


def test_the_sizes_of_alphabets_do_not_matter() -> None:
    """A file of proteins is read with symbols that no string of the data has."""
    rng = np.random.default_rng(5)
    texts = ["".join(rng.choice(list("ACDE"), 40)) for _ in range(30)]
    original = Strings.of(texts, alphabet="ACDE")
    near = [f"{t[:7]}{'A' if t[7] != 'A' else 'C'}{t[8:]}" for t in texts]
    for alphabet in ("ACDE", "ACDEFGHIK"):
        assert near_originals(Strings.of(near, alphabet=alphabet), original, 1, 5).all()


@pytest.mark.parametrize("copies", ["redraw", "allow"])
def test_the_sentence_says_of_which_originals(copies: str) -> None:
    published, few = Strings.of(["aab", "aac", "aaa"], alphabet="abc"), Strings.of(["aabb", "caac"], alphabet="abc")
    found = near_copies(published, [few], 2, copies, None)
    assert found.achieved == 2
    assert "at most 2" in found.sentence
    assert "an original that fewer than 2 hold" in found.sentence
