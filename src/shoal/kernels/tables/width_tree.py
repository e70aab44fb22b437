"""A balanced tree of boxes over records that are only ever removed: which record widens a group least.

The width of a group is a sum over columns, ``weight * min(highest - lowest, 1)``; the distance of two records is the
width of the two. Coordinates and weights are multiples of 2^-40, so all sums are exact and their order is of no
matter: bounds never pass the widths that they bound, and ties are true ties.

Of equal records only the first is in the tree; when it is removed, the next takes its place.

References
----------
J. H. Friedman, J. L. Bentley, R. A. Finkel, "An algorithm for finding best matches in logarithmic expected time", ACM
Transactions on Mathematical Software 3(3), 1977. Ours are the bounds on widths and the choice of the column to cut:
the one that contributes most to the distance of two records of a node.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.arrays import Floats, Ints
from shoal.kernels.compile import compiled, compiled_beside
from shoal.kernels.tables.box_tree import NONE, best_on_top, fit_box, fit_column, select, sink

LEAF = 32  # at most this many records a leaf


class WidthPoints(NamedTuple):
    """Records as points; see the module for their distance.

    Attributes
    ----------
    points : float64 array (n_rows, n_columns)
    weights : float64 array (n_columns,)
    """

    points: Floats
    weights: Floats


class WidthTree(NamedTuple):
    """A tree with 2^h leaves; the root is node 1, node i has the children 2i and 2i + 1.

    Attributes
    ----------
    blocks : float64 array (n_leaves, n_columns, LEAF)
        The records of each leaf, a column after the other, packed to the front.
    rows : int64 array (n_leaves, LEAF)
        The smallest live row of each.
    sizes : int64 array (n_leaves,)
        How many they are.
    low, high : float64 arrays (2 * n_leaves, n_columns)
        The smallest box around the records of each node.
    first : int64 array (2 * n_leaves,)
        The smallest of their rows; NONE where there are none.
    leaf_of : int64 array (n_rows,)
        The leaf of each row that is in a leaf.
    later : int64 array (n_rows,)
        The next larger row of an equal record; NONE for the last.
    weights : float64 array (n_columns,)
    stack, bounds, scratch
        Room for the queries.
    """

    blocks: Floats
    rows: Ints
    sizes: Ints
    low: Floats
    high: Floats
    first: Ints
    leaf_of: Ints
    later: Ints
    weights: Floats
    stack: Ints
    bounds: Floats
    scratch: Floats


class WidthSpan(NamedTuple):
    """The box around a group, for `nearest_to_span`.

    Attributes
    ----------
    low, high : float64 arrays (n_columns,)
        The group's least and greatest value in each column.
    caps : float64 array (n_columns,)
        By how much a column can still widen.
    open : int64 array (n_columns + 1,)
        The columns that can, packed to the front; the last place holds their number.
    """

    low: Floats
    high: Floats
    caps: Floats
    open: Ints


@compiled
def _fit_leaf(tree: WidthTree, leaf: int) -> None:
    """Find the smallest row of a leaf and its range in each column; the range of none is (inf, -inf)."""
    node = leaf + len(tree.sizes)
    smallest = NONE
    for i in range(tree.sizes[leaf]):
        smallest = min(smallest, tree.rows[leaf, i])
    tree.first[node] = smallest
    for j in range(tree.low.shape[1]):
        fit_column(tree.blocks, tree.sizes, tree.low, tree.high, leaf, j)


@compiled
def _fit_node(tree: WidthTree, node: int) -> bool:
    """Make what a node knows from what its children know; tell whether that changed it."""
    a, b = 2 * node, 2 * node + 1
    smallest = min(tree.first[a], tree.first[b])
    changed = bool(smallest != tree.first[node])
    tree.first[node] = smallest
    return fit_box(tree.low, tree.high, node) or changed


@compiled
def _fill(tree: WidthTree, points: Floats, order: Ints, keys: Floats) -> None:
    """Fill the tree with the rows ``order``; equal values are cut by row, so it is always balanced."""
    n_columns, n_leaves = points.shape[1], len(tree.sizes)
    level = 1
    while level < n_leaves:
        for at in range(level):
            start, stop = at * len(order) // level, (at + 1) * len(order) // level
            middle = (2 * at + 1) * len(order) // (2 * level)
            widest, width = 0, -1.0
            for j in range(n_columns):
                apart = 0.0
                for i in range(start, middle):
                    apart += min(abs(points[order[i], j] - points[order[i + middle - start], j]), 1.0)
                if tree.weights[j] * apart > width:
                    widest, width = j, tree.weights[j] * apart
            for i in range(start, stop):
                keys[i] = points[order[i], widest]
            select(order, keys, start, stop, middle)
        level *= 2
    for leaf in range(n_leaves):
        start, stop = leaf * len(order) // n_leaves, (leaf + 1) * len(order) // n_leaves
        tree.sizes[leaf] = stop - start
        for i in range(start, stop):
            row, slot = order[i], i - start
            tree.rows[leaf, slot], tree.leaf_of[row] = row, leaf
            for j in range(n_columns):
                tree.blocks[leaf, j, slot] = points[row, j]
        _fit_leaf(tree, leaf)
    for node in range(n_leaves - 1, 0, -1):
        _fit_node(tree, node)


def build_width_tree(data: WidthPoints, heads: Ints, later: Ints) -> WidthTree:
    """Build the tree over the rows ``heads``, the first live ones of equal records; ``later`` chains the others.

    The arrays are made here because allocations are slow to compile.
    """
    n_rows, n_columns = data.points.shape
    n_leaves = 1
    while n_leaves * LEAF < len(heads):
        n_leaves *= 2
    tree = WidthTree(
        blocks=np.zeros((n_leaves, n_columns, LEAF)),
        rows=np.zeros((n_leaves, LEAF), np.int64),
        sizes=np.zeros(n_leaves, np.int64),
        low=np.zeros((2 * n_leaves, n_columns)),
        high=np.zeros((2 * n_leaves, n_columns)),
        first=np.zeros(2 * n_leaves, np.int64),
        leaf_of=np.full(n_rows, -1, np.int64),
        later=later,
        weights=data.weights,
        stack=np.zeros(128, np.int64),
        bounds=np.zeros(128),
        scratch=np.zeros(LEAF),
    )
    _fill(tree, data.points, np.array(heads, np.int64), np.empty(len(heads)))
    return tree


def span_room(n_columns: int) -> WidthSpan:
    """Room for a span."""
    return WidthSpan(np.zeros(n_columns), np.zeros(n_columns), np.zeros(n_columns), np.zeros(n_columns + 1, np.int64))


@compiled
def start_span(span: WidthSpan, point: Floats) -> None:
    """Make the box around one record."""
    for j in range(len(point)):
        span.low[j], span.high[j], span.caps[j], span.open[j] = point[j], point[j], 1.0, j
    span.open[len(point)] = len(point)


@compiled
def widen_span(span: WidthSpan, point: Floats) -> None:
    """Make the box hold one more record."""
    n_open, kept = span.open[len(point)], 0
    for at in range(n_open):
        j = span.open[at]
        span.low[j], span.high[j] = min(span.low[j], point[j]), max(span.high[j], point[j])
        span.caps[j] = 1.0 - (span.high[j] - span.low[j])
        if span.caps[j] > 0.0:
            span.open[kept] = j
            kept += 1
    span.open[len(point)] = kept


@compiled
def remove_head(tree: WidthTree, row: int) -> None:
    """Take a row out that is in a leaf: an equal one takes its place, or the boxes around it shrink."""
    leaf = tree.leaf_of[row]
    node = leaf + len(tree.sizes)
    slot = 0
    while tree.rows[leaf, slot] != row:
        slot += 1
    follower = tree.later[row]
    if follower != NONE:
        tree.rows[leaf, slot], tree.leaf_of[follower] = follower, leaf
        if tree.first[node] != row:
            return
    else:
        last = tree.sizes[leaf] - 1
        tree.rows[leaf, slot] = tree.rows[leaf, last]
        tree.sizes[leaf] = last
        for j in range(tree.low.shape[1]):
            tree.blocks[leaf, j, slot] = tree.blocks[leaf, j, last]
    _fit_leaf(tree, leaf)
    node >>= 1
    while node > 0 and _fit_node(tree, node):
        node >>= 1


# The functions of the inner loops take bare arrays: a tuple of arrays as an argument costs more than they do.


def _all_leaf_gaps(
    blocks: Floats, leaf: int, low: Floats, high: Floats, caps: Floats, is_open: Ints, weights: Floats, out: Floats
) -> None:
    values = blocks[leaf]
    apart = np.maximum(low[:, None] - values, values - high[:, None])
    terms = weights[:, None] * np.minimum(np.maximum(apart, 0.0), caps[:, None])
    out[:] = 0.0
    for j in is_open[: is_open[len(low)]]:
        out += terms[j]


@compiled_beside(_all_leaf_gaps)
def _leaf_gaps(
    blocks: Floats, leaf: int, low: Floats, high: Floats, caps: Floats, is_open: Ints, weights: Floats, out: Floats
) -> None:
    """By how much each record of a leaf would widen the group."""
    for i in range(LEAF):
        out[i] = 0.0
    for at in range(is_open[len(low)]):
        j = is_open[at]
        bottom, top, cap, weight = low[j], high[j], caps[j], weights[j]
        for i in range(LEAF):
            value = blocks[leaf, j, i]
            out[i] += weight * min(max(max(bottom - value, value - top), 0.0), cap)


@compiled
def _box_gap(
    box_low: Floats,
    box_high: Floats,
    node: int,
    low: Floats,
    high: Floats,
    caps: Floats,
    is_open: Ints,
    weights: Floats,
) -> float:
    """Lower bound of by how much a node's records would widen the group."""
    total = 0.0
    for at in range(is_open[len(low)]):
        j = is_open[at]
        total += weights[j] * min(max(max(low[j] - box_high[node, j], box_low[node, j] - high[j]), 0.0), caps[j])
    return total


