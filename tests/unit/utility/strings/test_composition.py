"""Composition, k-mers and positions: by hand, and against counters."""

from __future__ import annotations

import json
from collections import Counter

import numpy as np
import pytest

from shoal.data.strings.strings import Strings
from shoal.errors import DataError, PolicyError
from shoal.utility.strings import compare_composition, compare_k_mers, compare_positions


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


def test_positions_are_relative():
    before, after = texts(4), texts(5)
    found = compare_positions(Strings.of(before), Strings.of(after), 4)

    def part(side, p):
        return shares(c for s in side for t, c in enumerate(s) if int((t + 0.5) / len(s) * 4) == p)

    assert found.by_part == pytest.approx([variation(part(before, p), part(after, p)) for p in range(4)])
    assert found.total_variation == pytest.approx(np.mean(found.by_part))
    json.dumps(found.to_dict())


def test_a_reversed_string_has_the_same_composition_and_other_positions():
    before, after = Strings.of(["aabb"] * 3), Strings.of(["bbaa"] * 3)
    assert compare_composition(before, after).difference == 0
    found = compare_positions(before, after)
    assert (found.n_parts, found.total_variation) == (4, 1.0)


def test_parts_without_symbols_are_left_out():
    found = compare_positions(Strings.of(["a", "a"]), Strings.of(["ab"]), 3)
    assert found.by_part == (None, None, None)
    assert found.total_variation == 1.0
