"""The near-linear way of microaggregation: for tables on which looking at all records at once takes too long.

Records are put in the order of a path through near ones and cut into the best groups of consecutive ones, as in
`shoal.tables.partition.curve`. Then records relocate and change places, and groups form and dissolve, while that
lowers the within-group sum of squares (`shoal.kernels.tables.local_search`), a fixed number of times over. The moves
look at the near records that the path was made from and at no others, so everything grows as n log n.

**Guarantee**: every group has k to 2k-1 records.

**Not protected**: what a group has in common, as for every partition by quasi-identifiers alone.

References
----------
J. Domingo-Ferrer, A. Martinez-Balleste, J. M. Mateo-Sanz, F. Sebe, "Efficient multivariate data-oriented
microaggregation", VLDB Journal 15(4), 2006, section 4: the best cut along a path. The path and the moves are ours.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from shoal.arrays import Codes
from shoal.kernels.tables.curve import curve_order, turned_frames
from shoal.kernels.tables.local_search import descend, fill_groups, lay_out, regroup
from shoal.kernels.tables.mdav import MixedPoints
from shoal.kernels.tables.near_path import grid_axes, near_order_and_places
from shoal.kernels.tables.shortest_path import cut_order
from shoal.tables.microaggregation.merge_runs import number_groups

FEWEST_LISTED, MOST_LISTED = 10, 40  # near records of each, 2k between these: twice as many gained under 1 %
ROUNDS = 3  # the second and third gain 1 to 2 % together, further ones next to nothing
MOST_LOOKS = 20  # at a record in a round, on average; 3 were the most seen
LEAST_SHARE = 1e-12  # of the loss; a gain below it is rounding


def near_linear_labels(data: MixedPoints, k: int) -> Codes:
    """Group records along a path, then improve the groups by moves between near ones.

    Parameters
    ----------
    data : MixedPoints
        k records at least; those of a block keep the scale of the whole table.
    k : int
        Smallest size of a group, 2 at least.

    Returns
    -------
    int32 array (n_rows,)
        The group of each record, numbered by their first records.
    """
    n_listed = min(max(FEWEST_LISTED, 2 * k), MOST_LISTED)
    order, near = near_order_and_places(data.points, data.weights, data.n_metric, k, n_listed)
    cut, loss = cut_order(data.points, data.weights, data.n_metric, order, k)
    points = data.points[order]  # neighbours lie near in memory, too
    groups = lay_out(points, data.weights, data.n_metric, near, cut[order], k)
    n_rows, least = len(order), LEAST_SHARE * loss
    asked, seen = np.ones(n_rows, np.bool_), np.full(len(groups.sizes), -1, np.int32)
    for _ in range(ROUNDS):
        waiting = np.flatnonzero(asked)
        queue = np.zeros(n_rows, np.int32)
        queue[: len(waiting)] = waiting
        descend(groups, queue, asked, np.array([0, len(waiting)]), MOST_LOOKS * n_rows, least, seen)
        fill_groups(groups)
        rows = np.concatenate([np.arange(n_rows), groups.members[groups.sizes > 0, 0]])
        if not regroup(groups, rows, np.full(len(rows), -least), np.arange(len(rows)) < n_rows, asked):
            break
    labels = np.empty(n_rows, np.int32)
    labels[order] = groups.labels
    return number_groups(labels)


def curve_blocks(data: MixedPoints, k: int, block_rows: int) -> list[Codes]:
    """Cut records into blocks of about equal numbers, at most ``block_rows``, along a Hilbert curve.

    Median cuts of one attribute at a time would part the few records of a long tail; the curve leaves most of them
    together. Every block has k records at least, whatever ``block_rows`` says; its rows keep their order.
    """
    n_rows = len(data.points)
    n_blocks = max(1, min(-(-n_rows // block_rows), n_rows // k))
    axes = grid_axes(data.points, data.weights, data.n_metric)
    order = curve_order(axes, *turned_frames(axes.shape[1], 1)[0])
    stops = np.arange(n_blocks + 1) * n_rows // n_blocks
    return [np.sort(order[a:b]).astype(np.int32) for a, b in pairwise(stops)]


def squares_within(data: MixedPoints, labels: Codes) -> float:
    """The sum of the squared distances of all pairs of each group over its size, for groups of any size.

    Over metric columns this is the sum of squares around the means.
    """
    labels = number_groups(labels)
    sizes = np.bincount(labels)
    total = 0.0
    for j, column in enumerate(data.points.T):
        if j < data.n_metric:
            mean = np.bincount(labels, column) / sizes
            total += float(((column - mean[labels]) ** 2).sum())
            continue
        alike, counts = np.unique(np.column_stack([labels, column]), axis=0, return_counts=True)
        equal = np.bincount(alike[:, 0].astype(np.intp), counts.astype(np.float64) ** 2)
        total += float(data.weights[j] * ((sizes - equal / sizes) / 2).sum())
    return total


def group_blocks(data: MixedPoints, labels: Codes, block_rows: int) -> list[Codes]:
    """Cut records into blocks of about ``block_rows``, whole groups each, along a Hilbert curve through the groups."""
    groups, first, of = np.unique(labels, return_index=True, return_inverse=True)
    axes = grid_axes(data.points, data.weights, data.n_metric)[first]  # the first record stands for its group
    along = curve_order(axes, *turned_frames(axes.shape[1], 1)[0])
    rank = np.empty(len(groups), np.intp)
    rank[along] = np.arange(len(groups))
    ends = np.cumsum(np.bincount(of)[along])
    block_of_group = (ends - 1) * -(-len(labels) // block_rows) // len(labels)
    block_of = block_of_group[rank[of]]
    order = np.argsort(block_of, kind="stable").astype(np.int32)
    return [part for part in np.split(order, np.flatnonzero(np.diff(block_of[order])) + 1) if len(part)]
