"""The tests of `utility/strings/k_mers.py`."""

from __future__ import annotations

import json
from collections import Counter

import numpy as np
import pytest

from shoal.data.strings.strings import Strings
from shoal.errors import DataError, PolicyError
from shoal.utility.strings import compare_composition, compare_k_mers


def texts(seed, n=40, alphabet="abcde"):
    rng = np.random.default_rng(seed)
    return ["".join(rng.choice(list(alphabet), rng.integers(0, 12))) for _ in range(n)]


def shares(things):
    counts = Counter(things)
    return {thing: n / sum(counts.values()) for thing, n in counts.items()}


def variation(f, g):
    return sum(abs(f.get(x, 0) - g.get(x, 0)) for x in {*f, *g}) / 2


@pytest.mark.parametrize("width", [1, 2, 3])
def test_k_mers_do_not_reach_over_the_end_of_a_string(width):
    before, after = texts(2), texts(3)
    found = compare_k_mers(Strings.of(before), Strings.of(after), width)
    f, g = (shares(s[i : i + width] for s in side for i in range(len(s) - width + 1)) for side in (before, after))
    assert found.total_variation == pytest.approx(variation(f, g))
    dot = sum(f[x] * g.get(x, 0) for x in f)
    norm = np.sqrt(sum(v * v for v in f.values()) * sum(v * v for v in g.values()))
    assert found.cosine == pytest.approx(1 - dot / norm)
    assert (found.n_before, found.n_after, found.n_shared) == (len(f), len(g), len({*f} & {*g}))
    json.dumps(found.to_dict())


def test_k_mers_that_cannot_be_are_refused():
    with pytest.raises(DataError, match="shorter"):
        compare_k_mers(Strings.of(["ab"]), Strings.of(["abc"]), 3)
    with pytest.raises(PolicyError, match="too many"):
        compare_k_mers(Strings.of(["abcdef" * 20]), Strings.of(["abc" * 20]), 40)
    with pytest.raises(DataError, match="no symbols"):
        compare_composition(Strings.of([]), Strings.of(["a"]))
    with pytest.raises(DataError, match="tokens"):
        compare_composition(Strings.of([["a"]]), Strings.of(["a"]))
