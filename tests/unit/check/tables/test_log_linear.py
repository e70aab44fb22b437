"""Log-linear estimates of uniques, against a slow twin of the fit and against populations that are known."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from shoal.check.tables.log_linear import MOST_CELLS, fit_margins, log_linear_uniques


def slow_fit(observed: np.ndarray, margins: list[tuple[int, ...]], rounds: int) -> np.ndarray:
    fitted = np.full(observed.shape, observed.sum() / observed.size)
    for _, margin in itertools.product(range(rounds), margins):
        for fixed in itertools.product(*(range(observed.shape[a]) for a in margin)):
            place = tuple(fixed[margin.index(a)] if a in margin else slice(None) for a in range(observed.ndim))
            now = fitted[place].sum()
            fitted[place] = fitted[place] * (observed[place].sum() / now) if now > 0 else 0.0
    return fitted


@pytest.mark.parametrize("order", [1, 2])
def test_the_fit_agrees_with_its_slow_twin_and_has_the_margins(order: int) -> None:
    observed = np.random.default_rng(4).poisson(2.0, (3, 2, 4)).astype(float)
    margins = list(itertools.combinations(range(3), order))
    fitted = fit_margins(observed, margins)
    assert fitted == pytest.approx(slow_fit(observed, margins, 20 if order > 1 else 1))
    for margin in margins:
        over = tuple(a for a in range(3) if a not in margin)
        assert fitted.sum(axis=over) == pytest.approx(observed.sum(axis=over), abs=1e-3)


@pytest.mark.parametrize("fraction", [0.1, 0.4])
def test_independent_columns_are_extrapolated(fraction: float) -> None:
    rng = np.random.default_rng(2)
    shares = [rng.dirichlet(np.full(d, 0.3)) for d in (12, 9, 7)]
    codes = [rng.choice(len(p), 20_000, p=p) for p in shares]
    key = np.ravel_multi_index(tuple(codes), (12, 9, 7))
    truth = int((np.bincount(key) == 1).sum())
    found = []
    for seed in range(5):
        rows = np.random.default_rng(seed).choice(20_000, round(20_000 * fraction), replace=False)
        found.append(log_linear_uniques([c[rows] for c in codes], fraction))
    assert abs(float(np.median(found)) / truth - 1) < 0.25


def test_too_many_combinations_are_left_to_others() -> None:
    column = np.arange(2000)
    assert MOST_CELLS < 2000 * 2000
    assert math.isnan(log_linear_uniques([column, column], 0.1))
    assert math.isnan(log_linear_uniques([np.zeros(10, np.int64)], 0.1))
