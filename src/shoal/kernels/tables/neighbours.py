"""The nearest neighbours of every record, by the tree of boxes: exact, and near-linear in the number of records."""

from __future__ import annotations

import numpy as np

from shoal.arrays import Codes, Floats, Ints
from shoal.kernels.compile import compiled
from shoal.kernels.tables.box_tree import BoxTree, build_tree, nearest_rows


@compiled
def _fill_lists(
    tree: BoxTree, points: Floats, start: int, stop: int, distances: Floats, found: Ints, out: Codes
) -> None:
    """Fill the lists of the rows start .. stop - 1, nearest first, of equals the smallest row first."""
    n_listed = out.shape[1]
    for row in range(start, stop):
        # One more than is listed: the record itself is among its nearest, unless too many others are equal to it.
        nearest_rows(tree, points[row], tree.leaf_of[row], distances, found)
        for i in range(1, len(found)):
            distance, other, at = distances[i], found[i], i
            while at > 0 and (
                distances[at - 1] > distance or (distances[at - 1] == distance and found[at - 1] > other)
            ):
                distances[at], found[at] = distances[at - 1], found[at - 1]
                at -= 1
            distances[at], found[at] = distance, other
        filled = 0
        for i in range(len(found)):
            if found[i] != row and filled < n_listed:
                out[row, filled] = found[i]
                filled += 1


def nearest_lists(points: Floats, weights: Floats, n_metric: int, n_listed: int) -> Codes:
    """List for every record the ``n_listed`` others that are nearest to it.

    Distances are those of `shoal.kernels.tables.box_tree`. There must be more than ``n_listed`` records.
    """
    n_rows = len(points)
    out = np.empty((n_rows, n_listed), np.int32)
    if n_listed == 0:
        return out
    tree = build_tree(points, np.arange(n_rows), points.mean(axis=0), weights, n_metric)
    _fill_lists(tree, points, 0, n_rows, np.empty(n_listed + 1), np.empty(n_listed + 1, np.int64), out)
    return out