@compiled
def nearest_to_span(tree: WidthTree, span: WidthSpan, home: int, gaps: Floats, nearest: Ints) -> None:
    """Fill ``nearest`` with the live rows that alone would widen the group least, in no order; of equals the smallest.

    The search starts in the leaf ``home`` and climbs: the brother of each node on the way to the root is searched in
    turn. The tree must hold at least ``len(nearest)`` live rows; ``gaps`` gets by how much each widens the group.
    """
    blocks, rows, first, sizes, later = tree.blocks, tree.rows, tree.first, tree.sizes, tree.later
    box_low, box_high, weights, n_leaves = tree.low, tree.high, tree.weights, len(tree.sizes)
    stack, bounds, scratch = tree.stack, tree.bounds, tree.scratch
    low, high, caps, is_open = span.low, span.high, span.caps, span.open
    for i in range(len(nearest)):
        gaps[i], nearest[i] = np.inf, NONE
    path = home + n_leaves
    stack[0], bounds[0], top = path, 0.0, 1
    while True:
        while top > 0:
            top -= 1
            node, bound = stack[top], bounds[top]
            if bound > gaps[0] or (bound == gaps[0] and first[node] > nearest[0]):
                continue
            if node >= n_leaves:
                leaf = node - n_leaves
                _leaf_gaps(blocks, leaf, low, high, caps, is_open, weights, scratch)
                for i in range(sizes[leaf]):
                    row = rows[leaf, i]
                    while row != NONE and (scratch[i] < gaps[0] or (scratch[i] == gaps[0] and row < nearest[0])):
                        sink(gaps, nearest, scratch[i], row)
                        row = later[row]
                continue
            base = top
            for child in range(2 * node, 2 * node + 2):
                bound = _box_gap(box_low, box_high, child, low, high, caps, is_open, weights)
                if bound <= gaps[0] and first[child] != NONE:
                    stack[top], bounds[top] = child, bound
                    top += 1
            if top == base + 2:
                best_on_top(stack, bounds, first, base, -1.0)
        if path == 1:
            return
        if first[path ^ 1] != NONE:
            bound = _box_gap(box_low, box_high, path ^ 1, low, high, caps, is_open, weights)
            stack[0], bounds[0], top = path ^ 1, bound, 1
        path >>= 1


