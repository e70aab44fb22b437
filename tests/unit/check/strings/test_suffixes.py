"""The tests of `check/strings/suffixes.py`."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from shoal.check.strings.suffixes import sort_suffixes
from shoal.data.strings.strings import Strings


def random_strings(rng, n, alphabet, longest):
    return ["".join(rng.choice(list(alphabet), rng.integers(0, longest + 1))) for _ in range(n)]


@pytest.mark.parametrize("alphabet", ["a", "ab", "abcd", "".join(chr(1000 + i) for i in range(300))])
def test_suffixes_are_sorted(alphabet):
    rng = np.random.default_rng(len(alphabet))
    texts = random_strings(rng, 30, alphabet, 120) + [alphabet[0] * 150] * 2
    found = sort_suffixes([Strings.of(texts[:10], alphabet=alphabet), Strings.of(texts[10:], alphabet=alphabet)])
    whole = "".join(t + "\0" for t in texts)
    ends = [i for i, c in enumerate(whole) if c == "\0"]
    suffix = {i: whole[i : next(e for e in ends if e >= i)] for i in range(len(whole)) if whole[i] != "\0"}
    assert [suffix[i] for i in found.order.tolist()] == sorted(suffix.values())
    a, b = rng.choice(found.order, 200), rng.choice(found.order, 200)
    for i, j, n in zip(a.tolist(), b.tolist(), found.common(a, b).tolist(), strict=True):
        x, y = suffix[i], suffix[j]
        assert x[:n] == y[:n]
        assert n in (len(x), len(y)) or x[n] != y[n]
    for width in (1, 3, 40):
        starts = [suffix[i][:width] for i in found.order.tolist()]
        expected = [False] + [len(y) == width and x == y for x, y in pairwise(starts)]
        assert found.shares_start(width).tolist() == expected
