"""Composition, k-mers and positions: by hand, and against counters."""

from __future__ import annotations

import json
from collections import Counter

import numpy as np
import pytest

from shoal.data.strings.strings import Strings
from shoal.utility.strings import compare_composition, compare_positions


def texts(seed, n=40, alphabet="abcde"):
    rng = np.random.default_rng(seed)
    return ["".join(rng.choice(list(alphabet), rng.integers(0, 12))) for _ in range(n)]


def shares(things):
    counts = Counter(things)
    return {thing: n / sum(counts.values()) for thing, n in counts.items()}


def variation(f, g):
    return sum(abs(f.get(x, 0) - g.get(x, 0)) for x in {*f, *g}) / 2


def test_composition_sums_absolute_differences():
    before, after = texts(0), texts(1, alphabet="cdefg")
    found = compare_composition(Strings.of(before), Strings.of(after))
    f, g = shares("".join(before)), shares("".join(after))
    assert found.total_variation == pytest.approx(variation(f, g))
    assert found.difference == pytest.approx(2 * variation(f, g))
    assert found.n_symbols == 7
    assert dict(zip(found.symbols, found.before, strict=True))["a"] == pytest.approx(f["a"])
    assert dict(zip(found.symbols, found.after, strict=True))["g"] == pytest.approx(g["g"])
    json.dumps(found.to_dict())
    assert compare_composition(Strings.of(before), Strings.of(before)).difference == 0
    assert compare_composition(Strings.of(["ab"]), Strings.of(["c"])).difference == 2


def test_a_reversed_string_has_the_same_composition_and_other_positions():
    before, after = Strings.of(["aabb"] * 3), Strings.of(["bbaa"] * 3)
    assert compare_composition(before, after).difference == 0
    found = compare_positions(before, after)
    assert (found.n_parts, found.total_variation) == (4, 1.0)
