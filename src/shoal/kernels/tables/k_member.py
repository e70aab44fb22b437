"""Greedy k-member clustering and grouping by nearest neighbours, over a tree: the groups of the quadratic scans."""

from __future__ import annotations

import numpy as np

from shoal.arrays import Codes, Floats, Ints
from shoal.kernels.compile import compiled
from shoal.kernels.tables.box_tree import NONE
from shoal.kernels.tables.width_tree import (
    WidthPoints,
    WidthSpan,
    WidthTree,
    build_width_tree,
    farthest_head,
    nearest_to_span,
    remove_head,
    span_room,
    start_span,
    widen_span,
)


@compiled
def _grow_clusters(
    points: Floats,
    k: int,
    tree: WidthTree,
    span: WidthSpan,
    n_alive: int,
    enough: int,
    labels: Codes,
    label: int,
    last: int,
) -> tuple[int, int]:
    """Grow clusters until at most ``enough`` records, or less than k, are left; return the next label, the last row."""
    gap, row = np.zeros(1), np.zeros(1, np.int64)
    while n_alive >= k and n_alive > enough:
        row[0] = farthest_head(tree, points[last])
        for size in range(k):
            if size == 0:
                start_span(span, points[row[0]])
            else:
                nearest_to_span(tree, span, tree.leaf_of[last], gap, row)
                widen_span(span, points[row[0]])
            last = row[0]
            remove_head(tree, last)
            labels[last] = label
        n_alive -= k
        label += 1
    return label, last


@compiled
def _gather_neighbours(
    points: Floats, k: int, tree: WidthTree, span: WidthSpan, n_alive: int, enough: int, labels: Codes, label: int
) -> int:
    """Group the first record with its nearest until at most ``enough``, or less than k, are left; return the next."""
    gaps, members = np.zeros(k - 1), np.zeros(k - 1, np.int64)
    while n_alive >= k and n_alive > enough:
        row = tree.first[1]
        home = tree.leaf_of[row]
        remove_head(tree, row)
        labels[row] = label
        start_span(span, points[row])
        nearest_to_span(tree, span, home, gaps, members)
        for i in range(1, k - 1):  # equal records leave in the order of their rows
            member, at = members[i], i
            while at > 0 and members[at - 1] > member:
                members[at] = members[at - 1]
                at -= 1
            members[at] = member
        for i in range(k - 1):
            remove_head(tree, members[i])
            labels[members[i]] = label
        n_alive -= k
        label += 1
    return label


@compiled
def _join_leftovers(
    points: Floats, weights: Floats, low: Floats, high: Floats, sizes: Ints, rest: Ints, labels: Codes
) -> None:
    """Put each leftover where ``|c + r| * D(c + r) - |c| * D(c)`` is least; of equals into the first cluster."""
    for row in range(len(labels)):
        group = labels[row]
        if group >= 0:
            sizes[group] += 1
            for j in range(len(weights)):
                low[group, j] = min(low[group, j], points[row, j])
                high[group, j] = max(high[group, j], points[row, j])
    for row in rest:
        best, least = 0, np.inf
        for group in range(len(sizes)):
            width, gap = 0.0, 0.0
            for j in range(len(weights)):
                bottom, top, value = low[group, j], high[group, j], points[row, j]
                width += weights[j] * min(top - bottom, 1.0)
                gap += weights[j] * (min(max(top, value) - min(bottom, value), 1.0) - min(top - bottom, 1.0))
            loss = width + (sizes[group] + 1) * gap
            if loss < least:
                best, least = group, loss
        labels[row] = best
        sizes[best] += 1
        for j in range(len(weights)):
            low[best, j], high[best, j] = min(low[best, j], points[row, j]), max(high[best, j], points[row, j])


def _label(data: WidthPoints, record: Ints, k: int, by_loss: bool) -> Codes:
    n_rows, n_columns = data.points.shape
    labels = np.full(n_rows, -1, np.int32)
    order = np.argsort(record, kind="stable")
    later = np.full(n_rows, NONE, np.int64)
    same = record[order[1:]] == record[order[:-1]]
    later[order[:-1][same]] = order[1:][same]
    span = span_room(n_columns)
    label, last = 0, 0
    while n_rows - label * k >= k:
        # Leaves empty as clusters form. A tree over what is left is cheap, and has full leaves again.
        alive = np.flatnonzero(labels < 0)
        heads = alive[np.unique(record[alive], return_index=True)[1]]
        tree = build_width_tree(data, heads, later)
        enough = 7 * len(alive) // 10
        if by_loss:
            label, last = _grow_clusters(data.points, k, tree, span, len(alive), enough, labels, label, last)
        else:
            label = _gather_neighbours(data.points, k, tree, span, len(alive), enough, labels, label)
    rest = np.flatnonzero(labels < 0)
    if len(rest):
        low, high = np.full((label, n_columns), np.inf), np.full((label, n_columns), -np.inf)
        _join_leftovers(data.points, data.weights, low, high, np.zeros(label, np.int64), rest, labels)
    return labels


def label_k_member(data: WidthPoints, record: Ints, k: int) -> Codes:
    """Label the records by greedy k-member clustering, the clusters numbered in the order in which they form.

    The first cluster starts at the record farthest from row 0, each other at the one farthest from the record that
    was added last. Ties go to the smallest row. Equal records, and no others, have equal numbers in ``record``. The
    number of records must be k >= 2 or more.
    """
    return _label(data, record, k, True)


def label_neighbours(data: WidthPoints, record: Ints, k: int) -> Codes:
    """Label the records in groups of the first that is left and its k-1 nearest; as `label_k_member` otherwise."""
    return _label(data, record, k, False)
