"""The linear estimate of least mean square error is what it says, and names items where it should."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from shoal.attack.sparse.linear_estimate import LinearEstimate, Prior, estimator, mean_square, name_items
from shoal.attack.sparse.signs import signs_of
from shoal.attack.sparse.targets import Targets, candidate_items, matrix_of
from tests.unit.attack.sparse.sketch_cases import KEY, make_case, make_records


def estimate_slowly(signs, sketch, means, covariance, noise):
    """One record by the formula, with the whole covariance of the items."""
    own = signs.T @ covariance @ signs + noise * np.eye(len(sketch))
    return means + covariance @ signs @ np.linalg.inv(own) @ (sketch - signs.T @ means)


def slow_errors(case, targets, prior, covariance, noise=0.0):
    """Item named, and squared error, of each record on its own."""
    columns = candidate_items(case.original, 10_000)
    signs = signs_of(case.original, columns, KEY, int(case.published.counts.max())).astype(float)
    named, squares = [], 0.0
    for i in range(len(targets)):
        sketch = targets.sketch(i)
        guess = estimate_slowly(signs[:, : len(sketch)], sketch, prior.means, covariance, noise)
        truth = np.zeros(targets.records.n_items)
        items, weights = targets.record(i)
        truth[items] = weights
        named.append(columns[guess.argmax()])
        squares += float(((guess - truth[columns]) ** 2).sum())
    return named, squares / (len(targets) * len(columns))


def all_targets(case):
    return Targets(case.published, case.original.take(case.rows), case.published.padded())


@pytest.mark.parametrize(("kind", "noise"), [("binary", 0.0), ("counts", 0.0), ("real", 0.25**2 / 12)])
def test_estimates_equal_the_formula_record_by_record(kind, noise):
    records = make_records(60, 5, kind)
    case = make_case(records, np.random.default_rng(1).integers(3, 30, 60))
    targets, columns = all_targets(case), candidate_items(records, 10_000)
    prior = Prior.of(records, columns)
    found = name_items(targets, columns, signs_of(records, columns, KEY, 29), prior, noise=noise)
    named, error = slow_errors(case, targets, prior, np.diag(prior.variances), noise)
    assert found.items.tolist() == named
    assert found.error == pytest.approx(error, rel=1e-5)


def test_other_records_add_the_covariance_of_items_that_go_together():
    records, others = make_records(80, 5), make_records(40, 6)
    case = make_case(records, 20)
    targets, columns = all_targets(case), candidate_items(records, 10_000)
    prior = Prior.of(records, columns, others)
    known = matrix_of(others).toarray()[:, columns]
    share = 40 / (40 + len(columns))
    covariance = (1 - share) * np.diag(prior.variances) + share * np.cov(known.T, bias=True)
    found = name_items(targets, columns, signs_of(records, columns, KEY, 20), prior)
    named, error = slow_errors(case, targets, prior, covariance)
    assert found.items.tolist() == named
    assert found.error == pytest.approx(error, rel=1e-5)


def test_it_has_the_least_mean_square_error_of_all_linear_estimates():
    rng = np.random.default_rng(3)
    signs = rng.choice(np.array([-1.0, 1.0]), (40, 8))
    shares = rng.uniform(0.02, 0.3, 40)
    prior = Prior(shares, shares * (1 - shares))
    weights = (rng.random((20_000, 40)) < shares).astype(float)
    sketches = weights @ signs
    best = estimator(signs, prior)

    def error(matrix):
        return float(((prior.means + (sketches - prior.means @ signs) @ matrix - weights) ** 2).mean())

    least = error(best)
    for _ in range(20):
        assert error(best + rng.normal(scale=0.02, size=best.shape)) > least
    assert least < float(((weights - prior.means) ** 2).mean())
    assert float(((sketches @ estimator(signs, None) - weights) ** 2).mean()) > 5 * least


def test_the_usual_estimate_is_that_of_the_paper():
    signs = np.array([[1.0, -1.0, 1.0], [1.0, 1.0, -1.0]])
    assert estimator(signs, None).T.tolist() == [[1 / 3, -1 / 3, 1 / 3], [1 / 3, 1 / 3, -1 / 3]]


def test_naming_the_means_has_the_error_of_the_definition():
    records = make_records(50, 7, "counts")
    case = make_case(records, 4)
    targets, columns = all_targets(case), candidate_items(records, 10_000)
    prior = Prior.of(records, columns)
    truth = matrix_of(targets.records).toarray()[:, columns]
    assert mean_square(targets, columns, prior) == pytest.approx(float(((truth - prior.means) ** 2).mean()))


def test_knowing_popularity_beats_the_usual_estimate_and_guessing(case_of):
    result = LinearEstimate(n_records=400).run(case_of(600, 12), np.random.default_rng(0))
    assert result.succeeds
    assert result.main.value > result.details["named_usual"] + 0.1
    assert result.main.value > result.baseline.value + 0.2
    assert result.control.value < result.baseline.value + 0.05
    assert abs(result.details["named_wrong_key"] - result.baseline.value) < 0.15
    assert result.details["mean_square_error"] < result.details["mean_square_error_naming_means"]
    assert result.details["mean_square_error"] * 10 < result.details["mean_square_error_usual"]
    # From as many pairs as there are items all signs are learned, and the key is not missed.
    assert result.details["named_with_known_pairs_and_no_key"] > result.baseline.value + 0.2


def test_two_components_name_little_more_than_guessing(strong):
    result = LinearEstimate(n_records=300).run(strong, np.random.default_rng(0))
    assert result.main.value < result.baseline.value + 0.15


@pytest.mark.parametrize("kind", ["counts", "real", "signed"])
def test_other_weights_are_attacked_too(case_of, kind):
    result = LinearEstimate(n_records=200).run(case_of(300, 40, kind), np.random.default_rng(0))
    assert result.main.value > result.baseline.value
    assert result.details["mean_square_error"] < result.details["mean_square_error_usual"]


def test_without_a_control_other_members_take_its_place(case_of):
    case = replace(case_of(200, 12), control=None)
    result = LinearEstimate(n_records=100).run(case, np.random.default_rng(0))
    assert result.control.attempts == 100
    assert result.control.value < result.main.value
    assert result.main.value == pytest.approx(result.details["named_by_popularity_alone"])


def test_it_needs_key_and_rows(case_of):
    case = case_of(20, 4)
    assert "key" in LinearEstimate().missing(replace(case, key=None))
    assert "record" in LinearEstimate().missing(replace(case, rows=None))
    assert LinearEstimate().missing(case) is None
