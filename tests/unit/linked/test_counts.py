"""How many rows persons keep in a table."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.linked.counts import common_levels


@pytest.mark.parametrize(
    ("counts", "weights", "k", "levels", "stays"),
    [
        ([1, 1, 2, 2], [1, 1, 2, 2], 2, [1, 1, 2, 2], [1, 1, 1, 1]),
        ([0, 0, 5, 6], [1, 1, 6, 7], 2, [0, 0, 5, 5], [1, 1, 1, 1]),
        ([0, 5, 5], [1, 6, 6], 2, [0, 5, 5], [0, 1, 1]),  # one without rows goes, rather than ten rows
        ([0, 5, 5], [50, 6, 6], 2, [0, 0, 0], [1, 1, 1]),  # unless it has many elsewhere
        ([4, 5, 5], [5, 6, 6], 2, [4, 4, 4], [1, 1, 1]),
    ],
)
def test_numbers_are_lowered_or_persons_go(counts, weights, k, levels, stays) -> None:
    found, there = common_levels(np.array(counts), np.zeros(len(counts), np.int64), k, np.array(weights))
    assert np.where(there, found, 0).tolist() == levels
    assert there.tolist() == [bool(s) for s in stays]


@given(
    st.lists(st.tuples(st.integers(0, 6), st.integers(-1, 2), st.integers(0, 9)), min_size=1, max_size=40),
    st.integers(2, 4),
)
def test_k_persons_of_a_crowd_have_each_number(persons, k) -> None:
    sizes = Counter(crowd for _, crowd, _ in persons)
    persons = [p for p in persons if p[1] < 0 or sizes[p[1]] >= k]
    counts, crowds, more = (np.array([p[i] for p in persons], dtype=np.int64) for i in range(3))
    levels, stays = common_levels(counts, crowds, k, counts + more)
    assert not stays[crowds < 0].any()
    assert (levels[stays] <= counts[stays]).all()
    together = Counter(zip(crowds[stays].tolist(), levels[stays].tolist(), strict=True))
    assert all(n >= k for n in together.values())
