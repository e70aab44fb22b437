"""Strings at few places from a target, against a plain comparison."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.kernels.strings.near import count_near


@pytest.mark.parametrize("seed", range(6))
def test_near_strings_equal_a_plain_comparison(seed: int) -> None:
    rng = np.random.default_rng(seed)
    strings = sorted({tuple(rng.integers(0, 2, rng.integers(0, 6)).tolist()) for _ in range(40)}, key=len)
    weights = rng.integers(1, 4, len(strings))
    targets = [strings[i] for i in rng.integers(0, len(strings), 10)] + [(0, 1, 0, 1, 0, 1, 0)]
    lengths = [len(s) for s in strings]
    sides = [np.searchsorted(lengths, [len(t) for t in targets], side=side) for side in ("left", "right")]
    counts = np.full((len(targets), 3), -1, np.int64)
    count_near(
        np.array([s for t in targets for s in t], np.int32),
        np.cumsum([0] + [len(t) for t in targets]),
        np.array([s for t in strings for s in t], np.int32),
        np.cumsum([0] + lengths),
        weights.astype(np.int64),
        *(side.astype(np.int64) for side in sides),
        counts,
    )
    for target, found in zip(targets, counts.tolist(), strict=True):
        apart = [sum(a != b for a, b in zip(target, s, strict=True)) if len(s) == len(target) else -1 for s in strings]
        assert found == [sum(int(w) for w, d in zip(weights, apart, strict=True) if d == n) for n in range(3)]
