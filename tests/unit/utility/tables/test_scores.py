"""The tests of `utility/tables/scores.py`."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.utility.tables.scores import areas, determinations


def slow_area(scores: np.ndarray, is_class: np.ndarray, weights: np.ndarray) -> float:
    won = total = 0.0
    for i in np.flatnonzero(is_class):
        for j in np.flatnonzero(~is_class):
            pair = weights[i] * weights[j]
            total += pair
            won += pair * ((scores[i] > scores[j]) + 0.5 * (scores[i] == scores[j]))
    return won / total


@pytest.mark.parametrize("n_classes", [2, 3])
def test_areas_agree_with_counting_pairs(n_classes: int) -> None:
    rng = np.random.default_rng(n_classes)
    truth = rng.integers(0, n_classes, 40)
    scores = rng.integers(0, 6, (40, n_classes)) / 6  # many ties
    if n_classes == 2:
        scores[:, 1] = 1 - scores[:, 0]
    weights = rng.integers(0, 3, (4, 40)).astype(float)
    found = areas(scores, truth, weights)
    for w, area in zip(weights, found, strict=True):
        shares = [w[truth == c].sum() / w.sum() for c in range(n_classes)]
        expected = sum(s * slow_area(scores[:, c], truth == c, w) for c, s in enumerate(shares))
        assert area == pytest.approx(expected)


def test_r2_agrees_with_its_definition() -> None:
    rng = np.random.default_rng(0)
    truth, guess = rng.normal(1e6, 3, 30), rng.normal(1e6, 3, 30)
    weights = rng.integers(0, 3, (5, 30)).astype(float)
    for w, found in zip(weights, determinations(guess, truth, weights), strict=True):
        y, p = np.repeat(truth, w.astype(int)), np.repeat(guess, w.astype(int))
        assert found == pytest.approx(1 - ((y - p) ** 2).sum() / ((y - y.mean()) ** 2).sum())
    assert determinations(truth, truth, weights).tolist() == [1] * 5
    assert np.isnan(determinations(guess, np.full(30, 2.0), weights)).all()
