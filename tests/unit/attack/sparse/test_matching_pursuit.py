"""Matching pursuit in batches does what it does one by one, and succeeds and fails where it should."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.attack.sparse.matching_pursuit import MatchingPursuit, pursue


def pursue_slowly(signs, sketch):
    """One sketch, refitted by least squares in every step."""
    square = (sketch**2).mean()
    most = min(int(np.ceil(square * (1 + 2 * np.sqrt(2 / len(sketch))))), len(sketch))
    taken, weights, left = [], np.zeros(0), sketch
    for _ in range(most):
        if np.abs(left).max() <= 1e-6:
            break
        agreement = signs @ left
        agreement[taken] = -np.inf
        if agreement.max() <= 1e-6:
            break
        taken.append(int(agreement.argmax()))
        weights = np.linalg.lstsq(signs[taken].T, sketch, rcond=None)[0]
        left = sketch - weights @ signs[taken]
    return taken, weights


def test_batches_equal_one_by_one():
    rng = np.random.default_rng(5)
    signs = rng.choice(np.array([-1.0, 1.0]), (120, 50))
    counts = rng.integers(20, 51, 12)
    # Weights without ties, so that the best item is the same in both computations.
    truth = (rng.random((12, 120)) < 0.05) * rng.uniform(1, 2, (12, 120))
    components = np.where(np.arange(50) < counts[:, None], truth @ signs, 0.0)
    taken, weights = pursue(signs.astype(np.float32), components, counts)
    for i in range(12):
        slow, fitted = pursue_slowly(signs[:, : counts[i]], components[i, : counts[i]])
        mine = taken[i][taken[i] >= 0]
        assert mine.tolist() == slow
        assert weights[i][taken[i] >= 0] == pytest.approx(fitted, abs=1e-4)


def test_a_weak_release_is_recovered(weak):
    result = MatchingPursuit(n_records=100).run(weak, np.random.default_rng(0))
    assert result.main.value > 0.5
    assert result.control.value == 0
    assert result.succeeds


def test_a_strong_release_is_not_recovered(strong):
    result = MatchingPursuit(n_records=100).run(strong, np.random.default_rng(0))
    assert result.main.value == 0
    assert not result.succeeds
    assert result.details["overlap"] < 0.1


def test_negative_weights_are_recovered(case_of):
    result = MatchingPursuit(n_records=50).run(case_of(60, 90, "signed"), np.random.default_rng(0))
    assert result.main.value > 0.5
