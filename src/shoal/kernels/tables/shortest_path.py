"""The optimal cut of a sequence of records into groups of k to 2k - 1 consecutive ones.

The cost of a group is the sum of the squared distances of all pairs of its records over their number, with the
distances of `shoal.kernels.tables.box_tree`; in metric columns that is the sum of squared deviations from the mean. A
group of 2k or more costs no less than its two halves, so sizes of k to 2k - 1 suffice.

References
----------
S. L. Hansen, S. Mukherjee, "A polynomial algorithm for optimal univariate microaggregation", IEEE TKDE 15(4), 2003: the
shortest path from no record to all, with one edge for each possible group.
"""

from __future__ import annotations

import numpy as np

from shoal.arrays import Codes, Floats, Ints
from shoal.kernels.compile import compiled


@compiled
def _shortest_path(
    points: Floats, weights: Floats, n_metric: int, order: Ints, k: int, counts: Codes, best: Floats, sizes: Codes
) -> None:
    """Find the least cost of the first ``stop`` records, and the size of the last group in it, for every stop."""
    n_columns = points.shape[1]
    mean = np.zeros(n_metric)
    best[0] = 0.0
    for stop in range(1, len(order) + 1):
        best[stop] = np.inf
        squares, apart = 0.0, 0.0  # deviations from the mean; pairs that differ, weighted
        for j in range(n_metric):
            mean[j] = 0.0
        most = min(2 * k - 1, stop)
        for size in range(1, most + 1):
            row = order[stop - size]
            share = 1.0 / size
            for j in range(n_metric):
                step = points[row, j] - mean[j]
                mean[j] += step * share
                squares += step * (points[row, j] - mean[j])
            for j in range(n_metric, n_columns):
                code = int(points[row, j])
                apart += weights[j] * (size - 1 - counts[j, code])
                counts[j, code] += 1
            if size >= k:
                cost = best[stop - size] + squares + apart * share
                if cost < best[stop]:
                    best[stop], sizes[stop] = cost, size
        for size in range(1, most + 1):
            for j in range(n_metric, n_columns):
                counts[j, int(points[order[stop - size], j])] = 0


@compiled
def _walk_back(sizes: Codes, order: Ints, labels: Codes) -> None:
    """Number the groups of the shortest path from the first record on."""
    stop, label = len(order), -1
    while stop > 0:
        stop -= sizes[stop]
        label += 1
    stop = len(order)
    while stop > 0:
        size = sizes[stop]
        for i in range(stop - size, stop):
            labels[order[i]] = label
        stop -= size
        label -= 1


def cut_order(points: Floats, weights: Floats, n_metric: int, order: Ints, k: int) -> tuple[Codes, float]:
    """Cut the rows, in a given order, into groups of k to 2k - 1 at the least cost.

    Parameters
    ----------
    points : float64 array (n_rows, n_columns)
        Metric columns first; the others hold whole numbers from 0 on.
    weights : float64 array (n_columns,)
        Of the columns that are not metric.
    n_metric : int
    order : int64 array (n_rows,)
    k : int
        At most the number of rows.

    Returns
    -------
    labels : int32 array (n_rows,)
        Groups 0, 1, ... in the given order.
    cost : float
        The sum of the costs of the groups.
    """
    n_rows, n_columns = points.shape
    best, sizes = np.empty(n_rows + 1), np.zeros(n_rows + 1, np.int32)
    counts = np.zeros((n_columns, int(points[:, n_metric:].max(initial=0)) + 1), np.int32)
    _shortest_path(points, weights, n_metric, order, k, counts, best, sizes)
    labels = np.empty(n_rows, np.int32)
    _walk_back(sizes, order, labels)
    return labels, float(best[n_rows])
