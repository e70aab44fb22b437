"""A balanced tree of boxes over records that are only ever removed: exact nearest and farthest queries.

The squared distance of two records is a sum over their columns, in the order of the columns: each of the
first ``n_metric`` columns adds the squared difference, every other column adds its weight where the two
differ.

The bounds on the distance to a box are sums of the same terms in the same order. Rounding is monotone, so
such a bound never passes the computed distance of a record in the box, and a subtree is left out only if it
is worse, or equal and without a smaller row. That last rule keeps tables with many ties fast. (The second
bound of `farthest_row` is of another form and carries a slack.)

References
----------
J. H. Friedman, J. L. Bentley, R. A. Finkel, "An algorithm for finding best matches in logarithmic expected
time", ACM Transactions on Mathematical Software 3(3), 1977: median cut of the widest coordinate. That boxes
shrink as records leave, the farthest query, and the cuts by distance from the center (for its sake) are ours.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.arrays import Floats, Ints
from shoal.kernels.compile import compiled, compiled_beside

LEAF = 64  # at most this many records a leaf: a few vector registers a column
NONE = 2**62  # larger than every row
RING = 2.0  # how much a range of radii counts, against one of a column, in the choice of a cut: by trial
SLACK = 1e-11  # far above the rounding error of a sum over a thousand columns


class BoxTree(NamedTuple):
    """A tree with 2^h leaves; the root is node 1, node i has the children 2i and 2i + 1.

    Attributes
    ----------
    blocks : float64 array (n_leaves, n_columns, LEAF)
        The live records of each leaf, a column after the other, packed to the front.
    rows : int64 array (n_leaves, LEAF)
        Their rows.
    radii : float64 array (n_leaves, LEAF)
        Their squared distances from ``center`` in the metric columns.
    sizes : int64 array (n_leaves,)
        How many they are.
    low, high : float64 arrays (2 * n_leaves, n_columns)
        The smallest box around the live records of each node.
    reach : float64 array (2 * n_leaves,)
        The largest of their radii.
    first : int64 array (2 * n_leaves,)
        The smallest of their rows; NONE where there are none.
    leaf_of : int64 array (n_rows,)
        The leaf of each row.
    center, arm : float64 arrays (n_columns,)
        A point amidst the records; what leads from it to the point that is asked about.
    stack, bounds, scratch
        Room for the queries.
    weights : float64 array (n_columns,)
    n_metric : int
    """

    blocks: Floats
    rows: Ints
    radii: Floats
    sizes: Ints
    low: Floats
    high: Floats
    reach: Floats
    first: Ints
    leaf_of: Ints
    center: Floats
    arm: Floats
    stack: Ints
    bounds: Floats
    scratch: Floats
    weights: Floats
    n_metric: int


@compiled
def select(order: Ints, keys: Floats, start: int, stop: int, middle: int) -> None:
    """Put the smallest ``middle - start`` of order[start:stop], by (key, row), in front (Hoare)."""
    left, right = start, stop - 1
    while left < right:
        pivot = (left + right) >> 1
        pivot_key, pivot_row = keys[pivot], order[pivot]
        i, j = left, right
        while i <= j:
            while keys[i] < pivot_key or (keys[i] == pivot_key and order[i] < pivot_row):
                i += 1
            while keys[j] > pivot_key or (keys[j] == pivot_key and order[j] > pivot_row):
                j -= 1
            if i <= j:
                keys[i], keys[j] = keys[j], keys[i]
                order[i], order[j] = order[j], order[i]
                i += 1
                j -= 1
        if middle <= j:
            right = j
        elif middle >= i:
            left = i
        else:
            return


def _fit_all_rows(tree: BoxTree, leaf: int) -> None:
    node, size = leaf + len(tree.sizes), tree.sizes[leaf]
    tree.first[node] = tree.rows[leaf, :size].min(initial=NONE)
    tree.reach[node] = tree.radii[leaf, :size].max(initial=-np.inf)


@compiled_beside(_fit_all_rows)
def _fit_rows(tree: BoxTree, leaf: int) -> None:
    """Find the smallest row and the largest radius of a leaf."""
    smallest, reach = NONE, -np.inf
    for i in range(tree.sizes[leaf]):
        smallest = min(smallest, tree.rows[leaf, i])
        reach = max(reach, tree.radii[leaf, i])
    node = leaf + len(tree.sizes)
    tree.first[node], tree.reach[node] = smallest, reach


def _fit_whole_column(blocks: Floats, sizes: Ints, low: Floats, high: Floats, leaf: int, j: int) -> None:
    values, node = blocks[leaf, j, : sizes[leaf]], leaf + len(sizes)
    low[node, j], high[node, j] = values.min(initial=np.inf), values.max(initial=-np.inf)


@compiled_beside(_fit_whole_column)
def fit_column(blocks: Floats, sizes: Ints, low: Floats, high: Floats, leaf: int, j: int) -> None:
    """Find the range of a leaf's records in a column; the range of none is (inf, -inf)."""
    bottom, top = np.inf, -np.inf
    for i in range(sizes[leaf]):
        value = blocks[leaf, j, i]
        bottom, top = min(bottom, value), max(top, value)
    node = leaf + len(sizes)
    low[node, j], high[node, j] = bottom, top


