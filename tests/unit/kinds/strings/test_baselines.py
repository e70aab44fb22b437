"""The tests of `kinds/strings/baselines.py`."""

from __future__ import annotations

import numpy as np

from shoal.data.samples.proteins import protein_families
from shoal.data.strings.strings import Strings
from shoal.kinds.strings.baselines import compare_with_baselines


def test_a_release_stands_beside_other_originals_a_chain_and_letters() -> None:
    strings = protein_families(200, n_families=2, mean_length=60, seed=1)
    found = {b.name: b for b in compare_with_baselines(strings, strings, 10, 3)}
    assert list(found) == ["this release", "other originals", "a Markov chain", "symbols drawn independently"]
    letters, chain = found["symbols drawn independently"], found["a Markov chain"]
    assert letters.composition == 0.0
    assert letters.pairs is not None
    assert chain.pairs is not None
    assert chain.pairs < letters.pairs
    other = found["other originals"]
    assert other.kept is not None
    assert letters.kept is not None
    assert letters.kept < other.kept <= 1
    assert other.repeats is not None
    assert 0 < other.repeats < 0.3


def test_few_or_short_strings_have_none() -> None:
    few = Strings.of(["ab"] * 30)
    assert compare_with_baselines(few, few, 10, 3) == ()
    short = Strings.of(["a", "b"] * 100)
    assert {b.pairs for b in compare_with_baselines(short, short, 10, 3)} == {None}
    assert compare_with_baselines(short, short.take(np.arange(0)), 10, 3) == ()
