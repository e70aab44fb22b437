"""The tests of `kernels/strings/lengths.py`."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.kernels.strings.lengths import greedy_runs, optimal_runs

lists_of_lengths = st.lists(st.integers(1, 30), min_size=1, max_size=9)


def slow_greedy(lengths: list[int], eps: Fraction, k: int) -> int:
    left, suppressed = sorted(lengths), 0
    while left:
        taken = [x for x in left if x <= (1 + eps) * left[0]]
        if len(taken) < k:
            suppressed += 1
            left = left[1:]
        else:
            left = left[len(taken) :]
    return suppressed


def slow_optimal(lengths: list[int], eps: Fraction, k: int) -> int:
    """Try every way to keep some lengths and to cut what is kept into runs."""
    ascending = sorted(lengths)

    def can_be_cut(kept: list[int]) -> bool:
        if not kept:
            return True
        return any(
            kept[size - 1] <= (1 + eps) * kept[0] and can_be_cut(kept[size:]) for size in range(k, len(kept) + 1)
        )

    n = len(ascending)
    for n_left_out in range(n + 1):
        for kept in combinations(range(n), n - n_left_out):
            if can_be_cut([ascending[i] for i in kept]):
                return n_left_out
    raise AssertionError("all may be left out")


@settings(max_examples=80, deadline=None)
@given(lists_of_lengths, st.sampled_from([0, 1, 5, 15, 30]), st.integers(1, 4))
def test_runs_leave_out_what_the_slow_ones_do(lengths: list[int], tenths: int, k: int) -> None:
    ascending = np.sort(np.array(lengths, dtype=np.int64))
    limits = ascending * (10 + tenths) // 10
    eps = Fraction(tenths, 10)
    greedy, optimal = greedy_runs(ascending, limits, k), optimal_runs(ascending, limits, k)
    assert (greedy < 0).sum() == slow_greedy(lengths, eps, k)
    assert (optimal < 0).sum() == slow_optimal(lengths, eps, k)
    for runs in (greedy, optimal):
        for run in range(runs.max() + 1):
            held = ascending[runs == run]
            assert len(held) >= k
            assert held[-1] <= (1 + eps) * held[0]
        kept = runs[runs >= 0]
        assert (np.diff(kept) >= 0).all()