@compiled
def fit_box(low: Floats, high: Floats, node: int) -> bool:
    """Make the box of a node from those of its children; tell whether that changed it."""
    a, b, changed = 2 * node, 2 * node + 1, False
    for j in range(low.shape[1]):
        bottom, top = min(low[a, j], low[b, j]), max(high[a, j], high[b, j])
        changed |= bottom != low[node, j] or top != high[node, j]
        low[node, j], high[node, j] = bottom, top
    return changed


@compiled
def _fit_node(tree: BoxTree, node: int) -> bool:
    """Make what a node knows from what its children know; tell whether that changed it."""
    a, b = 2 * node, 2 * node + 1
    smallest, reach = min(tree.first[a], tree.first[b]), max(tree.reach[a], tree.reach[b])
    changed = bool(smallest != tree.first[node] or reach != tree.reach[node])
    tree.first[node], tree.reach[node] = smallest, reach
    return fit_box(tree.low, tree.high, node) or changed


@compiled
def _fill(tree: BoxTree, points: Floats, order: Ints, keys: Floats, radii: Floats) -> None:
    """Fill the tree with the rows ``order``; equal values are cut by row, so it is always balanced."""
    n_columns, n_metric, n_leaves = points.shape[1], tree.n_metric, len(tree.sizes)
    for row in order:
        radius = 0.0
        for j in range(n_metric):
            difference = points[row, j] - tree.center[j]
            radius += difference * difference
        radii[row] = radius
    level = 1
    while level < n_leaves:
        for at in range(level):
            start, stop = at * len(order) // level, (at + 1) * len(order) // level
            widest, width = 0, 0.0
            for j in range(n_columns):
                bottom, top = np.inf, -np.inf
                for i in range(start, stop):
                    value = points[order[i], j]
                    bottom, top = min(bottom, value), max(top, value)
                extent = (top - bottom) * (top - bottom)
                if j >= n_metric:
                    extent = tree.weights[j] if top > bottom else 0.0
                if extent > width:
                    widest, width = j, extent
            bottom, top = np.inf, -np.inf
            for i in range(start, stop):
                keys[i] = radii[order[i]]
                bottom, top = min(bottom, keys[i]), max(top, keys[i])
            if RING * (np.sqrt(top) - np.sqrt(bottom)) ** 2 < width:
                for i in range(start, stop):
                    keys[i] = points[order[i], widest]
            select(order, keys, start, stop, (2 * at + 1) * len(order) // (2 * level))
        level *= 2
    for leaf in range(n_leaves):
        start, stop = leaf * len(order) // n_leaves, (leaf + 1) * len(order) // n_leaves
        tree.sizes[leaf] = stop - start
        for i in range(start, stop):
            row, slot = order[i], i - start
            tree.radii[leaf, slot] = radii[row]
            tree.rows[leaf, slot], tree.leaf_of[row] = row, leaf
            for j in range(n_columns):
                tree.blocks[leaf, j, slot] = points[row, j]
        _fit_rows(tree, leaf)
        for j in range(n_columns):
            fit_column(tree.blocks, tree.sizes, tree.low, tree.high, leaf, j)
    for node in range(n_leaves - 1, 0, -1):
        _fit_node(tree, node)


def build_tree(points: Floats, alive: Ints, center: Floats, weights: Floats, n_metric: int) -> BoxTree:
    """Build the tree over the rows ``alive``; any center will do, one amidst the records is best.

    The arrays are made here because allocations are slow to compile.
    """
    n_rows, n_columns = points.shape
    n_leaves = 1
    while n_leaves * LEAF < len(alive):
        n_leaves *= 2
    tree = BoxTree(
        blocks=np.zeros((n_leaves, n_columns, LEAF)),
        rows=np.zeros((n_leaves, LEAF), np.int64),
        radii=np.zeros((n_leaves, LEAF)),
        sizes=np.zeros(n_leaves, np.int64),
        low=np.zeros((2 * n_leaves, n_columns)),
        high=np.zeros((2 * n_leaves, n_columns)),
        reach=np.zeros(2 * n_leaves),
        first=np.zeros(2 * n_leaves, np.int64),
        leaf_of=np.full(n_rows, -1, np.int64),
        center=np.array(center, np.float64),
        arm=np.zeros(n_columns),
        stack=np.zeros(128, np.int64),
        bounds=np.zeros(128),
        scratch=np.zeros(LEAF),
        weights=weights,
        n_metric=n_metric,
    )
    _fill(tree, points, np.array(alive, np.int64), np.empty(len(alive)), np.empty(n_rows))
    return tree


@compiled
def remove_row(tree: BoxTree, row: int) -> None:
    """Take a live row out, and shrink the boxes around it."""
    leaf = tree.leaf_of[row]
    node = leaf + len(tree.sizes)
    last = tree.sizes[leaf] - 1
    slot = 0
    while tree.rows[leaf, slot] != row:
        slot += 1
    touches = tree.first[node] == row or tree.radii[leaf, slot] == tree.reach[node]
    tree.rows[leaf, slot] = tree.rows[leaf, last]
    tree.radii[leaf, slot] = tree.radii[leaf, last]
    tree.sizes[leaf] = last
    for j in range(tree.low.shape[1]):
        value = tree.blocks[leaf, j, slot]
        bottom, top = tree.low[node, j], tree.high[node, j]
        tree.blocks[leaf, j, slot] = tree.blocks[leaf, j, last]
        if last == 0 or (bottom < top and value in (bottom, top)):
            fit_column(tree.blocks, tree.sizes, tree.low, tree.high, leaf, j)
            touches = True
    if touches:
        _fit_rows(tree, leaf)
        node >>= 1
        while node > 0 and _fit_node(tree, node):
            node >>= 1


# The functions of the inner loops take bare arrays: a tuple of arrays as an argument was measured to cost
# more than they do.


def _all_leaf_distances(blocks: Floats, leaf: int, query: Floats, n_metric: int, weights: Floats, out: Floats) -> None:
    difference = blocks[leaf] - query[:, None]
    squares = difference[:n_metric] * difference[:n_metric]
    out[:] = 0.0
    for square in squares:  # one after the other, as below
        out += square
    for apart, weight in zip(difference[n_metric:], weights[n_metric:], strict=True):
        out += np.where(apart != 0.0, weight, 0.0)


@compiled_beside(_all_leaf_distances)
def _leaf_distances(blocks: Floats, leaf: int, query: Floats, n_metric: int, weights: Floats, out: Floats) -> None:
    """Squared distances of a leaf's records.

    Unused places are computed along and columns taken by two: the compiler makes vector code of it.
    """
    for i in range(LEAF):
        out[i] = 0.0
    even = n_metric - n_metric % 2
    for j in range(0, even, 2):
        value, other = query[j], query[j + 1]
        for i in range(LEAF):
            difference, second = blocks[leaf, j, i] - value, blocks[leaf, j + 1, i] - other
            out[i] = (out[i] + difference * difference) + second * second
    for j in range(even, n_metric):
        value = query[j]
        for i in range(LEAF):
            difference = blocks[leaf, j, i] - value
            out[i] += difference * difference
    for j in range(n_metric, len(query)):
        value, weight = query[j], weights[j]
        for i in range(LEAF):
            out[i] += weight if blocks[leaf, j, i] != value else 0.0


@compiled
def _box_nearest(low: Floats, high: Floats, node: int, query: Floats, n_metric: int, weights: Floats) -> float:
    """Lower bound of the squared distances of a node's records."""
    total = 0.0
    for j in range(n_metric):
        gap = max(max(low[node, j] - query[j], query[j] - high[node, j]), 0.0)
        total += gap * gap
    for j in range(n_metric, len(query)):
        if query[j] < low[node, j] or query[j] > high[node, j]:
            total += weights[j]
    return total


@compiled
def _box_farthest(
    low: Floats,
    high: Floats,
    node: int,
    query: Floats,
    n_metric: int,
    weights: Floats,
    arm: Floats,
    ball: float,
) -> float:
    """Upper bound of the squared distances of a node's records.

    In the metric columns the lesser of two: the distance of the box's farthest corner, and (with x a record,
    q the query, c the center) ``|x - q|^2 = |x - c|^2 + |q - c|^2 - 2 (x - c)(q - c)``, each term at its
    largest. Corners lie far outside the cloud when there are many columns, hence the second.
    """
    corner, along = 0.0, 0.0
    for j in range(n_metric):
        bottom, top = low[node, j], high[node, j]
        gap = max(top - query[j], query[j] - bottom)
        corner += gap * gap
        along += min(bottom * arm[j], top * arm[j])
    total = min(corner, ball - 2.0 * along)
    for j in range(n_metric, len(query)):
        if query[j] != low[node, j] or query[j] != high[node, j]:
            total += weights[j]
    return total


@compiled
def best_on_top(stack: Ints, bounds: Floats, first: Ints, base: int, sign: float) -> None:
    """Of two nodes put the more promising one on top of the stack; of equals the one with the smaller row.

    That is the one with the larger bound for `sign` 1, with the smaller for -1.
    """
    one, other = sign * bounds[base], sign * bounds[base + 1]
    if one > other or (one == other and first[stack[base]] < first[stack[base + 1]]):
        stack[base], stack[base + 1] = stack[base + 1], stack[base]
        bounds[base], bounds[base + 1] = bounds[base + 1], bounds[base]


@compiled
def farthest_row(tree: BoxTree, query: Floats) -> int:
    """The live row farthest from a point; of equals the smallest row; NONE in an empty tree."""
    blocks, rows, low, high, first = tree.blocks, tree.rows, tree.low, tree.high, tree.first
    sizes, weights, n_metric, n_leaves = tree.sizes, tree.weights, tree.n_metric, len(tree.sizes)
    reach, arm, stack, bounds, scratch = tree.reach, tree.arm, tree.stack, tree.bounds, tree.scratch
    best, best_row = -1.0, NONE
    constant = 0.0  # |q - c|^2 + 2 c (q - c), and the slack
    for j in range(n_metric):
        center = tree.center[j]
        arm[j] = query[j] - center
        constant += arm[j] * (arm[j] + 2.0 * center) + SLACK * (arm[j] * arm[j] + center * center)
    stack[0], bounds[0], top = 1, np.inf, 1
    while top > 0:
        top -= 1
        node, bound = stack[top], bounds[top]
        if bound < best or (bound == best and first[node] > best_row) or first[node] == NONE:
            continue
        if node >= n_leaves:
            leaf = node - n_leaves
            _leaf_distances(blocks, leaf, query, n_metric, weights, scratch)
            for i in range(sizes[leaf]):
                if scratch[i] >= best and (scratch[i] > best or rows[leaf, i] < best_row):
                    best, best_row = scratch[i], rows[leaf, i]
            continue
        base = top
        for child in range(2 * node, 2 * node + 2):
            ball = constant + reach[child] * (1.0 + SLACK)
            bound = _box_farthest(low, high, child, query, n_metric, weights, arm, ball)
            if bound >= best:
                stack[top], bounds[top] = child, bound
                top += 1
        if top == base + 2:
            best_on_top(stack, bounds, first, base, 1.0)
    return best_row


@compiled
def sink(distances: Floats, rows: Ints, distance: float, row: int) -> None:
    """Replace the top of a heap whose top is the worst (distance, row)."""
    hole, size = 0, len(rows)
    while 2 * hole + 1 < size:
        child = 2 * hole + 1
        other = child + 1
        if other < size and (
            distances[other] > distances[child] or (distances[other] == distances[child] and rows[other] > rows[child])
        ):
            child = other
        if distances[child] < distance or (distances[child] == distance and rows[child] < row):
            break
        distances[hole], rows[hole] = distances[child], rows[child]
        hole = child
    distances[hole], rows[hole] = distance, row


@compiled
def nearest_rows(tree: BoxTree, query: Floats, home: int, distances: Floats, nearest: Ints) -> None:
    """Fill ``nearest`` with the live rows nearest to a point, in no order; of equals the smallest rows.

    The search starts in the leaf ``home`` and climbs: the brother of each node on the way to the root is
    searched in turn. The tree must hold at least ``len(nearest)`` live records; ``distances`` is room of the
    same length.
    """
    blocks, rows, low, high, first = tree.blocks, tree.rows, tree.low, tree.high, tree.first
    sizes, weights, n_metric, n_leaves = tree.sizes, tree.weights, tree.n_metric, len(tree.sizes)
    stack, bounds, scratch = tree.stack, tree.bounds, tree.scratch
    for i in range(len(nearest)):
        distances[i], nearest[i] = np.inf, NONE
    path = home + n_leaves
    stack[0], bounds[0], top = path, 0.0, 1
    while True:
        while top > 0:
            top -= 1
            node, bound = stack[top], bounds[top]
            if bound > distances[0] or (bound == distances[0] and first[node] > nearest[0]):
                continue
            if node >= n_leaves:
                leaf = node - n_leaves
                _leaf_distances(blocks, leaf, query, n_metric, weights, scratch)
                for i in range(sizes[leaf]):
                    if scratch[i] < distances[0] or (scratch[i] == distances[0] and rows[leaf, i] < nearest[0]):
                        sink(distances, nearest, scratch[i], rows[leaf, i])
                continue
            base = top
            for child in range(2 * node, 2 * node + 2):
                bound = _box_nearest(low, high, child, query, n_metric, weights)
                if bound <= distances[0]:
                    stack[top], bounds[top] = child, bound
                    top += 1
            if top == base + 2:
                best_on_top(stack, bounds, first, base, -1.0)
        if path == 1:
            return
        stack[0], bounds[0], top = path ^ 1, _box_nearest(low, high, path ^ 1, query, n_metric, weights), 1
        path >>= 1
