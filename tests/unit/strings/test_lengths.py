"""HomogenizeLength."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.errors import PolicyError
from shoal.strings.lengths import homogenize_lengths


def test_optimal_keeps_what_greedy_loses() -> None:
    # Greedy takes 10, 10, 11, 15 at once and leaves 16 alone; it could have gone with 11 and 15.
    lengths = np.array([10, 10, 11, 15, 16])
    assert (homogenize_lengths(lengths, 2, 0.5, "greedy") < 0).sum() == 1
    assert homogenize_lengths(lengths, 2, 0.5).tolist() == [0, 0, 1, 1, 1]


def test_equal_lengths_are_one_segment_even_without_slack() -> None:
    assert homogenize_lengths(np.full(7, 60), 5, 0.0).tolist() == [0] * 7


@pytest.mark.parametrize(("shortest", "eps", "longest"), [(10, 0.1, 11), (20, 0.15, 23), (100, 0.07, 107), (2, 1.5, 5)])
def test_the_bound_itself_is_within(shortest: int, eps: float, longest: int) -> None:
    assert homogenize_lengths(np.array([shortest, longest]), 2, eps).tolist() == [0, 0]
    assert homogenize_lengths(np.array([shortest, longest + 1]), 2, eps).tolist() == [-1, -1]


def test_unknown_method() -> None:
    with pytest.raises(PolicyError, match="'optimal', 'greedy'"):
        homogenize_lengths(np.array([1]), 2, 0.0, "best")  # type: ignore[arg-type]


def test_a_million_lengths() -> None:
    lengths = np.random.default_rng(0).poisson(20, 1_000_000) + 1
    segments = homogenize_lengths(lengths, 20, 0.5)
    assert np.bincount(segments[segments >= 0]).min() >= 20
