"""Estimates converge to the truth, and their standard errors are honest."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.data.sparse.sketch_files import read_sketches, write_sketches
from shoal.data.sparse.sketches import Sketches
from shoal.errors import DataError
from shoal.sparse.mining import (
    attribute_estimates,
    centroid,
    distances,
    dot_products,
    squared_distances,
    squared_lengths,
)
from shoal.sparse.signs import new_key, sign_table
from shoal.sparse.sketch import sketch_records
from tests.unit.sparse.mining.crowds import random_records

KEY = new_key(3)


def all_pairs(n: int) -> np.ndarray:
    return np.column_stack(np.triu_indices(n, 1))


@pytest.mark.parametrize("kind", ["sets", "reals"])
def test_very_many_components_tell_the_truth(kind: str) -> None:
    records, dense = random_records(12, 10, 40, kind=kind)
    sketches = sketch_records(records, np.full(12, 20_000), KEY)
    pairs = all_pairs(12)
    x, y = dense[pairs[:, 0]], dense[pairs[:, 1]]
    assert dot_products(sketches, sketches, pairs).values == pytest.approx((x * y).sum(axis=1), abs=0.35)
    assert squared_lengths(sketches).values == pytest.approx((dense**2).sum(axis=1), rel=0.05)
    assert squared_distances(sketches, sketches, pairs).values == pytest.approx(((x - y) ** 2).sum(axis=1), rel=0.07)
    assert distances(sketches, sketches, pairs).values == pytest.approx(np.linalg.norm(x - y, axis=1), rel=0.035)
    found = attribute_estimates(sketches, records.item_keys(), KEY)
    assert found.values == pytest.approx(dense, abs=0.15)


def test_rounding_is_taken_off_lengths_and_distances() -> None:
    records, dense = random_records(30, 4, 40, kind="reals")
    both = [sketch_records(records, np.full(30, 20_000), key, 2.0) for key in (KEY, new_key(1))]
    ratio = np.mean([squared_lengths(sketches).values.sum() for sketches in both]) / (dense**2).sum()
    assert ratio == pytest.approx(1, abs=0.01)  # the rounding of this grid is 8 % of it
    sketches = both[0]
    pairs = all_pairs(30)
    apart = ((dense[pairs[:, 0]] - dense[pairs[:, 1]]) ** 2).sum()
    assert squared_distances(sketches, sketches, pairs).values.sum() / apart == pytest.approx(1, abs=0.01)


@pytest.mark.parametrize("n_components", [24, 100])
def test_standard_errors_are_honest(n_components: int) -> None:
    """z-scores over many keys: no bias, a spread near 1 and never far above it."""
    records, dense = random_records(40, 12, 60, seed=1)
    pairs = all_pairs(40)[::7]
    x, y = dense[pairs[:, 0]], dense[pairs[:, 1]]
    truths = [(x * y).sum(axis=1), (dense**2).sum(axis=1), ((x - y) ** 2).sum(axis=1)]
    off: list[list[np.ndarray]] = [[], [], []]
    errors: list[list[np.ndarray]] = [[], [], []]
    for seed in range(60):
        sketches = sketch_records(records, np.full(40, n_components), new_key(seed))
        found = [
            dot_products(sketches, sketches, pairs),
            squared_lengths(sketches),
            squared_distances(sketches, sketches, pairs),
        ]
        for place, (estimate, truth) in enumerate(zip(found, truths, strict=True)):
            off[place].append(estimate.values - truth)
            errors[place].append(estimate.standard_errors)
    for of_kind, told in zip(off, errors, strict=True):
        difference, error = np.concatenate(of_kind), np.concatenate(told)
        assert abs(difference.mean()) < 0.1 * difference.std()
        # An upper bound, so the truth is below it; and not by more than the dropped term and some noise.
        assert 0.8 < difference.std() / np.sqrt((error**2).mean()) < 1.05
        assert 0.9 < (np.abs(difference) < 1.96 * error).mean() < 0.99


def test_attribute_errors_are_honest() -> None:
    records, dense = random_records(40, 12, 60, seed=1)
    scores = []
    for seed in range(20):
        sketches = sketch_records(records, np.full(40, 30), new_key(seed))
        found = attribute_estimates(sketches, records.item_keys(), new_key(seed))
        scores.append((found.values - dense) / found.standard_errors)
    z = np.concatenate(scores).ravel()
    assert abs(z.mean()) < 0.06
    assert 0.9 < z.std() < 1.1


def test_a_pair_is_compared_on_common_components() -> None:
    records, _ = random_records(3, 8, 30)
    ragged = sketch_records(records, np.array([7, 2, 30]), KEY)
    rows = [sketch_records(records, np.full(3, m), KEY).padded() for m in (7, 2)]
    pairs = np.array([[0, 2], [2, 0], [1, 2], [1, 1]])
    products = dot_products(ragged, ragged, pairs).values
    apart = squared_distances(ragged, ragged, pairs).values
    for at, (i, j) in enumerate(pairs):
        full = rows[0] if {i, j} == {0, 2} else rows[1]
        assert products[at] == pytest.approx((full[i] * full[j]).mean())
        assert apart[at] == pytest.approx(((full[i] - full[j]) ** 2).mean())


def test_a_record_with_itself_is_its_squared_length_with_the_same_error() -> None:
    records, _ = random_records(5, 8, 30)
    sketches = sketch_records(records, np.arange(3, 8), KEY)
    found, lengths = dot_products(sketches, sketches, np.arange(5)[:, None].repeat(2, 1)), squared_lengths(sketches)
    assert found.values == pytest.approx(lengths.values)
    assert found.standard_errors == pytest.approx(lengths.standard_errors)
    assert lengths.standard_errors == pytest.approx(lengths.values * np.sqrt(2 / np.arange(3, 8)))


def test_without_a_common_component_nothing_is_told() -> None:
    sketches = Sketches(np.array([0, 2, 2]), np.array([1, 3]))
    found = dot_products(sketches, sketches, np.array([[0, 1], [0, 0]]))
    assert np.isnan(found.values[0])
    assert np.isinf(found.standard_errors[0])
    assert found.values[1] == 5
    roots = distances(sketches, sketches, np.array([[0, 1], [0, 0]]))
    assert np.isnan(roots.values[0])
    assert np.isinf(roots.standard_errors[0])
    assert roots.values[1] == roots.standard_errors[1] == 0


def test_a_centroid_is_the_mean_over_those_that_have_the_component() -> None:
    sketches = Sketches(np.array([0, 3, 5, 6]), np.array([6, 2, 4, 0, 4, 100]))
    found = centroid(sketches, np.array([0, 1]))
    assert found.values.tolist() == [3, 3, 4]
    # Spread about the means: 3^2 + 3^2 + 1 + 1 = 20 over 2 degrees of freedom; one of two records has component 2.
    assert found.standard_errors == pytest.approx([0, 0, np.sqrt(10 * 0.5)])
    with pytest.raises(DataError, match="no records"):
        centroid(sketches, np.zeros(0, np.int64))


def test_centroid_errors_are_honest() -> None:
    records, dense = random_records(200, 12, 60, seed=2)
    counts = np.random.default_rng(0).integers(20, 120, 200)
    sketches = sketch_records(records, counts, KEY)
    found = centroid(sketches, np.arange(200))
    exact = dense.mean(axis=0) @ sign_table(records.item_keys(), KEY, len(found.values))
    assert found.values[:20] == pytest.approx(exact[:20])
    partly = np.flatnonzero(found.standard_errors > 0)
    z = (found.values[partly] - exact[partly]) / found.standard_errors[partly]
    assert len(z) > 80
    assert 0.6 < np.sqrt((z**2).mean()) < 1.4


def test_the_published_file_is_all_that_is_needed(tmp_path) -> None:
    records, _ = random_records(20, 6, 30, kind="reals")
    sketches = sketch_records(records, np.arange(3, 23), KEY)
    write_sketches(sketches, tmp_path / "sketches.parquet")
    back = read_sketches(tmp_path / "sketches.parquet")
    pairs = all_pairs(20)
    assert (dot_products(back, back, pairs).values == dot_products(sketches, sketches, pairs).values).all()
    assert (squared_lengths(back).values == squared_lengths(sketches).values).all()


@pytest.mark.parametrize("pairs", [np.array([[0, 3]]), np.array([[-1, 0]]), np.array([0, 1]), np.array([[0.0, 1.0]])])
def test_pairs_that_are_none_are_refused(pairs: np.ndarray) -> None:
    sketches = Sketches(np.array([0, 1, 2, 3]), np.array([1, 3, 1]))
    with pytest.raises(DataError):
        dot_products(sketches, sketches, pairs)
