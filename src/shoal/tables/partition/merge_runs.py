"""The best of two partitions, place by place.

Join the groups of both that share a record. Each joined set is made of whole groups of the one and of whole groups of
the other, so either may be taken there, whatever is taken elsewhere: the one that loses less. The result loses no more
than either partition, and every group of it is a group of one of them.

References
----------
The same idea for tours: D. Whitley, D. Hains, A. Howe, "Tunneling between optima: partition crossover for the
traveling salesman problem", GECCO 2009.
"""

from __future__ import annotations

import numpy as np

from shoal.kernels.local_search import group_losses, lay_out
from shoal.kernels.mdav import MixedPoints
from shoal.kernels.merge_runs import join_groups
from shoal.tables.partition.base import Labels

LEAST_SHARE = 1e-12  # of the loss; differences below it are rounding


def number_groups(labels: Labels) -> Labels:
    """The same groups, numbered 0, 1, ... by their first record."""
    _, first, group = np.unique(labels, return_index=True, return_inverse=True)
    number = np.empty(len(first), np.int32)
    number[np.argsort(first)] = np.arange(len(first))
    return np.asarray(number[group.reshape(-1)], dtype=np.int32)


def losses_of(data: MixedPoints, labels: Labels, k: int) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """The loss of each group of a partition into groups numbered 0, 1, ... of k to 2k-1 records."""
    none_near = np.empty((len(labels), 0), np.int32)
    groups = lay_out(data.points, data.weights, data.n_metric, none_near, labels, k)
    losses = np.zeros(len(groups.sizes))
    group_losses(groups, losses)
    return losses[: int(labels.max()) + 1]


def merge_runs(data: MixedPoints, first: Labels, second: Labels, k: int) -> Labels:
    """Take the better of two partitions wherever they differ; of equals the first.

    Both have groups of k to 2k-1 records, numbered 0, 1, ...; so has the result.
    """
    n_first, n_second = int(first.max()) + 1, int(second.max()) + 1
    root = np.arange(n_first + n_second)
    join_groups(first, second, n_first, root)
    loss = np.bincount(root[:n_first], losses_of(data, first, k), n_first)
    other = np.bincount(root[n_first:], losses_of(data, second, k), n_first)
    is_better = other < loss - LEAST_SHARE * loss.sum()
    return number_groups(np.where(is_better[root[first]], n_first + second, first).astype(np.int32))
