"""Verbatim runs and unique fragments against the slow twin; suffix arrays against sorted()."""

from __future__ import annotations

import json

import numpy as np
import pytest

from shoal.check.strings.verbatim import OTHERS, UNSEEN, verbatim
from shoal.data.strings.strings import Strings
from shoal.errors import DataError
from tests.unit.check.strings.slow_strings import longest_run, unique_share


def random_strings(rng, n, alphabet, longest):
    return ["".join(rng.choice(list(alphabet), rng.integers(0, longest + 1))) for _ in range(n)]


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("alphabet", ["ab", "abcdefgh"])
def test_runs_and_fragments_are_those_of_the_slow_twin(seed, alphabet):
    rng = np.random.default_rng(seed)
    originals = random_strings(rng, 12, alphabet, 25)
    originals[3] = originals[5]
    published = [*random_strings(rng, 8, alphabet + "z", 25), originals[1][2:20] + "z", "zzz"]
    unseen = random_strings(rng, 7, alphabet, 30)
    widths = (2, 4, 6)
    found = verbatim(Strings.of(published), Strings.of(originals), Strings.of(unseen), widths=widths)
    alone = verbatim(Strings.of(published), Strings.of(originals), widths=widths)
    assert (found.control_is, alone.control_is) == (UNSEEN, OTHERS)
    assert alone.published == found.published
    runs = [longest_run(s, originals) for s in published]
    controls = [longest_run(s, originals) for s in unseen]
    selves = [longest_run(s, originals[:i] + originals[i + 1 :]) for i, s in enumerate(originals)]
    for standing, expected, strings in (
        (found.published, runs, published),
        (found.control, controls, unseen),
        (alone.control, selves, originals),
    ):
        assert standing.histogram == tuple(np.bincount(expected).tolist())
        assert standing.longest == max(expected)
        assert standing.mean == pytest.approx(np.mean(expected))
        assert standing.percentile_95 == pytest.approx(np.percentile(expected, 95))
        assert standing.n_whole == sum(r == len(s) > 0 for r, s in zip(expected, strings, strict=True))
    for width in widths:
        assert found.published.unique[width] == pytest.approx(unique_share(published, originals, width))
        assert found.control.unique[width] == pytest.approx(unique_share(unseen, originals, width))
        apart = unique_share(originals, originals, width, apart=range(len(originals)))
        assert alone.control.unique[width] == pytest.approx(apart)
        assert found.published.fragments[width] == sum(max(len(s) - width + 1, 0) for s in published)


def test_tokens_of_a_large_alphabet():
    rng = np.random.default_rng(1)
    tokens = np.array([f"t{i}" for i in range(100_000)])
    originals = [tokens[rng.integers(0, 100_000, 30)].tolist() for _ in range(4000)]
    published = [originals[7][4:15] + ["elsewhere"] + originals[8][:5], originals[9]]
    found = verbatim(Strings.of(published), Strings.of(originals)).published
    assert (found.longest, found.n_whole) == (30, 1)
    assert found.histogram[11] == 1
    assert found.unique[8] == pytest.approx((4 + 23) / (10 + 23))


def test_copies_are_worse_than_unseen_strings_and_unseen_strings_are_not():
    rng = np.random.default_rng(3)
    texts = [t + "abcd" for t in random_strings(rng, 300, "abcd", 60)]
    original, unseen = Strings.of(texts[:150]), Strings.of(texts[150:])
    assert not verbatim(original, original, unseen).is_no_worse
    assert verbatim(unseen, original, unseen).is_no_worse
    json.dumps(verbatim(unseen, original).to_dict())


def test_nothing_to_compare_is_refused():
    with pytest.raises(DataError, match="no strings"):
        verbatim(Strings.of([]), Strings.of(["a"]))
