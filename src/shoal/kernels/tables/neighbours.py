"""The nearest neighbours of every record, by the tree of boxes: exact, and near-linear in the number of records."""

from __future__ import annotations

import numpy as np

from shoal.arrays import Codes, Floats, Ints
from shoal.kernels.compile import compiled
from shoal.kernels.tables.box_tree import BoxTree, build_tree, nearest_rows


@compiled
def _fill_nearest(tree: BoxTree, points: Floats, asked: Ints, nearest: Ints, distances: Floats) -> None:
    """Fill in the nearest other row of each that is asked about, of equals the smallest."""
    gaps, found = np.empty(2), np.empty(2, np.int64)  # the record itself is one, unless two others are equal to it
    for i in range(len(asked)):
        nearest_rows(tree, points[asked[i]], tree.leaf_of[asked[i]], gaps, found)
        best = 0 if found[0] != asked[i] else 1
        other = 1 - best
        if found[other] != asked[i] and (
            gaps[other] < gaps[best] or (gaps[other] == gaps[best] and found[other] < found[best])
        ):
            best = other
        nearest[i], distances[i] = found[best], gaps[best]


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


def nearest_others(points: Floats, n_metric: int, asked: Ints) -> tuple[Ints, Floats]:
    """The nearest other of some records, of equals the smallest row, and its squared distance.

    Distances are those of `shoal.kernels.tables.box_tree`, with all weights 1. There must be two records at least.
    """
    points, nearest, distances = np.ascontiguousarray(points), np.empty(len(asked), np.int64), np.empty(len(asked))
    tree = build_tree(points, np.arange(len(points)), points.mean(axis=0), np.ones(points.shape[1]), n_metric)
    _fill_nearest(tree, points, np.asarray(asked, dtype=np.int64), nearest, distances)
    return nearest, distances
