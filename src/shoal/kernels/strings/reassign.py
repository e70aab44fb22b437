"""Re-assignment of templates: dissolve groups and move members where that lowers the sum of distances.

A change is judged by what it does to the costs of the groups concerned with their new centroids, not by distances to
the old ones. Groups are linked lists: ``head[g]`` is a member of group g, ``after[row]`` the next one, -1 the end.
"""

from __future__ import annotations

import numpy as np

from shoal.arrays import Codes, Floats, Ints, Singles
from shoal.kernels.compile import compiled, compiled_beside
from shoal.kernels.strings.groups import SparseTemplates, add_template, clear_template, similarity

LEAST_GAIN = 1e-6  # a gain below it may be a rounding error


def _cost_by_arrays(
    starts: Ints,
    features: Codes,
    weights: Singles,
    length: int,
    first: int,
    after: Ints,
    size: int,
    centre: Singles,
) -> float:
    """See `_cost`; sums along the columns of an array are made one row after another."""
    spans, row = [], first
    while row >= 0:
        spans.append(slice(starts[row], starts[row + 1]))
        row = after[row]
    own = np.concatenate([features[span] for span in spans])
    held = np.concatenate([weights[span] for span in spans]).astype(np.float64) if len(weights) else np.ones(len(own))
    sizes = np.array([span.stop - span.start for span in spans])
    ends, shares = np.cumsum(sizes), 1.0 / size * held
    for begin, end in zip((ends - sizes).tolist(), ends.tolist(), strict=True):
        part = own[begin:end]
        centre[part] = centre[part] + shares[begin:end]
    terms = np.minimum(held, centre[own])
    centre[own] = 0.0
    # See `similarity`: four sums, of which the first takes the last terms too.
    at, whole = np.arange(len(own)) - np.repeat(ends - sizes, sizes), np.repeat(sizes // 4 * 4, sizes)
    is_last = at >= whole
    step, lane = np.where(is_last, whole // 4 + at - whole, at // 4), np.where(is_last, 0, at % 4)
    table = np.zeros((step.max(initial=-1) + 1, len(spans), 4))
    table[step, np.repeat(np.arange(len(spans)), sizes), lane] = terms
    a, b, c, d = table.sum(axis=0).T
    cost = 0.0
    for alike in ((a + b) + (c + d)).tolist():
        cost += 2.0 * (length - alike)
    return cost


@compiled_beside(_cost_by_arrays)
def _cost(
    starts: Ints,
    features: Codes,
    weights: Singles,
    length: int,
    first: int,
    after: Ints,
    size: int,
    centre: Singles,
) -> float:
    """The sum of the distances of a group's members to their centroid."""
    row = first
    while row >= 0:
        add_template(features, weights, starts[row], starts[row + 1], 1.0 / size, centre)
        row = after[row]
    cost, row = 0.0, first
    while row >= 0:
        cost += 2.0 * (length - similarity(features, weights, starts[row], starts[row + 1], centre))
        row = after[row]
    row = first
    while row >= 0:
        clear_template(features, starts[row], starts[row + 1], centre)
        row = after[row]
    return cost


@compiled
def _relocate(row: int, target: int, labels: Codes, head: Ints, after: Ints, sizes: Ints) -> None:
    source = labels[row]
    if head[source] == row:
        head[source] = after[row]
    else:
        at = head[source]
        while after[at] != row:
            at = after[at]
        after[at] = after[row]
    after[row] = head[target]
    head[target] = row
    labels[row] = target
    sizes[source] -= 1
    sizes[target] += 1


@compiled
def _first_alive(near: Codes, row: int, sizes: Ints, own: int) -> int:
    """The nearest listed group that is neither dissolved nor the one that the template is in by now."""
    for i in range(near.shape[1]):
        if near[row, i] >= 0 and near[row, i] != own and sizes[near[row, i]] > 0:
            return int(near[row, i])
    return -1


@compiled
def reassign(
    templates: SparseTemplates,
    length: int,
    k: int,
    labels: Codes,
    costs: Floats,
    near: Codes,
    order: Ints,
) -> int:
    """Try to dissolve each group, in the given order, then to move each member of a group of more than k.

    ``near`` lists for each template the groups to try, nearest first; ``labels`` and ``costs`` are changed in place,
    and a dissolved group is empty at the end. Returns how many templates were moved.
    """
    starts, features, weights = templates.starts, templates.features, templates.weights
    n, n_groups = len(labels), len(costs)
    head, after = np.full(n_groups, -1, np.int64), np.empty(n, np.int64)
    sizes = np.zeros(n_groups, np.int64)
    for row in range(n - 1, -1, -1):
        after[row] = head[labels[row]]
        head[labels[row]] = row
        sizes[labels[row]] += 1
    centre = np.zeros(templates.n_features, np.float32)
    rows = np.empty(n, np.int64)
    touched = np.empty(n, np.int64)
    new_costs = np.empty(n, np.float64)
    is_touched = np.zeros(n_groups, np.bool_)
    n_moved = 0

    for group in order:
        size = 0
        row = head[group]
        has_room = True
        while row >= 0:
            rows[size] = row
            size += 1
            if _first_alive(near, row, sizes, group) < 0:
                has_room = False
            row = after[row]
        if size == 0 or not has_room:
            continue
        n_touched, gain = 0, costs[group]
        for i in range(size):
            target = _first_alive(near, rows[i], sizes, group)
            _relocate(rows[i], target, labels, head, after, sizes)
            if not is_touched[target]:
                is_touched[target] = True
                touched[n_touched] = target
                n_touched += 1
        for i in range(n_touched):
            target = touched[i]
            new_costs[i] = _cost(starts, features, weights, length, head[target], after, sizes[target], centre)
            gain += costs[target] - new_costs[i]
            is_touched[target] = False
        if gain > LEAST_GAIN:
            n_moved += size
            costs[group] = 0.0
            for i in range(n_touched):
                costs[touched[i]] = new_costs[i]
        else:
            for i in range(size - 1, -1, -1):
                _relocate(rows[i], group, labels, head, after, sizes)

    for row in range(n):
        source = labels[row]
        if sizes[source] <= k:
            continue
        target = _first_alive(near, row, sizes, source)
        if target < 0:
            continue
        _relocate(row, target, labels, head, after, sizes)
        of_source = _cost(starts, features, weights, length, head[source], after, sizes[source], centre)
        of_target = _cost(starts, features, weights, length, head[target], after, sizes[target], centre)
        if costs[source] + costs[target] - of_source - of_target > LEAST_GAIN:
            costs[source], costs[target] = of_source, of_target
            n_moved += 1
        else:
            _relocate(row, source, labels, head, after, sizes)
    return n_moved
