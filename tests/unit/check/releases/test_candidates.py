"""Candidates over releases, beside brute force."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.check.releases.candidates import candidates_of, classes_by_labels, k_candidates


def slow(histories):
    return [
        sum(all(a < 0 or a == b for a, b in zip(p, q, strict=True)) for q in histories) if max(p) >= 0 else 0
        for p in histories
    ]


@pytest.mark.parametrize("seed", range(6))
def test_candidates_beside_brute_force(seed):
    histories = np.random.default_rng(seed).integers(-1, 3, (30, 3))
    assert candidates_of(histories).tolist() == slow(histories.tolist())


def test_groups_of_equal_labels_are_one_class():
    assert classes_by_labels([["a", "b", "a"], ["x", "x", "x"]], 3).tolist() == [0, 1, 0]


def test_the_guarantee_says_how_many_fail():
    good = k_candidates(np.array([[0, 0], [0, 0], [-1, -1]]), 2)
    assert good.holds
    assert good.achieved == 2
    bad = k_candidates(np.array([[0, 0], [0, 1], [0, 1]]), 2)
    assert not bad.holds
    assert bad.n_failing == 1
    assert "1 of 3 persons" in bad.sentence
