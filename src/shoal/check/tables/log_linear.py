"""How many are unique in a population by a log-linear model of the table, where it has few possible combinations.

The frequencies of all combinations of values are fitted to the sample, by its counts of single values and of some
pairs. What the population has of a combination is taken to be a Poisson number of that mean over the sampling fraction;
its uniques are the sample uniques that are expected to have no other in the rest, over the sampling fraction.

Which pairs: too few, and the model misses what columns have to do with each other; too many, and it follows the sample.
The sample tells by how much its counts depart from Poisson numbers of the fitted means, where uniques are expected:
a sum that is positive of the former, negative of the latter, and zero of a model that is right. From single values on,
the pair is added that brings this sum, in standard errors, nearest to zero, for as long as one does.

References
----------
C. Skinner, N. Shlomo, "Assessing identification risk in survey microdata using log-linear models", Journal of the
American Statistical Association 103(483), 2008: the estimator (section 2), the sum and its variance (section 3), the
search (section 4). The fit: W. E. Deming, F. F. Stephan, Annals of Mathematical Statistics 11(4), 1940.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations

import numpy as np

from shoal.arrays import Floats, Ints

MOST_CELLS = 1_000_000
"""Combinations that are fitted; a table that could have more is for estimators by the sizes of classes."""
_ROUNDS = 20
_NEAR = 1e-5


def log_linear_uniques(codes: Sequence[Ints], fraction: float) -> float:
    """Uniques of the population by the model; nan where the columns have too many combinations.

    Parameters
    ----------
    codes : sequence of int64 arrays (n_rows,)
        The values of each column, numbered from 0.
    fraction : float
        The share of the population that is in the table.
    """
    numbered = [np.unique(column, return_inverse=True)[1].reshape(-1) for column in codes]
    shape = tuple(int(column.max()) + 1 for column in numbered if column.max() > 0)
    varying = [column for column in numbered if column.max() > 0]
    if not varying or math.prod(shape) > MOST_CELLS:
        return math.nan
    observed = np.bincount(np.ravel_multi_index(tuple(varying), shape), minlength=math.prod(shape)).reshape(shape)
    mean = fitted_mean(observed.astype(np.float64), fraction)
    return float(np.exp(-mean[observed == 1] * (1 - fraction)).sum()) / fraction


def fitted_mean(observed: Floats, fraction: float) -> Floats:
    """What the population is expected to have of each combination, by the model that the search ends at."""
    n_columns = observed.ndim

    def fit(pairs: Sequence[tuple[int, int]]) -> tuple[float, Floats]:
        alone = [(a,) for a in range(n_columns) if not any(a in pair for pair in pairs)]
        mean = fit_margins(observed, [*alone, *pairs]) / fraction
        return abs(departure(observed, mean, fraction)), mean

    taken: list[tuple[int, int]] = []
    best, mean = fit(taken)
    while left := [pair for pair in combinations(range(n_columns), 2) if pair not in taken]:
        tried = [(*fit([*taken, pair]), pair) for pair in left]
        nearest = min(range(len(tried)), key=lambda i: tried[i][0])
        if not tried[nearest][0] < best:
            break
        best, mean, pair = tried[nearest]
        taken.append(pair)
    return mean


def departure(observed: Floats, mean: Floats, fraction: float) -> float:
    """How far the counts depart from Poisson numbers of the model where uniques are expected, in standard errors."""
    expected, missed = fraction * mean, 1 - fraction
    weight = mean * np.exp(-mean) * missed
    off = observed - expected
    total = float((weight * (off + missed * (off**2 - observed) / (2 * fraction))).sum())
    squares = weight * missed / (2 * fraction)
    variance = float((weight**2 * expected + 2 * (squares * expected) ** 2).sum())
    return total / math.sqrt(variance) if variance > 0 else 0.0


def fit_margins(observed: Floats, margins: Sequence[tuple[int, ...]]) -> Floats:
    """Cells that have the sums of the observed ones along some axes, and nothing else of theirs (iterative fitting)."""
    axes = range(observed.ndim)
    others = [tuple(a for a in axes if a not in margin) for margin in margins]
    wanted = [observed.sum(axis=over, keepdims=True) for over in others]
    fitted = np.full(observed.shape, observed.sum() / observed.size)
    for _ in range(_ROUNDS if max(map(len, margins)) > 1 else 1):
        change = 0.0
        for over, target in zip(others, wanted, strict=True):
            now = fitted.sum(axis=over, keepdims=True)
            factor = np.divide(target, now, out=np.zeros_like(target), where=now > 0)
            change = max(change, float(np.abs(factor - 1, where=now > 0, out=np.zeros_like(factor)).max()))
            fitted *= factor
        if change < _NEAR:
            break
    return fitted
