"""The tests of `strings/homology.py`."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.data.samples.proteins import protein_families
from shoal.data.strings.strings import Strings
from shoal.errors import Infeasible
from shoal.kinds.strings.policy import StringPolicy
from shoal.kinds.strings.profile import profile_of
from shoal.kinds.strings.release import release_strings
from shoal.strings.homology import find_unaligned, refuse_unaligned, shared_fragments


def relatives(n: int = 40, *, cut: int = 6, length: int = 120, mutation: float = 0.02) -> Strings:
    """One sequence with a few letters changed, of which some are missing at either end."""
    rng = np.random.default_rng(0)
    root = rng.choice(list("ACGT"), length)
    texts = []
    for _ in range(n):
        letters = np.where(rng.random(length) < mutation, rng.choice(list("ACGT"), length), root)
        texts.append("".join(letters[rng.integers(cut + 1) : length - rng.integers(cut + 1)]))
    return Strings.of(texts)


def test_relatives_that_are_not_aligned_are_refused_with_what_to_do() -> None:
    with pytest.raises(Infeasible, match=r"mafft.*unaligned"):
        refuse_unaligned(relatives(), None)
    with pytest.raises(Infeasible, match="mafft"):
        release_strings(relatives(), StringPolicy.of(k=10), seed=1)
    accepted = release_strings(relatives(), StringPolicy.of(k=10, unaligned="accept"), seed=1)
    assert len(accepted.strings) > 0
    assert any("not aligned" in note for note in profile_of(relatives(), StringPolicy()).notes)


def test_a_class_of_relatives_among_others_is_found() -> None:
    alike = relatives().texts()
    rng = np.random.default_rng(1)
    others = ["".join(rng.choice(list("ACGT"), rng.integers(90, 120))) for _ in alike]
    strings = Strings.of(alike + others, ["a"] * len(alike) + ["b"] * len(others))
    assert find_unaligned(strings, strings.labels) > 0.5
    rest = strings.take(np.arange(len(alike), 2 * len(alike)))
    assert find_unaligned(rest, rest.labels) < 0.1


@pytest.mark.parametrize(
    "strings",
    [
        relatives(cut=0),  # of one length
        relatives(mutation=0.5),
        protein_families(80, n_families=2, mean_length=90, seed=1),
        Strings.of([["a", "b", "c"] * n for n in range(8, 30)]),  # tokens
        Strings.of(["ab", "abc", "abcd"] * 10),  # too short to tell
        Strings.of(["abcd" * n for n in range(8, 30)]),  # the same again and again
        Strings.of(["", "a"]),
    ],
)
def test_other_strings_pass(strings: Strings) -> None:
    refuse_unaligned(strings, strings.labels)


def test_a_share_is_counted() -> None:
    one = "".join(np.random.default_rng(2).choice(list("ACGT"), 100))
    assert shared_fragments(Strings.of([one, one])) == 1.0
    assert shared_fragments(Strings.of([one])) == 0.0
