"""Estimates of uniques in a population, against slow twins and against populations that are known."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import hypergeom, nbinom

from shoal.check.tables.population import (
    class_counts,
    dankar_rule,
    estimate_uniques,
    expected_share,
    pitman,
    population_of,
    slide_negative_binomial,
    zayatz,
)
from shoal.data.tables.frames import from_frame


def drawn(codes: np.ndarray, fraction: float, seed: int) -> np.ndarray:
    rows = np.random.default_rng(seed).choice(len(codes), round(len(codes) * fraction), replace=False)
    sizes = np.bincount(codes[rows])
    return sizes[sizes > 0].astype(np.int64)


def restaurant(n: int, theta: float, alpha: float, seed: int) -> np.ndarray:
    """A population by Pitman's formula: who comes sits down at a table, or at a new one."""
    rng, sizes, codes = np.random.default_rng(seed), [], []
    for i in range(n):
        weights = np.array([*(size - alpha for size in sizes), theta + alpha * len(sizes)]) / (theta + i)
        table = int(rng.choice(len(weights), p=weights / weights.sum()))
        sizes = [*sizes, 1] if table == len(sizes) else [*sizes[:table], sizes[table] + 1, *sizes[table + 1 :]]
        codes.append(table)
    return np.array(codes)


def slow_zayatz(sizes: np.ndarray, fraction: float) -> float:
    n = int(sizes.sum())
    population = round(n / fraction)
    chances = [float(hypergeom.pmf(1, population, size, n)) for size in sizes.tolist()]
    alone = [c for c, size in zip(chances, sizes.tolist(), strict=True) if size == 1]
    return len(alone) * sum(alone) / sum(chances) / (n / population)


@pytest.mark.parametrize("fraction", [0.01, 0.1, 0.4, 0.9])
@pytest.mark.parametrize("seed", range(3))
def test_zayatz_agrees_with_its_slow_twin(fraction: float, seed: int) -> None:
    sizes = np.random.default_rng(seed).geometric(0.4, 40)
    assert zayatz(sizes, fraction) == pytest.approx(slow_zayatz(sizes, fraction), rel=1e-9)


@pytest.mark.parametrize("fraction", [0.01, 0.1, 0.5, 0.99])
def test_the_chance_to_pick_the_right_one_agrees_with_a_sum(fraction: float) -> None:
    beyond = np.arange(20_000)
    for size in (1, 2, 5, 40, 64, 65, 100):
        slow = float((nbinom.pmf(beyond, size, fraction) / (size + beyond)).sum())
        assert expected_share(np.array([size]), fraction)[0] == pytest.approx(slow, rel=1e-5)


def test_pitman_finds_the_uniques_of_a_population_of_its_kind() -> None:
    codes = restaurant(1500, 20.0, 0.5, seed=3)
    truth = int((np.bincount(codes) == 1).sum())
    found = [pitman(drawn(codes, 0.3, seed), 0.3) for seed in range(5)]
    assert abs(float(np.median(found)) / truth - 1) < 0.2


def test_pitman_of_the_whole_population_expects_about_what_is_there() -> None:
    codes = restaurant(1000, 10.0, 0.6, seed=5)
    sizes = drawn(codes, 1.0, 0)
    assert abs(pitman(sizes, 1.0) / int((sizes == 1).sum()) - 1) < 0.15


def test_the_slide_negative_binomial_finds_the_uniques_of_a_population_of_its_kind() -> None:
    rng = np.random.default_rng(1)
    sizes = 1 + rng.negative_binomial(0.3, 0.05, 3000)
    codes = np.repeat(np.arange(3000), sizes)
    truth = int((sizes == 1).sum())
    found = [slide_negative_binomial(drawn(codes, 0.4, seed), 0.4) for seed in range(5)]
    assert abs(float(np.median(found)) / truth - 1) < 0.1


def test_the_rule_takes_the_estimator_by_the_sampling_fraction() -> None:
    sizes = np.array([1] * 50 + [2] * 20 + [5] * 4)
    assert dankar_rule(sizes, 0.1) == ("Pitman's model", pitman(sizes, 0.1))
    model, value = dankar_rule(sizes, 0.3)
    lower = min(zayatz(sizes, 0.3), slide_negative_binomial(sizes, 0.3))
    assert model in ("the slide negative binomial", "Zayatz's model")
    assert value == pytest.approx(lower)
    without_pairs = np.array([1] * 50 + [3] * 4)
    assert dankar_rule(without_pairs, 0.05) == ("Zayatz's model", zayatz(without_pairs, 0.05))


@pytest.mark.parametrize("sizes", [[1], [1, 1, 1], [2, 2], [1, 2], [7], [1] * 300, [1, 500]])
@pytest.mark.parametrize("fraction", [1e-6, 0.1, 0.5, 1.0])
def test_an_estimate_is_always_between_nothing_and_everybody(sizes: list[int], fraction: float) -> None:
    found = estimate_uniques(np.array(sizes), fraction)
    assert 0 <= found.uniques <= found.population
    assert 0 <= found.at_risk <= sizes.count(1)
    assert 0 < found.journalist <= 1
    assert math.isfinite(found.share)
    if fraction == 1:
        assert (found.model, found.uniques) == ("a count", sizes.count(1))


def test_sizes_are_counted() -> None:
    sizes, counts = class_counts(np.array([3, 1, 1, 2, 1]))
    assert (sizes.tolist(), counts.tolist()) == ([1, 2, 3], [3, 1, 1])


def test_a_table_says_its_own_sentence() -> None:
    rng = np.random.default_rng(0)
    table = from_frame({"age": rng.integers(20, 60, 200), "sex": rng.choice(["f", "m"], 200)})
    found = population_of(table, ["age", "sex"], 0.1)
    assert found.model == "a log-linear model"
    assert found.population == 2000
    assert found.to_dict()["sentence"].startswith("Of a population of 2,000 about ")
