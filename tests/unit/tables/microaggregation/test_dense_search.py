"""The search of small tables: what its moves cost, beside all pairs counted anew, and where it ends."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.kernels.compile import interpreted
from shoal.tables.microaggregation import dense_search
from shoal.tables.microaggregation.dense_search import (
    DenseGroups,
    anneal,
    copies_of,
    descend,
    distances,
    nearest_of,
    regroup,
)
from shoal.tables.microaggregation.improve import improve
from shoal.tables.microaggregation.merge_runs import number_groups

Labels = npt.NDArray[np.intp]
CASES = given(st.integers(2, 4), st.integers(2, 9), st.booleans(), st.integers(0, 2**32 - 1))


def slow_loss(groups: DenseGroups, labels: Labels) -> float:
    """Distances of all pairs of a group over its size, added up."""
    members = [np.flatnonzero(labels == g) for g in np.unique(labels)]
    return float(sum(groups.apart[np.ix_(rows, rows)].sum() / 2 / len(rows) for rows in members))


def moved(labels: Labels, *moves: tuple[int, int]) -> Labels:
    changed = labels.copy()
    for row, g in moves:
        changed[row] = g
    return changed


def some_groups(k: int, n_groups: int, is_rounded: bool, seed: int) -> tuple[DenseGroups, np.random.Generator]:
    """Groups of random points, of k to 2k-1 each; rounded ones have equal distances."""
    rng = np.random.default_rng(seed)
    labels = np.repeat(np.arange(n_groups), rng.integers(k, 2 * k, n_groups))
    points = rng.normal(size=(len(labels), 3))
    points[:, 2] = rng.integers(0, 3, len(labels))
    points = np.round(points, 0 if is_rounded else 6)
    return DenseGroups(distances(points, np.array([1.0, 1.0, 0.7]), 2), rng.permutation(labels), k), rng


def assert_whole(groups: DenseGroups) -> None:
    """What is kept up to date is what it would be if made anew."""
    again = DenseGroups(groups.apart, groups.labels, groups.k)
    assert groups.sizes.tolist() == again.sizes.tolist()
    held = groups.sizes[groups.sizes > 0]
    assert groups.k <= held.min() <= held.max() < 2 * groups.k
    np.testing.assert_allclose(groups.totals, again.totals, atol=1e-9)
    np.testing.assert_allclose(groups.pairs, again.pairs, atol=1e-9)
    everyone = np.arange(len(groups.labels))
    assert groups.members[groups.labels, groups.place].tolist() == everyone.tolist()
    assert (groups.members >= 0).sum() == len(everyone)
    assert groups.loss() == pytest.approx(slow_loss(groups, groups.labels))


def test_distances_are_squares_of_numbers_and_weights_of_categories() -> None:
    points = np.array([[0.0, 1.0], [3.0, 1.0], [3.0, 2.0]])
    found = distances(points, np.array([1.0, 0.5]), 1)
    assert found.tolist() == [[0.0, 9.0, 9.5], [9.0, 0.0, 0.5], [9.5, 0.5, 0.0]]
    assert nearest_of(found, 2).tolist() == [[1, 2], [2, 0], [1, 0]]


@CASES
@settings(max_examples=60, deadline=None)
def test_a_move_costs_what_it_changes(k: int, n_groups: int, is_rounded: bool, seed: int) -> None:
    groups, rng = some_groups(k, n_groups, is_rounded, seed)
    before = slow_loss(groups, groups.labels)
    for x, z in rng.integers(len(groups.labels), size=(20, 2)):
        a, b = int(groups.labels[x]), int(groups.labels[z])
        if a == b:
            continue
        after = slow_loss(groups, moved(groups.labels, (x, b), (z, a)))
        assert groups.swap_changes(np.array([x]), np.array([z]))[0] == pytest.approx(after - before, abs=1e-9)
        alone = slow_loss(groups, moved(groups.labels, (x, b)))
        cost = groups.entering(np.array([x]), np.array([b])) - groups.leaving(np.array([x]))
        assert cost[0] == pytest.approx(alone - before, abs=1e-9)


@CASES
@settings(max_examples=60, deadline=None)
def test_a_descent_ends_where_no_move_gains(k: int, n_groups: int, is_rounded: bool, seed: int) -> None:
    groups, _ = some_groups(k, n_groups, is_rounded, seed)
    before = groups.loss()
    descend(groups, 1e-9)
    assert_whole(groups)
    assert groups.loss() <= before + 1e-9
    labels, sizes, now = groups.labels, groups.sizes, groups.loss()
    for x in range(len(labels)):
        for z in range(len(labels)):
            if labels[x] != labels[z]:
                assert slow_loss(groups, moved(labels, (x, labels[z]), (z, labels[x]))) >= now - 2e-9
        for g in np.flatnonzero((sizes > 0) & (sizes < 2 * k - 1)):
            if sizes[labels[x]] > k and g != labels[x]:
                assert slow_loss(groups, moved(labels, (x, g))) >= now - 2e-9


@CASES
@settings(max_examples=60, deadline=None)
def test_groups_come_and_go_only_where_that_gains(k: int, n_groups: int, is_rounded: bool, seed: int) -> None:
    groups, _ = some_groups(k, n_groups, is_rounded, seed)
    near = nearest_of(groups.apart, len(groups.labels) - 1)
    before = groups.loss()
    n_made = regroup(groups, near, np.full(len(groups.labels), -1e-9), np.full(len(groups.sizes), -1e-9))
    assert_whole(groups)
    assert groups.loss() <= before - 1e-9 * n_made + 1e-12


@CASES
@settings(max_examples=40, deadline=None)
def test_annealed_groups_are_whole(k: int, n_groups: int, is_rounded: bool, seed: int) -> None:
    groups, rng = some_groups(k, n_groups, is_rounded, seed)
    near = nearest_of(groups.apart, len(groups.labels) - 1)
    for warmth in (10.0, 0.1):  # with the first, nearly every move is made
        anneal(groups, near, np.full(len(groups.labels), warmth), rng)
        assert_whole(groups)


@CASES
@settings(max_examples=40, deadline=None)
def test_copies_are_searched_as_if_each_were_alone(k: int, n_groups: int, is_rounded: bool, seed: int) -> None:
    """Nobody moves into a group of another copy, and what is known of each is what it would be if made anew."""
    one, rng = some_groups(k, n_groups, is_rounded, seed)
    n_rows, labels = len(one.labels), one.labels.copy()
    several = DenseGroups(one.apart, labels, k, 3)
    descend(one, 1e-9)
    descend(several, 1e-9)
    assert [found.tolist() for found in several.numbered()] == 3 * [one.numbered()[0].tolist()]
    near = nearest_of(one.apart, n_rows - 1)
    for warmth, n_ways in ((10.0, 1), (0.1, 2)):
        anneal(several, near, np.full(n_rows, warmth), rng, n_ways)
        assert (several.labels // several.n_slots).tolist() == np.repeat(np.arange(3), n_rows).tolist()
        for copy, found in enumerate(several.numbered()):
            again = DenseGroups(one.apart, several.labels[several.offsets == copy * n_rows] - copy * several.n_slots, k)
            slots = slice(copy * several.n_slots, (copy + 1) * several.n_slots)
            assert found.tolist() == again.numbered()[0].tolist()
            assert_whole(again)
            np.testing.assert_allclose(several.totals[slots], again.totals, atol=1e-9)
            np.testing.assert_allclose(several.pairs[slots], again.pairs, atol=1e-9)
            assert several.sizes[slots].tolist() == again.sizes.tolist()
            rows = np.flatnonzero(several.offsets == copy * n_rows)
            assert several.members[several.labels[rows], several.place[rows]].tolist() == rows.tolist()
    assert (several.members >= 0).sum() == 3 * n_rows


def test_fewer_records_are_searched_in_more_copies() -> None:
    assert [copies_of(n_rows, 1_000) for n_rows in (1_000, 501, 500, 300, 40, 5)] == [1, 1, 2, 3, 25, 25]


def groups_on_a_line(places: list[int], labels: list[int], k: int) -> DenseGroups:
    return DenseGroups(distances(np.array(places, float)[:, None], np.ones(1), 1), np.array(labels), k)


def test_a_group_is_dissolved_where_others_take_its_records() -> None:
    groups = groups_on_a_line([0, 0, 0, 9, 9, 9], [0, 0, 1, 1, 2, 2], 2)
    assert regroup(groups, nearest_of(groups.apart, 5), np.full(6, -0.1), np.full(3, -0.1)) == 1
    assert sorted(groups.sizes.tolist()) == [0, 3, 3]
    assert groups.loss() == 0.0


def test_a_group_is_formed_of_those_who_can_be_spared() -> None:
    groups = groups_on_a_line([0, 0, 5, 9, 9, 5], [0, 0, 0, 1, 1, 1], 2)
    assert regroup(groups, nearest_of(groups.apart, 5), np.full(6, -0.1), np.full(3, -0.1)) == 1
    assert groups.sizes.tolist() == [2, 2, 2]
    assert groups.loss() == 0.0
    full = groups_on_a_line([0, 0, 5, 9, 9], [0, 0, 0, 1, 1], 2)  # one can be spared, and there is no room
    assert regroup(full, nearest_of(full.apart, 4), np.full(5, 99.0), np.full(2, -99.0)) == 0


def test_moves_that_share_a_group_are_made_once() -> None:
    a, b = np.array([0, 1, 2, 3, 5]), np.array([1, 2, 3, 4, 6])
    assert dense_search._first_of_their_groups(a, b, 7).tolist() == [True, False, False, False, True]
    assert dense_search._first_of_their_groups(a[:0], b[:0], 7).tolist() == []


def test_small_tables_get_the_same_groups_compiled_or_not() -> None:
    from tests.unit.tables.microaggregation.test_improve import mixed_table

    ranked = mixed_table(120)
    start = number_groups(np.random.default_rng(1).permutation(120) % 30)
    with interpreted(True):
        found = improve(ranked, start, 4)
    assert found.tolist() == improve(ranked, start, 4).tolist()
