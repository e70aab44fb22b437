"""Known pairs give the signs away; another key makes them worthless."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array

from shoal.attack.sparse.known_pairs import KnownPairs, solve_signs


def test_many_pairs_tell_the_signs_and_then_other_records(case_of):
    result = KnownPairs(n_pairs=(20, 250), n_others=8).run(case_of(500, 45), np.random.default_rng(0))
    assert result.details["signs_right_250_pairs"] == result.main.value > 0.97
    assert 0.55 < result.details["signs_right_20_pairs"] < 0.85
    assert result.control.value == pytest.approx(0.5, abs=0.05)
    assert result.baseline.value == 0.5
    assert result.details["exact_learned"] > 0.5
    assert result.succeeds


def test_pairs_of_a_release_with_another_key_tell_nothing(case_of):
    case = replace(case_of(500, 45), key=b"another key of thirty-two bytes!")
    result = KnownPairs(n_pairs=(250,), n_others=3).run(case, np.random.default_rng(0))
    assert result.main.value == pytest.approx(0.5, abs=0.03)
    assert not result.succeeds


def test_few_components_shield_other_records_even_so(strong):
    result = KnownPairs(n_pairs=(150,), n_others=8).run(strong, np.random.default_rng(0))
    assert result.details["exact_learned"] == result.details["exact_key"] == 0


def test_signs_are_solved_from_the_pairs_that_have_the_component():
    rng = np.random.default_rng(2)
    signs = rng.choice([-1.0, 1.0], (30, 3))
    matrix = csr_array((rng.random((60, 30)) < 0.3).astype(float))
    components = matrix @ signs
    components[40:, 2] = 1000.0  # not published: must not be looked at
    solved = solve_signs(matrix, components, np.array([60, 60, 40]))
    assert solved == pytest.approx(signs, abs=0.05)


def test_at_most_half_of_the_release_is_known(strong):
    result = KnownPairs(n_pairs=(800,), n_others=1).run(strong, np.random.default_rng(0))
    assert "signs_right_150_pairs" in result.details
