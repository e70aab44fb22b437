"""MDAV-generic over a tree of boxes: the clusters of the quadratic scan, without a look at every record."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.arrays import Codes, Floats, Ints
from shoal.kernels.compile import compiled
from shoal.kernels.tables.box_tree import BoxTree, build_tree, farthest_row, nearest_rows, remove_row


class MixedPoints(NamedTuple):
    """Records as points, and what is needed to average them.

    An attribute whose average is a category is *counted*. It owns one column or, with a taxonomy, several.

    Attributes
    ----------
    points, weights : float64 arrays (n_rows, n_columns), (n_columns,)
        Metric columns first; distances are those of `shoal.kernels.tables.box_tree`, and weights of the other columns.
    codes : int32 array (n_rows, n_counted)
        Ranks of the counted attributes.
    starts : int64 array (n_counted + 1,)
        Attribute a has ``starts[a + 1] - starts[a]`` ranks.
    is_median : int64 array (n_counted,)
        1 if its average is the median category, 0 if the most frequent one; of equals the smallest rank.
    owner : int64 array (n_columns,)
        The counted attribute that owns a column; -1 if the average of the column is its mean.
    offsets : int64 array (n_columns,)
    coordinates : float64 array
        ``coordinates[offsets[j] + rank]`` is column j of the records that have this rank in ``owner[j]``.
    n_metric : int
    """

    points: Floats
    weights: Floats
    codes: Codes
    starts: Ints
    is_median: Ints
    owner: Ints
    offsets: Ints
    coordinates: Floats
    n_metric: int


@compiled
def add_exactly(sums: Floats, rests: Floats, j: int, value: float) -> None:
    """Add to the running sum sums[j] + rests[j], exact to twice the digits (Knuth's two-sum, normalised).

    A plain running sum drifts, and which of two records is the farthest from the average would depend on the
    drift.
    """
    total = sums[j] + value
    part = total - sums[j]
    rest = rests[j] + ((sums[j] - (total - part)) + (value - part))
    sums[j] = total + rest
    rests[j] = rest - (sums[j] - total)


@compiled
def sum_exactly(points: Floats, sums: Floats, rests: Floats) -> None:
    """Add all records."""
    for i in range(len(points)):
        for j in range(len(sums)):
            add_exactly(sums, rests, j, points[i, j])


@compiled
def _average(data: MixedPoints, sums: Floats, counts: Ints, n_alive: int, ranks: Ints, out: Floats) -> None:
    """The average record: mean, median category (the first with half of the records), or mode."""
    for a in range(len(data.is_median)):
        start = data.starts[a]
        rank = start
        if data.is_median[a]:
            below = counts[start]
            while 2 * below < n_alive:
                rank += 1
                below += counts[rank]
        else:
            for r in range(start + 1, data.starts[a + 1]):
                if counts[r] > counts[rank]:
                    rank = r
        ranks[a] = rank - start
    for j in range(len(out)):
        owner = data.owner[j]
        out[j] = sums[j] / n_alive if owner < 0 else data.coordinates[data.offsets[j] + ranks[owner]]


@compiled
def _form_clusters(
    data: MixedPoints,
    k: int,
    tree: BoxTree,
    n_alive: int,
    enough: int,
    sums: Floats,
    rests: Floats,
    counts: Ints,
    labels: Codes,
    label: int,
) -> int:
    """Form clusters until at most ``enough`` records, or less than 2k, are left; return the next label."""
    points = data.points
    query, ranks = np.zeros(points.shape[1]), np.zeros(len(data.is_median), np.int64)
    distances, members = np.zeros(k), np.zeros(k, np.int64)
    x_r = -1  # set while its partner x_s is still to come
    while n_alive >= 2 * k and (n_alive > enough or x_r >= 0):
        if x_r < 0:
            _average(data, sums, counts, n_alive, ranks, query)
        else:
            # x_s is chosen before the cluster of x_r goes, and again if that cluster holds it: either way it
            # is the record farthest from x_r among those that stay.
            for j in range(len(query)):
                query[j] = points[x_r, j]
        seed = farthest_row(tree, query)
        x_r = seed if x_r < 0 and n_alive >= 3 * k else -1
        home = tree.leaf_of[seed]
        members[0] = seed
        for i in range(k):
            if i == 1:  # the seed has left the tree and is not its own neighbour
                nearest_rows(tree, points[seed], home, distances[1:], members[1:])
            row = members[i]
            remove_row(tree, row)
            labels[row] = label
            for j in range(len(sums)):
                add_exactly(sums, rests, j, -points[row, j])
            for a in range(len(ranks)):
                counts[data.starts[a] + data.codes[row, a]] -= 1
        n_alive -= k
        label += 1
    return label


def label_mdav(data: MixedPoints, k: int) -> Codes:
    """Label the records by MDAV-generic, the clusters numbered in the order in which they form.

    Ties go to the smallest row. The number of records must be k >= 2 or more.
    """
    n_rows = len(data.points)
    labels = np.full(n_rows, -1, np.int32)
    sums, rests = np.zeros(data.points.shape[1]), np.zeros(data.points.shape[1])
    sum_exactly(data.points, sums, rests)
    counts = np.concatenate(
        [np.zeros(0, np.int64)]
        + [np.bincount(c, minlength=n) for c, n in zip(data.codes.T, np.diff(data.starts), strict=True)]
    )
    label = 0
    while n_rows - label * k >= 2 * k:
        # The outer leaves empty first. A tree over what is left is cheap, and has full leaves again.
        alive = np.flatnonzero(labels < 0)
        tree = build_tree(data.points, alive, sums / len(alive), data.weights, data.n_metric)
        enough = 7 * len(alive) // 10
        label = _form_clusters(data, k, tree, len(alive), enough, sums, rests, counts, labels, label)
    labels[labels < 0] = label
    return labels
