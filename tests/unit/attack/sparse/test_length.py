"""Lengths and parities are told by sketches, sharply by many components and badly by one."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.attack.sparse.length import Length, mean_squares


def test_many_components_tell_the_length(weak):
    result = Length().run(weak, np.random.default_rng(0))
    assert result.details["within_by_number_of_components"] == result.main.value > 0.95
    assert result.details["correlation_of_number_of_components"] > 0.99
    assert result.details["within_by_mean_square"] > result.baseline.value
    assert result.succeeds


def test_the_same_number_of_components_for_all_leaves_the_mean_square(case_of):
    result = Length().run(case_of(400, 200), np.random.default_rng(0))
    assert result.details["correlation_of_number_of_components"] == 0
    assert result.details["within_by_mean_square"] == result.main.value > 0.6
    assert result.details["within_by_number_of_components"] == result.baseline.value


def test_one_component_tells_no_length(case_of):
    result = Length().run(case_of(400, 1), np.random.default_rng(0))
    assert result.main.value <= result.baseline.value + 0.02
    assert not result.succeeds


def test_parity_of_whole_numbers_is_always_told(case_of):
    for kind in ("binary", "counts"):
        details = Length().run(case_of(200, 1, kind), np.random.default_rng(0)).details
        assert details["parity_right"] == 1
        assert 0.5 <= details["parity_guessed"] < 0.7


def test_real_records_have_no_parity(case_of):
    assert "parity_right" not in Length().run(case_of(100, 4, "real"), np.random.default_rng(0)).details


def test_mean_squares_are_those_of_each_sketch(weak):
    published = weak.published
    slow = [
        np.mean(published.components[a:b] ** 2.0) for a, b in zip(published.starts, published.starts[1:], strict=False)
    ]
    assert mean_squares(published) == pytest.approx(slow)
