"""The linear programme recovers records where there are many components, and none where there are few."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from shoal.attack.sparse import recovery_programme
from shoal.attack.sparse.recovery_programme import RecoveryProgramme, cheapest_record


def test_a_weak_release_is_recovered(weak):
    result = RecoveryProgramme(n_records=30).run(weak, np.random.default_rng(0))
    assert result.main.value > 0.8
    assert result.main.attempts == result.control.attempts == result.baseline.attempts == 30
    assert result.control.value == result.baseline.value == 0
    assert result.succeeds
    assert result.details["overlap_likeliest"] > 0.8 > 0.3 > result.details["overlap_wrong_key"]


def test_a_strong_release_is_not_recovered(strong):
    result = RecoveryProgramme(n_records=30).run(strong, np.random.default_rng(0))
    assert result.main.value == result.control.value == 0
    assert not result.succeeds
    assert result.details["overlap_fewest"] < 0.2


def test_popularity_helps_where_the_sketch_alone_does_not_suffice(case_of):
    result = RecoveryProgramme(n_records=40).run(case_of(300, 26), np.random.default_rng(0))
    assert result.details["overlap_likeliest"] > result.details["overlap_fewest"] + 0.05
    assert result.details["exact_likeliest"] > result.details["exact_fewest"]


@pytest.mark.parametrize(("kind", "n_components"), [("counts", 80), ("signed", 80), ("real", 120)])
def test_counts_signs_and_real_weights_are_recovered_too(case_of, kind, n_components):
    case = case_of(60, n_components, kind, step=2**-6)
    result = RecoveryProgramme(n_records=8).run(case, np.random.default_rng(0))
    assert result.main.value > 0.7
    assert result.control.value == 0


def test_the_published_grid_hides_the_items_of_real_records(case_of):
    # On a grid of 2**-6 more than seven in ten of such records are found; here one in some fifty, by chance of the key.
    case = case_of(60, 20, "real", step=2.0)
    assert RecoveryProgramme(n_records=20).run(case, np.random.default_rng(0)).main.value < 0.1


@pytest.mark.parametrize("slack", [0.0, 0.5])
def test_bringing_in_columns_changes_no_solution(monkeypatch, slack):
    rng = np.random.default_rng(1)
    signs = rng.choice(np.array([-1, 1], np.float32), (400, 25))
    truth = rng.random(400) < 0.04
    sketch = signs[truth].sum(axis=0).astype(np.float64)
    costs = rng.uniform(0.5, 4, 400)
    whole = cheapest_record(signs, sketch, costs, slack=slack)
    monkeypatch.setattr(recovery_programme, "AT_ONCE", 40)
    by_turns = cheapest_record(signs, sketch, costs, slack=slack)
    assert whole is not None
    assert by_turns is not None
    assert costs @ by_turns == pytest.approx(costs @ whole, abs=1e-3)
    assert costs @ whole <= costs @ truth + 1e-9
    assert np.abs(by_turns @ signs - sketch).max() <= slack + 1e-6


def test_a_sketch_that_no_record_has_is_told():
    signs = np.ones((5, 2), np.float32)
    assert cheapest_record(signs, np.array([1.0, 3.0]), np.ones(5)) is None


def test_a_record_with_an_unpopular_item_is_not_recovered_by_popular_ones(weak):
    result = RecoveryProgramme(n_records=20, n_items=40).run(weak, np.random.default_rng(0))
    assert result.details["items_tried"] == 40
    assert result.main.value < 0.2


def test_it_ends_when_the_time_is_over(weak):
    assert RecoveryProgramme(seconds=0.0).run(weak, np.random.default_rng(0)).main.attempts == 1


def test_it_says_what_it_lacks(weak):
    attack = RecoveryProgramme()
    assert attack.missing(weak) is None
    assert "key" in attack.missing(replace(weak, key=None))
    assert "sketch" in attack.missing(replace(weak, rows=None))
