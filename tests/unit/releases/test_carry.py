"""Groups carried over, beside a slow twin."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.releases.carry import CarriedBoxes, candidates, carry, left_alone, widths_of


def slow_candidates(cohorts, published):
    return [
        sum(c == d and bool((q >= p).all()) for d, q in zip(cohorts, published, strict=True))
        for c, p in zip(cohorts, published, strict=True)
    ]


@pytest.mark.parametrize("seed", range(5))
def test_candidates_are_those_who_were_there_whenever_one_was(seed):
    rng = np.random.default_rng(seed)
    cohorts, published = rng.integers(0, 4, 40), rng.random((40, 3)) < 0.6
    assert candidates(cohorts, published).tolist() == slow_candidates(cohorts, published)
    alone = left_alone(cohorts, published, 3)
    left = np.flatnonzero(~alone)
    assert all(n >= 3 for n in slow_candidates(cohorts[left], published[left]))


def test_nobody_has_candidates_of_nobody():
    assert len(candidates(np.zeros(0, dtype=np.int64), np.zeros((0, 2), dtype=bool))) == 0


def boxes(cells):
    points = np.asarray(cells, dtype=float)[:, None]
    return CarriedBoxes(points, points, np.ones(1))


def halves(some, size):
    """Groups of `size` in the order of the persons."""
    return np.minimum(np.arange(len(some)) // size, max(0, len(some) // size - 1))


def test_a_cohort_that_shrinks_below_k_is_left_out_and_newcomers_join_or_found_one():
    cohorts = np.array([0, 0, 0, 1, 1, -1, -1, -1, -1])
    earlier = np.array([[True]] * 5 + [[False]] * 4)
    where = boxes([0.1, 0.1, 0.2, 0.5, 0.5, 0.15, 0.8, 0.81, 0.82])
    found = carry(cohorts, earlier, where, 3, halves, n_cohorts=7)
    assert found.tolist()[:5] == [0, 0, 0, -1, -1]
    assert found[5] in (0, 7)
    assert set(found[6:].tolist()) <= {0, 7}
    few = carry(cohorts[:6], earlier[:6], boxes([0.1, 0.1, 0.2, 0.5, 0.5, 0.15]), 3, halves)
    assert few.tolist() == [0, 0, 0, -1, -1, 0]


def test_too_few_newcomers_without_anybody_to_join_are_left_out():
    found = carry(np.array([-1, -1]), np.zeros((2, 0), dtype=bool), boxes([0.0, 1.0]), 3, halves)
    assert found.tolist() == [-1, -1]


def test_new_cohorts_have_a_reserve():
    asked = []
    carry(
        np.full(9, -1), np.zeros((9, 0), dtype=bool), boxes(np.arange(9) / 9), 3,
        lambda some, size: asked.append(size) or halves(some, size), reserve=2,
    )  # fmt: skip
    assert asked == [5]


def test_widths_count_at_most_one_a_column():
    assert widths_of(np.array([0.0, 0.0]), np.array([0.5, 4.0]), np.array([1.0, 0.5])) == 1.0


def test_panels_found_cohorts_of_their_own_and_join_their_own():
    cohorts, panels = np.array([0, 0, 0, -1, -1, -1, -1, -1]), np.array([1, 1, 1, 0, 0, 0, 0, 1])
    where = boxes([0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.6, 0.9])
    found = carry(cohorts, np.array([[True]] * 3 + [[False]] * 5), where, 3, halves, panels=panels)
    assert found[7] == 0
    assert set(found[3:7].tolist()) == {1}