@compiled
def _box_reach(box_low: Floats, box_high: Floats, node: int, query: Floats, weights: Floats) -> float:
    """Upper bound of the distances of a node's records from a point."""
    total = 0.0
    for j in range(len(query)):
        total += weights[j] * min(max(box_high[node, j] - query[j], query[j] - box_low[node, j]), 1.0)
    return total


def _all_leaf_reaches(blocks: Floats, leaf: int, query: Floats, weights: Floats, out: Floats) -> None:
    out[:] = 0.0
    for term in weights[:, None] * np.minimum(np.abs(blocks[leaf] - query[:, None]), 1.0):
        out += term


@compiled_beside(_all_leaf_reaches)
def _leaf_reaches(blocks: Floats, leaf: int, query: Floats, weights: Floats, out: Floats) -> None:
    """Distance of each record of a leaf from a point; unused places are computed along."""
    for i in range(LEAF):
        out[i] = 0.0
    for j in range(len(query)):
        value, weight = query[j], weights[j]
        for i in range(LEAF):
            out[i] += weight * min(abs(blocks[leaf, j, i] - value), 1.0)


@compiled
def farthest_head(tree: WidthTree, query: Floats) -> int:
    """The live row farthest from a point; of equals the smallest row; NONE in an empty tree."""
    blocks, rows, first, sizes = tree.blocks, tree.rows, tree.first, tree.sizes
    weights, n_leaves, stack, bounds, scratch = tree.weights, len(tree.sizes), tree.stack, tree.bounds, tree.scratch
    best, best_row = -1.0, NONE
    stack[0], bounds[0], top = 1, np.inf, 1
    while top > 0:
        top -= 1
        node, bound = stack[top], bounds[top]
        if bound < best or (bound == best and first[node] > best_row) or first[node] == NONE:
            continue
        if node >= n_leaves:
            leaf = node - n_leaves
            _leaf_reaches(blocks, leaf, query, weights, scratch)
            for i in range(sizes[leaf]):
                distance = scratch[i]
                if distance > best or (distance == best and rows[leaf, i] < best_row):
                    best, best_row = distance, rows[leaf, i]
            continue
        base = top
        for child in range(2 * node, 2 * node + 2):
            if first[child] == NONE:
                continue
            bound = _box_reach(tree.low, tree.high, child, query, weights)
            if bound >= best:
                stack[top], bounds[top] = child, bound
                top += 1
        if top == base + 2:
            best_on_top(stack, bounds, first, base, 1.0)
    return best_row
