"""The tests of `utility/strings/positions.py`."""

from __future__ import annotations

import json
from collections import Counter

import numpy as np
import pytest

from shoal.data.strings.strings import Strings
from shoal.utility.strings import compare_positions


def texts(seed, n=40, alphabet="abcde"):
    rng = np.random.default_rng(seed)
    return ["".join(rng.choice(list(alphabet), rng.integers(0, 12))) for _ in range(n)]


def shares(things):
    counts = Counter(things)
    return {thing: n / sum(counts.values()) for thing, n in counts.items()}


def variation(f, g):
    return sum(abs(f.get(x, 0) - g.get(x, 0)) for x in {*f, *g}) / 2


def test_positions_are_relative():
    before, after = texts(4), texts(5)
    found = compare_positions(Strings.of(before), Strings.of(after), 4)

    def part(side, p):
        return shares(c for s in side for t, c in enumerate(s) if int((t + 0.5) / len(s) * 4) == p)

    assert found.by_part == pytest.approx([variation(part(before, p), part(after, p)) for p in range(4)])
    assert found.total_variation == pytest.approx(np.mean(found.by_part))
    json.dumps(found.to_dict())


def test_parts_without_symbols_are_left_out():
    found = compare_positions(Strings.of(["a", "a"]), Strings.of(["ab"]), 3)
    assert found.by_part == (None, None, None)
    assert found.total_variation == 1.0
