"""Values that stay possible over releases."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.check.releases.invariance import ClassValues, m_invariance, possible_values


@pytest.mark.parametrize("seed", range(5))
def test_possible_values_beside_brute_force(seed):
    rng = np.random.default_rng(seed)
    releases = [ClassValues(rng.integers(0, 4, 20), rng.integers(0, 5, 20)) for _ in range(3)]
    histories = rng.integers(-1, 4, (15, 3))
    found = possible_values(histories, releases, 5).tolist()
    for left, history in zip(found, histories.tolist(), strict=True):
        sets = [set(r.values[r.classes == c].tolist()) for r, c in zip(releases, history, strict=True) if c >= 0]
        assert left == len(set.intersection(set(range(5)), *sets))


def test_a_value_that_is_too_frequent_fails():
    release = ClassValues(np.zeros(4, dtype=np.int64), np.array([0, 0, 0, 1]))
    found = m_invariance(np.zeros((3, 1), dtype=np.int64), [release], 2, 2, "illness")
    assert not found.holds
    assert "more than one in 2" in found.sentence
    even = ClassValues(np.zeros(4, dtype=np.int64), np.array([0, 0, 1, 1]))
    assert m_invariance(np.zeros((3, 1), dtype=np.int64), [even], 2, 2, "illness").holds
    assert "fails for 3 of 3" in m_invariance(np.zeros((3, 1), dtype=np.int64), [even], 2, 3, "illness").sentence
