"""Exchange of records between groups, by what must hold where it ends and by the same moves in another way."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from shoal.kernels.compile import interpreted
from shoal.kernels.tables.record_exchange import NEAREST, exchange
from shoal.tables.encoding import Ranked
from shoal.tables.partition.local_recoding import cells_of
from tests.unit.kernels.tables.test_local_recoding import groups_of, grown, random_cells, slow_loss


def total_loss(ranked, distinct, of_unit, weights, groups) -> float:
    return sum(int(weights[g].sum()) * slow_loss(ranked, distinct, of_unit[g]) for g in groups)


def grown_units(cells, counts, k: int, parts: bool):
    """Units, how many records each is, and groups of them; copies are one unit, or one each."""
    labels, n_groups = grown(cells, k, np.arange(len(counts)), np.array([len(counts)]))
    if not parts:
        return np.arange(len(counts)), counts, labels, n_groups
    of_unit = np.repeat(np.arange(len(counts)), counts)
    return of_unit, np.ones(len(of_unit), dtype=np.int64), labels[of_unit], n_groups


@pytest.mark.parametrize("parts", [False, True], ids=["copies stay together", "copies may part"])
@pytest.mark.parametrize("seed", range(40))
def test_exchange_ends_where_no_move_helps(seed: int, parts: bool) -> None:
    ranked, cells, distinct, counts, k = random_cells(200 + seed)
    of_unit, weights, labels, n_groups = grown_units(cells, counts, k, parts)

    def lost(*groups: list[int]) -> float:
        return total_loss(ranked, distinct, of_unit, weights, groups)

    before = lost(*groups_of(labels))
    moves = exchange(cells, of_unit, weights, labels, n_groups, k, n_groups, 1000)
    groups = groups_of(labels)
    after = lost(*groups)
    assert len(groups) == n_groups
    assert min(weights[g].sum() for g in groups) >= k
    assert (after < before) if moves else (after == before)
    if n_groups > NEAREST + 1:
        return
    for g, h in product(range(n_groups), repeat=2):
        if g == h or max(len(groups[g]), len(groups[h])) > 4 * k:
            continue
        now = lost(groups[g], groups[h])
        for mine in groups[g]:
            rest = [u for u in groups[g] if u != mine]
            if weights[rest].sum() >= k and len(groups[h]) < 4 * k:
                assert lost(rest, [*groups[h], mine]) > now - 1e-6
            for their in groups[h]:
                ours, theirs = [*rest, their], [mine, *(u for u in groups[h] if u != their)]
                if min(weights[ours].sum(), weights[theirs].sum()) >= k:
                    assert lost(ours, theirs) > now - 1e-6


def test_exchange_leaves_windows_apart() -> None:
    # Two groups that a swap would mend, first in one window, then each in its own.
    ranked = [Ranked("x", "category", np.array([0, 0, 1, 1], np.int32), np.arange(2.0))]
    cells = cells_of(ranked, None, np.array([0, 2]), np.array([2, 2]))
    of_unit, weights = np.array([0, 0, 1, 1]), np.ones(4, dtype=np.int64)
    for width, mended in ((2, True), (1, False)):
        labels = np.array([0, 1, 0, 1], dtype=np.int32)
        exchange(cells, of_unit, weights, labels, 2, 2, width, 5)
        assert (labels[0] == labels[1]) == mended


def test_copies_that_stay_together_go_where_enough_are_left() -> None:
    # The three at 9 leave a group of 7 for their own kind, and a group of 5 only in exchange.
    values = Ranked("x", "number", np.array([0, 1, 2, 3], np.int32), np.array([0.0, 1.0, 9.0, 10.0]))
    for counts, moves in (([4, 0, 3, 5], True), ([2, 0, 3, 5], False), ([2, 2, 3, 5], True)):
        rows = np.flatnonzero(counts)
        cells = cells_of([values], None, rows, np.array(counts)[rows])
        labels = np.where(np.isin(rows, [0, 2]), 0, 1).astype(np.int32)
        exchange(cells, np.arange(len(rows)), cells.counts, labels, 2, 4, 2, 5)
        assert (labels[rows == 2] == labels[rows == 3]).all() == moves


@pytest.mark.parametrize("parts", [False, True], ids=["copies stay together", "copies may part"])
@pytest.mark.parametrize("seed", range(40))
def test_moves_are_the_same_whether_they_are_compiled_or_not(seed: int, parts: bool) -> None:
    _, cells, _, counts, k = random_cells(400 + seed)
    of_unit, weights, labels, n_groups = grown_units(cells, counts, k, parts)
    rng = np.random.default_rng(seed)
    if seed % 2:  # groups that are far from good, so that many units move
        labels = labels[rng.permutation(len(labels))] if parts else labels
    width, n_passes = int(rng.integers(1, n_groups + 2)), int(rng.integers(1, 5))
    again = labels.copy()
    n_moves = exchange(cells, of_unit, weights, labels, n_groups, k, width, n_passes)
    with interpreted(True):
        n_again = exchange(cells, of_unit, weights, again, n_groups, k, width, n_passes)
    assert n_moves == n_again
    assert np.array_equal(labels, again)
