"""The changes of the loss that the search adds up, against the loss computed from its definition."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from shoal.kernels.tables.local_search import (
    descend,
    entering_cost,
    group_losses,
    leaving_gain,
    regroup,
    relocate,
    swap_differing,
    swap_spread,
)
from tests.unit.kernels.tables.local_groups import Floats, assert_whole, make_groups


def slow_loss(distances: Floats, labels: npt.NDArray[np.int32]) -> float:
    """Distances of all pairs of a group over its size, added up."""
    members = [np.flatnonzero(labels == g) for g in np.unique(labels)]
    return float(sum(distances[np.ix_(rows, rows)].sum() / 2 / len(rows) for rows in members))


@pytest.mark.parametrize("n_categories", [0, 2])
def test_relocation_changes_the_loss_by_what_was_foretold(n_categories: int) -> None:
    groups, distances = make_groups(n_categories)
    rng = np.random.default_rng(1)
    for _ in range(200):
        x, g = int(rng.integers(60)), int(rng.integers(12))
        if groups.labels[x] == g or groups.sizes[g] == 8 or groups.sizes[groups.labels[x]] == 1:
            continue
        before = slow_loss(distances, groups.labels)
        change = entering_cost(groups, x, g) - leaving_gain(groups, x)
        relocate(groups, x, g)
        assert slow_loss(distances, groups.labels) - before == pytest.approx(change, abs=1e-9)


@pytest.mark.parametrize("n_categories", [0, 2])
def test_swap_changes_the_loss_by_what_was_foretold(n_categories: int) -> None:
    groups, distances = make_groups(n_categories)
    rng = np.random.default_rng(2)
    for _ in range(200):
        x, z = (int(row) for row in rng.integers(60, size=2))
        a, b = int(groups.labels[x]), int(groups.labels[z])
        if a == b:
            continue
        before = slow_loss(distances, groups.labels)
        change = swap_spread(groups.points, groups.sums, groups.n_metric, x, z, a, b, groups.sizes)
        change += swap_differing(
            groups.points, groups.weights, groups.n_metric, groups.members, groups.sizes, x, z, a, b
        )
        relocate(groups, x, b)
        relocate(groups, z, a)
        assert slow_loss(distances, groups.labels) - before == pytest.approx(change, abs=1e-9)
    assert_whole(groups)


@pytest.mark.parametrize("n_categories", [0, 2])
def test_losses_of_groups_add_up_to_the_definition(n_categories: int) -> None:
    groups, distances = make_groups(n_categories)
    losses = np.zeros(len(groups.sizes))
    group_losses(groups, losses)
    assert losses.sum() == pytest.approx(slow_loss(distances, groups.labels))


@pytest.mark.parametrize("n_categories", [0, 2])
@pytest.mark.parametrize("is_form", [True, False])
def test_regrouping_keeps_to_its_limit_or_takes_everything_back(n_categories: int, is_form: bool) -> None:
    # Twelve groups of five where fifteen of four fit: there is room to form, and to dissolve.
    groups, distances = make_groups(n_categories)
    n_changed = 0
    for limit in (-np.inf, 0.5, np.inf, np.inf, 0.0):
        for x in range(0, 60, 3):
            before, labels = slow_loss(distances, groups.labels), groups.labels.copy()
            asked = np.zeros(60, np.bool_)
            made = regroup(groups, np.array([x]), np.array([limit]), np.array([is_form]), asked)
            assert_whole(groups)
            assert made == (labels != groups.labels).any()
            if made:
                n_changed += 1
                assert slow_loss(distances, groups.labels) - before < limit
                assert asked[labels != groups.labels].all()
                n_groups = len(np.unique(groups.labels)) - len(np.unique(labels))
                assert n_groups == (1 if is_form else -1)
    assert n_changed > 0


@pytest.mark.parametrize("n_categories", [0, 2])
def test_descent_ends_where_no_move_gains(n_categories: int) -> None:
    groups, distances = make_groups(n_categories)
    before = slow_loss(distances, groups.labels)
    queue, asked, ends = np.arange(60, dtype=np.int32), np.ones(60, np.bool_), np.array([0, 60])
    descend(groups, queue, asked, ends, 10**6, 1e-9, np.full(len(groups.sizes), -1, np.int32))
    assert ends[1] == 0
    assert not asked.any()
    assert_whole(groups)
    after = slow_loss(distances, groups.labels)
    assert after < before
    for x in range(60):
        for z in groups.near[x]:
            a, b = groups.labels[x], groups.labels[z]
            if a == b:
                continue
            trials = [(w, a) for w in groups.members[b, : groups.sizes[b]]]
            if groups.sizes[a] > groups.k and groups.sizes[b] < 2 * groups.k - 1:
                trials.append((x, b))
            for other, goal in trials:
                labels = groups.labels.copy()
                labels[x], labels[other] = b, goal
                assert slow_loss(distances, labels) > after - 2e-9
