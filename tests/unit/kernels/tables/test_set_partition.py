"""Choosing groups from a pool, against all choices that there are."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from shoal.kernels.compile import interpreted
from shoal.kernels.tables.set_partition import exchange, find_prices

Floats = npt.NDArray[np.float64]
Rows = npt.NDArray[np.int32]
WIDTH = 3


def slow_least(pool: Rows, losses: Floats, n_rows: int) -> float:
    """The least loss of all partitions: cover the first bare record by each of its groups in turn."""

    def least(bare: frozenset[int]) -> float:
        if not bare:
            return 0.0
        first = min(bare)
        groups = ((frozenset(g[g >= 0].tolist()), loss) for g, loss in zip(pool, losses, strict=True))
        fitting = [(members, loss) for members, loss in groups if first in members and members <= bare]
        return min((loss + least(bare - members) for members, loss in fitting), default=np.inf)

    return float(least(frozenset(range(n_rows))))


def make_pool(seed: int, n_rows: int = 12, n_partitions: int = 4) -> tuple[Rows, Floats, Rows]:
    """The distinct groups of some random partitions, losses drawn at random, and the first partition."""
    rng = np.random.default_rng(seed)
    groups: dict[tuple[int, ...], int] = {}
    chosen = np.zeros(n_rows, np.int32)
    for i in range(n_partitions):
        order = rng.permutation(n_rows)
        for part in np.split(order, [2, 5, 7, 10]):
            number = groups.setdefault(tuple(sorted(part.tolist())), len(groups))
            if i == 0:
                chosen[part] = number
    pool = np.array([[*g, *[-1] * (WIDTH - len(g))] for g in groups], np.int32)
    return pool, rng.uniform(0.5, 3.0, size=len(groups)), chosen


def exchanged(pool: Rows, losses: Floats, chosen: Rows, n_tries: int) -> tuple[Rows, float, int]:
    prices, margins = np.full(len(chosen), losses.mean() / WIDTH), np.zeros(len(pool))
    bound = find_prices(pool, losses, float(losses[np.unique(chosen)].sum()), 500, prices, margins)
    group, place = np.nonzero(pool >= 0)
    np.testing.assert_allclose(margins, losses - np.bincount(group, prices[pool[group, place]]), atol=1e-9)
    rows = pool[group, place]
    order = np.lexsort((margins[group], rows))
    first = np.searchsorted(rows[order], np.arange(len(chosen) + 1))
    holding = group[order].astype(np.int32)
    found, total = chosen.copy(), 0
    while True:
        n_gains = exchange(pool, margins, first, holding, found, np.unique(found), 1e-9, n_tries)
        total += n_gains
        if n_gains == 0:
            return found, bound, total


def assert_partition(pool: Rows, chosen: Rows) -> None:
    for g in np.unique(chosen):
        assert pool[g][pool[g] >= 0].tolist() == np.flatnonzero(chosen == g).tolist()


def test_exchanges_reach_the_least_loss_nearly_always_and_never_break_a_partition() -> None:
    n_least, n_better = 0, 0
    for seed in range(60):
        pool, losses, chosen = make_pool(seed, n_partitions=6)
        least = slow_least(pool, losses, len(chosen))
        found, bound, n_gains = exchanged(pool, losses, chosen, 1_000)
        assert_partition(pool, found)
        before, after = losses[np.unique(chosen)].sum(), losses[np.unique(found)].sum()
        assert bound <= least + 1e-9
        assert least - 1e-9 <= after <= before
        assert (n_gains > 0) == (after < before - 1e-9)
        n_least += bool(after < least + 1e-9)
        n_better += n_gains > 0
    assert n_better > 30
    assert n_least >= 55


def test_without_tries_everything_is_put_back() -> None:
    for seed in range(20):
        pool, losses, chosen = make_pool(seed)
        for n_tries in (0, 1, 2):
            found, _, n_gains = exchanged(pool, losses, chosen, n_tries)
            assert_partition(pool, found)
            assert n_gains or found.tolist() == chosen.tolist()


def test_prices_prove_the_best_of_two_partitions() -> None:
    pool = np.array([[0, 1, -1], [2, 3, -1], [0, 2, -1], [1, 3, -1]], np.int32)
    losses = np.array([1.0, 5.0, 2.0, 2.0])
    found, bound, n_gains = exchanged(pool, losses, np.array([0, 0, 1, 1], np.int32), 10)
    assert found.tolist() == [2, 3, 2, 3]
    assert n_gains == 1
    assert 3.9 < bound <= 4.0


def test_prices_are_the_same_numbers_compiled_or_not() -> None:
    for seed in range(20):
        pool, losses, chosen = make_pool(seed, n_partitions=9)
        goal, found = float(losses[np.unique(chosen)].sum()), []
        for is_small in (True, False):
            prices, margins = np.full(len(chosen), losses.mean() / WIDTH), np.zeros(len(pool))
            with interpreted(is_small):
                bound = find_prices(pool, losses, goal, 500, prices, margins)
            found.append((bound, prices.tolist(), margins.tolist()))
        assert found[0] == found[1]
