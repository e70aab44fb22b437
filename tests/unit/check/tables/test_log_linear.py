"""Log-linear estimates of uniques, against a slow twin of the fit and against populations that are known."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from shoal.check.tables.log_linear import (
    MOST_CELLS,
    departure,
    fit_margins,
    fitted_mean,
    log_linear_uniques,
)


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
    assert fitted == pytest.approx(slow_fit(observed, margins, 20 if order > 1 else 1), rel=1e-4)
    for margin in margins:
        over = tuple(a for a in range(3) if a not in margin)
        assert fitted.sum(axis=over) == pytest.approx(observed.sum(axis=over), abs=1e-3)


def test_the_departure_agrees_with_its_slow_twin() -> None:
    rng = np.random.default_rng(5)
    mean, p = rng.gamma(1.0, 2.0, (4, 3)), 0.3
    observed = rng.poisson(p * mean).astype(float)
    total = variance = 0.0
    for f, m in zip(observed.ravel().tolist(), mean.ravel().tolist(), strict=True):
        a = m * math.exp(-m) * (1 - p)
        total += a * ((f - p * m) + (1 - p) * ((f - p * m) ** 2 - f) / (2 * p))
        variance += a**2 * p * m + 2 * (a * (1 - p) / (2 * p)) ** 2 * (p * m) ** 2
    assert departure(observed, mean, p) == pytest.approx(total / math.sqrt(variance))


def test_of_the_true_means_the_departure_is_a_standard_normal_number() -> None:
    rng = np.random.default_rng(6)
    mean, p = rng.gamma(0.5, 2.0, (40, 30)), 0.2
    found = [departure(rng.poisson(p * mean).astype(float), mean, p) for _ in range(400)]
    assert abs(float(np.mean(found))) < 0.2
    assert float(np.std(found)) == pytest.approx(1, abs=0.2)


def test_the_search_finds_the_pair_that_belongs_together() -> None:
    rng = np.random.default_rng(7)
    one, other = rng.integers(0, 12, 3000), rng.integers(0, 8, 3000)
    twin = np.where(rng.random(3000) < 0.9, one, rng.integers(0, 12, 3000))
    observed = np.zeros((12, 8, 12))
    np.add.at(observed, (one, other, twin), 1)
    mean = fitted_mean(observed, 0.1)
    assert mean.sum(axis=1) * 0.1 == pytest.approx(observed.sum(axis=1), rel=1e-3, abs=1e-3)


@pytest.mark.parametrize("fraction", [0.1, 0.4])
def test_independent_columns_are_extrapolated(fraction: float) -> None:
    rng = np.random.default_rng(2)
    shares = [rng.dirichlet(np.full(d, 0.3)) for d in (24, 18, 12)]
    codes = [rng.choice(len(p), 20_000, p=p) for p in shares]
    key = np.ravel_multi_index(tuple(codes), (24, 18, 12))
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
