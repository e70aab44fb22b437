"""The vectorised group statistics against plain loops."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.tables.groups import Groups, n_persons_in


@st.composite
def grouped_ranks(draw):
    n_groups = draw(st.integers(1, 5))
    labels = draw(st.lists(st.integers(0, n_groups - 1), min_size=1, max_size=30)) + list(range(n_groups))
    ranks = draw(st.lists(st.integers(0, 4), min_size=len(labels), max_size=len(labels)))
    present = draw(st.lists(st.booleans(), min_size=len(labels), max_size=len(labels)))
    return np.array(labels, np.int32), np.array(ranks, np.int32), np.array(present, bool)


@given(grouped_ranks())
def test_statistics_equal_those_of_a_loop(drawn) -> None:
    labels, ranks, present = drawn
    groups = Groups.of(labels)
    low, high = groups.span(ranks, present)
    for g in range(labels.max() + 1):
        mine = sorted(ranks[(labels == g) & present].tolist())
        assert groups.sum(present)[g] == len(mine)
        assert groups.sum(ranks.astype(float))[g] == ranks[labels == g].sum()
        if not mine:
            assert low[g] > high[g]
            assert groups.median_rank(ranks, present)[g] == 0
            assert groups.mode_rank(ranks, present, 5)[g] == 0
            continue
        assert (low[g], high[g]) == (mine[0], mine[-1])
        assert groups.median_rank(ranks, present)[g] == mine[(len(mine) - 1) // 2]
        assert groups.mode_rank(ranks, present, 5)[g] == max(range(5), key=lambda r: (mine.count(r), -r))


def test_pairs_are_counted() -> None:
    groups = Groups.of(np.array([0, 1, 1, 0, 1]))
    group, rank, count = groups.pairs(np.array([2, 0, 0, 1, 2], np.int32), 3)
    assert list(zip(group.tolist(), rank.tolist(), count.tolist(), strict=True)) == [
        (0, 1, 1),
        (0, 2, 1),
        (1, 0, 2),
        (1, 2, 1),
    ]


def test_groups_are_numbered_without_gaps() -> None:
    assert Groups.of(np.array([1, 0, 1])).sizes.tolist() == [1, 2]
    with pytest.raises(ValueError, match="negative"):
        Groups.of(np.array([-1, 0]))


def test_persons_of_groups_are_counted_once_each() -> None:
    rng = np.random.default_rng(1)
    labels, persons = rng.integers(0, 5, 60), rng.integers(0, 9, 60)
    labels[labels == 3] = 4
    slow = [len(set(persons[labels == g])) for g in range(6)]
    assert n_persons_in(labels, persons, 6).tolist() == slow
    assert n_persons_in(labels, None, 6).tolist() == [int((labels == g).sum()) for g in range(6)]
