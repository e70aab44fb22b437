"""The best partition that can be put together from the groups of several.

Every group of the result is a group of one of them, and it loses no more than any of them. To choose the groups is set
partitioning; `shoal.kernels.tables.set_partition` comes near its optimum, or reaches it.

References
----------
E. Balas, M. W. Padberg, "Set partitioning: a survey", SIAM Review 18(4), 1976.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from shoal.arrays import Codes
from shoal.kernels.tables.local_search import group_losses, lay_out
from shoal.kernels.tables.mdav import MixedPoints
from shoal.kernels.tables.set_partition import exchange, find_prices

LEAST_SHARE = 1e-12  # of the loss; differences below it are rounding
PRICE_ROUNDS = 2_000
MOST_PASSES = 20
LEAST_GAIN = 1e-5  # of the loss: a pass that gains less is the last
TRIES_A_START, TRIES_A_PASS = 1_000, 300_000  # groups put in: a pass takes a second, however many records there are
TRIES_A_CALL = 200_000  # between two looks at the clock


def number_groups(labels: Codes) -> Codes:
    """The same groups, numbered 0, 1, ... by their first record."""
    _, first, group = np.unique(labels, return_index=True, return_inverse=True)
    number = np.empty(len(first), np.int32)
    number[np.argsort(first)] = np.arange(len(first))
    return np.asarray(number[group.reshape(-1)], dtype=np.int32)


def losses_of(data: MixedPoints, labels: Codes, k: int) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """The loss of each group of a partition into groups numbered 0, 1, ... of k to 2k-1 records."""
    none_near = np.empty((len(labels), 0), np.int32)
    groups = lay_out(data.points, data.weights, data.n_metric, none_near, labels, k)
    losses = np.zeros(len(groups.sizes))
    group_losses(groups, losses)
    return losses[: int(labels.max()) + 1]


def merge_pool(
    data: MixedPoints,
    partitions: Sequence[Codes],
    k: int,
    is_over: Callable[[], bool] = lambda: False,
    tries_a_pass: int = TRIES_A_PASS,
) -> Codes:
    """Put a partition together from groups of several, which loses no more than any of them.

    All have groups of k to 2k-1 records, numbered 0, 1, ...; so has the result. Of equals the first is kept.

    Parameters
    ----------
    data : MixedPoints
    partitions : sequence of int32 array (n_rows,)
    k : int
    is_over : callable, optional
        Asked now and then; True ends the search early, with a partition that is whole.
    tries_a_pass : int
        Groups put in: fewer where loops are interpreted, and at least one for each group of the best partition.
    """
    all_losses = [losses_of(data, labels, k) for labels in partitions]
    totals = [losses.sum() for losses in all_losses]
    best = int(np.argmin(totals))
    goal, n_rows = totals[best], len(data.points)
    pool, kept, number = np.unique(
        np.concatenate([_listed(labels, k) for labels in partitions]), axis=0, return_index=True, return_inverse=True
    )
    losses = np.concatenate(all_losses)[kept]
    n_before = sum(len(some) for some in all_losses[:best])
    chosen = number.reshape(-1)[n_before + partitions[best]].astype(np.int32)
    group, place = np.nonzero(pool >= 0)
    rows = pool[group, place]
    prices = np.full(n_rows, np.inf)
    np.minimum.at(prices, rows, (losses / (pool >= 0).sum(axis=1))[group])
    margins = np.zeros(len(pool))
    find_prices(pool, losses, goal, PRICE_ROUNDS, prices, margins)
    order = np.lexsort((margins[group], rows))
    holding, first = group[order].astype(np.int32), np.searchsorted(rows[order], np.arange(n_rows + 1))
    for _ in range(MOST_PASSES):
        taken = np.unique(chosen)
        starts = taken[np.argsort(-margins[taken], kind="stable")]
        n_tries = max(1, min(TRIES_A_START, tries_a_pass // len(starts)))
        n_gains = 0
        for some in np.array_split(starts, 1 + len(starts) * n_tries // TRIES_A_CALL):
            if is_over():
                return number_groups(chosen)
            n_gains += exchange(pool, margins, first, holding, chosen, some, LEAST_SHARE * goal, n_tries)
        before, goal = goal, losses[np.unique(chosen)].sum()
        if n_gains == 0 or before - goal < LEAST_GAIN * goal:
            break
    return number_groups(chosen)


def _listed(labels: Codes, k: int) -> Codes:
    """The records of each group, ascending, then -1."""
    order = np.argsort(labels, kind="stable")
    sizes = np.bincount(labels)
    listed = np.full((len(sizes), 2 * k - 1), -1, np.int32)
    listed[labels[order], np.arange(len(labels)) - np.repeat(np.cumsum(sizes) - sizes, sizes)] = order
    return listed
