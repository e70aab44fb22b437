"""Scores of predictions, each on many resamples of the test records at once, and their bootstrap intervals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal.arrays import Floats

N_BOOTSTRAP = 300


@dataclass(frozen=True)
class ScoreEstimate:
    """A value with its bootstrap confidence interval."""

    value: float
    low: float
    high: float


def resamples(n: int, rng: np.random.Generator) -> Floats:
    """How often each test record is drawn, one row a bootstrap sample; the first row is the test records themselves.

    References
    ----------
    B. Efron, R. Tibshirani, "An introduction to the bootstrap", 1993, chapter 13 (the percentile interval).
    """
    weights = np.ones((N_BOOTSTRAP + 1, n))
    for row in weights[1:]:
        row[:] = np.bincount(rng.integers(0, n, n), minlength=n)
    return weights


def estimate(values: Floats, confidence: float) -> ScoreEstimate:
    """The value on the records themselves, the first, and the percentiles of those on the resamples."""
    low, high = np.nanquantile(values[1:], [(1 - confidence) / 2, (1 + confidence) / 2])
    return ScoreEstimate(float(values[0]), float(low), float(high))


def accuracies(probabilities: Floats, truth: npt.NDArray[np.integer[Any]], weights: Floats) -> Floats:
    """The share of records whose likeliest class is theirs, for each row of weights of the records."""
    return np.asarray(weights @ (probabilities.argmax(axis=1) == truth) / weights.sum(axis=1))


def determinations(predicted: Floats, truth: Floats, weights: Floats) -> Floats:
    """Coefficient of determination R2 for each row of weights of the records.

    ``R2 = 1 - sum (y - prediction)^2 / sum (y - mean of y)^2`` over the test records: 1 is perfect, 0 no better than
    their mean, and there is no worst. nan where all of them are equal.
    """
    y = truth - truth.mean()  # squares of large numbers would cancel
    total = weights.sum(axis=1)
    spread = weights @ y**2 - (weights @ y) ** 2 / total
    error = weights @ (truth - predicted) ** 2
    return np.asarray(1 - np.divide(error, spread, out=np.full(len(total), np.nan), where=spread > 0))


def areas(probabilities: Floats, truth: npt.NDArray[np.integer[Any]], weights: Floats) -> Floats:
    """Area under the ROC curve for each row of weights of the records.

    The share of pairs of a record of a class and one of the others in which the first has the higher probability, ties
    counting half; the mean over classes, weighted by their frequency. Two classes have the same area.

    Parameters
    ----------
    probabilities : float64 array (n_records, n_classes)
    truth : int array (n_records,)
    weights : float64 array (n_samples, n_records)
    """
    total, norm = np.zeros(len(weights)), np.zeros(len(weights))
    for c in np.unique(truth):
        _, place = np.unique(probabilities[:, c], return_inverse=True)
        order = np.argsort(place, kind="stable")
        starts = np.flatnonzero(np.diff(place[order], prepend=-1))
        is_class = (truth == c)[order]
        ours = np.add.reduceat(weights[:, order] * is_class, starts, axis=1)
        others = np.add.reduceat(weights[:, order] * ~is_class, starts, axis=1)
        below = np.cumsum(others, axis=1) - others / 2
        n_ours, n_others = ours.sum(axis=1), others.sum(axis=1)
        usable = (n_ours > 0) & (n_others > 0)
        pairs = np.where(usable, n_ours * n_others, 1.0)
        total += np.where(usable, (ours * below).sum(axis=1) / pairs * n_ours, 0.0)
        norm += np.where(usable, n_ours, 0.0)
    return np.asarray(np.divide(total, norm, out=np.full(len(norm), np.nan), where=norm > 0))
