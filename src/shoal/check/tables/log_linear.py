"""How many are unique in a population by a log-linear model of the table, where it has few possible combinations.

The frequencies of all combinations of values are fitted to the sample, by its counts of single values or, where the
sample is large enough for them, of pairs. What the population has of a combination is then taken to be a Poisson number
of that mean over the sampling fraction. Up to a tenth of the population, the uniques are those that the model expects;
beyond it, those of the sample that it expects to have no other in the rest, over the sampling fraction.

References
----------
C. Skinner, N. Shlomo, "Assessing identification risk in survey microdata using log-linear models", Journal of the
American Statistical Association 103(483), 2008. The fit: W. E. Deming, F. F. Stephan, Annals of Mathematical Statistics
11(4), 1940.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations

import numpy as np

from shoal.arrays import Floats, Ints

FEW_SAMPLED = 0.1
"""Up to this share of the population a sample has too few uniques of its own to go by; as in Dankar's rule."""
MOST_CELLS = 2_000_000
"""Combinations that are fitted; a table that could have more is for estimators by the sizes of classes."""
RECORDS_A_PARAMETER = 20
"""Fewer records for each parameter of pairs, and these follow the sample rather than the population."""
_ROUNDS = 20


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
    n_pairs = sum((a - 1) * (b - 1) for a, b in combinations(shape, 2))
    order = 2 if len(shape) > 1 and observed.sum() >= RECORDS_A_PARAMETER * n_pairs else 1
    mean = fit_margins(observed.astype(np.float64), list(combinations(range(len(shape)), order))) / fraction
    if fraction > FEW_SAMPLED:  # of sample uniques, those of which the rest of the population holds no other
        return float(np.exp(-mean[observed == 1] * (1 - fraction)).sum()) / fraction
    return float((mean * np.exp(-mean)).sum())


def fit_margins(observed: Floats, margins: Sequence[tuple[int, ...]]) -> Floats:
    """Cells that have the sums of the observed ones along some axes, and nothing else of theirs (iterative fitting)."""
    axes = range(observed.ndim)
    others = [tuple(a for a in axes if a not in margin) for margin in margins]
    wanted = [observed.sum(axis=over, keepdims=True) for over in others]
    fitted = np.full(observed.shape, observed.sum() / observed.size)
    for _ in range(_ROUNDS if max(map(len, margins)) > 1 else 1):
        for over, target in zip(others, wanted, strict=True):
            now = fitted.sum(axis=over, keepdims=True)
            fitted *= np.divide(target, now, out=np.zeros_like(target), where=now > 0)
    return fitted
