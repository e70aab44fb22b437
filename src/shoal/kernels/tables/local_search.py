"""Local search over groups of k to 2k-1 records: relocate, swap, dissolve and form, among near neighbours only.

The loss of a group is the sum of the squared distances of all its pairs over its size. Over metric columns this is
the within-group sum of squares; a column of categories adds its weight for every pair that differs, which is what
one-hot columns would add to the sum of squares. So one search serves both, and no column has to be spread out.

With x in A (a records, mean A), z in B (b records, mean B), the metric columns change the loss by

* ``b / (b + 1) |x - mean B|^2 - a / (a - 1) |x - mean A|^2`` if x goes to B,
* ``2 (z - x)(mean B - mean A) - |z - x|^2 (1 / a + 1 / b)`` if x and z change places,

one pass over the columns each. The categories of a group are compared one by one, as groups are small.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.arrays import Codes, Floats, Ints, Mask
from shoal.kernels.compile import compiled


class SearchGroups(NamedTuple):
    """Records, their groups, and what is kept up to date so that a move costs no more than the columns.

    Attributes
    ----------
    points : float64 array (n_rows, n_columns)
        Metric columns first; distances are those of `shoal.kernels.tables.box_tree`.
    weights : float64 array (n_columns,)
        Of the columns that are not metric.
    near : int32 array (n_rows, n_listed)
        The nearest other records of each record, nearest first.
    labels : int32 array (n_rows,)
        The group of each record.
    members : int32 array (n_slots, 2k)
        The records of each group, packed to the front; no group keeps more than 2k - 1.
    place : int32 array (n_rows,)
        Where in its group a record stands.
    sizes : int64 array (n_slots,)
        0 where no group is.
    sums : float64 array (n_slots, n_columns)
        The metric columns added up.
    pairs : float64 array (n_slots,)
        Distances of all pairs of a group in the other columns.
    unused : int64 array (n_slots + 1,)
        How many slots hold no group, and then which.
    moved, origin : int64 arrays
        Room to take moves back.
    k : int
    n_metric : int
    """

    points: Floats
    weights: Floats
    near: Codes
    labels: Codes
    members: Codes
    place: Codes
    sizes: Ints
    sums: Floats
    pairs: Floats
    unused: Ints
    moved: Ints
    origin: Ints
    k: int
    n_metric: int


def lay_out(points: Floats, weights: Floats, n_metric: int, near: Codes, labels: Codes, k: int) -> SearchGroups:
    """Lay out a partition into groups of k to 2k-1 records, labelled 0, 1, ..., for the search."""
    n_rows, n_columns = points.shape
    n_groups, n_slots = int(labels.max()) + 1, n_rows // k
    groups = SearchGroups(
        points=points,
        weights=weights,
        near=near,
        labels=labels.astype(np.int32),
        members=np.zeros((n_slots, 2 * k), np.int32),
        place=np.zeros(n_rows, np.int32),
        sizes=np.zeros(n_slots, np.int64),
        sums=np.zeros((n_slots, n_columns)),
        pairs=np.zeros(n_slots),
        unused=np.concatenate([[n_slots - n_groups], np.arange(n_groups, n_slots), np.zeros(n_groups)]).astype(
            np.int64
        ),
        moved=np.zeros(2 * k, np.int64),
        origin=np.zeros(2 * k, np.int64),
        k=k,
        n_metric=n_metric,
    )
    fill_groups(groups)
    return groups


@compiled
def fill_groups(groups: SearchGroups) -> None:
    """Make everything from the labels; also ends the drift of the sums."""
    groups.sizes[:] = 0
    groups.sums[:] = 0.0
    groups.pairs[:] = 0.0
    for row in range(len(groups.labels)):
        _enter(groups, row, np.int64(groups.labels[row]))


@compiled
def _differing_from(groups: SearchGroups, x: int, g: int) -> float:
    """Sum of a record's distances from those of a group in the columns that are not metric."""
    points, weights, members, n_metric = groups.points, groups.weights, groups.members, groups.n_metric
    total = 0.0
    for i in range(groups.sizes[g] if n_metric < len(weights) else 0):
        row, apart = members[g, i], 0.0
        for j in range(n_metric, len(weights)):
            apart += weights[j] if points[x, j] != points[row, j] else 0.0
        total += apart
    return total


@compiled
def _enter(groups: SearchGroups, x: int, g: int) -> None:
    groups.pairs[g] += _differing_from(groups, x, g)
    size = groups.sizes[g]
    groups.members[g, size] = x
    groups.place[x] = size
    groups.labels[x] = g
    groups.sizes[g] = size + 1
    for j in range(groups.n_metric):
        groups.sums[g, j] += groups.points[x, j]


@compiled
def _leave(groups: SearchGroups, x: int) -> None:
    g = np.int64(groups.labels[x])
    last = groups.sizes[g] - 1
    other, at = groups.members[g, last], groups.place[x]
    groups.members[g, at] = other
    groups.place[other] = at
    groups.sizes[g] = last
    for j in range(groups.n_metric):
        groups.sums[g, j] -= groups.points[x, j]
    groups.pairs[g] -= _differing_from(groups, x, g)


@compiled
def _spread(points: Floats, sums: Floats, n_metric: int, x: int, g: int, size: int) -> float:
    """Squared distance of a record from the mean of a group in the metric columns."""
    total, share = 0.0, 1.0 / size
    for j in range(n_metric):
        difference = points[x, j] - sums[g, j] * share
        total += difference * difference
    return total


@compiled
def _entering_spread(points: Floats, sums: Floats, n_metric: int, x: int, g: int, size: int) -> float:
    """How much more a group of that size loses in the metric columns with x, which is not in it."""
    total, share = 0.0, 1.0 / max(1, size)
    for j in range(n_metric):
        difference = points[x, j] - sums[g, j] * share
        total += difference * difference
    return total * size / (size + 1)


@compiled
def leaving_gain(groups: SearchGroups, x: int) -> float:
    """How much less the group of x loses without it."""
    g = np.int64(groups.labels[x])
    size = groups.sizes[g]
    if size == 1:
        return 0.0
    gain: float = size / (size - 1) * _spread(groups.points, groups.sums, groups.n_metric, x, g, size)
    if groups.n_metric < len(groups.weights):
        gain += groups.pairs[g] / size - (groups.pairs[g] - _differing_from(groups, x, g)) / (size - 1)
    return gain


@compiled
def entering_cost(groups: SearchGroups, x: int, g: int) -> float:
    """How much more a group loses with x."""
    size = groups.sizes[g]
    if size == 0:
        return 0.0
    cost: float = size / (size + 1) * _spread(groups.points, groups.sums, groups.n_metric, x, g, size)
    if groups.n_metric < len(groups.weights):
        cost += (groups.pairs[g] + _differing_from(groups, x, g)) / (size + 1) - groups.pairs[g] / size
    return cost


@compiled
def swap_spread(points: Floats, sums: Floats, n_metric: int, x: int, z: int, a: int, b: int, sizes: Ints) -> float:
    """How the loss in the metric columns changes if x of group a and z of group b change places."""
    of_a, of_b = 1.0 / sizes[a], 1.0 / sizes[b]
    along, square = 0.0, 0.0
    for j in range(n_metric):
        step = points[z, j] - points[x, j]
        along += step * (sums[b, j] * of_b - sums[a, j] * of_a)
        square += step * step
    change: float = 2.0 * along - square * (of_a + of_b)
    return change


@compiled
def swap_differing(
    points: Floats, weights: Floats, n_metric: int, members: Codes, sizes: Ints, x: int, z: int, a: int, b: int
) -> float:
    """The same in the other columns; plain arrays and one loop, as most of the time goes here."""
    n_columns, apart = len(weights), 0.0
    for j in range(n_metric, n_columns):
        if points[x, j] != points[z, j]:
            apart += weights[j]
    change = 0.0
    for side in range(2):
        g, leaves, enters = (a, x, z) if side == 0 else (b, z, x)
        total_enters, total_leaves = 0.0, 0.0
        for i in range(sizes[g]):
            row = members[g, i]
            one, other = 0.0, 0.0
            for j in range(n_metric, n_columns):
                value, weight = points[row, j], weights[j]
                one += weight if points[enters, j] != value else 0.0
                other += weight if points[leaves, j] != value else 0.0
            total_enters += one
            total_leaves += other
        change += (total_enters - total_leaves - apart) / sizes[g]
    return change


@compiled
def relocate(groups: SearchGroups, x: int, g: int) -> None:
    """Move a record into another group."""
    _leave(groups, x)
    _enter(groups, x, g)


@compiled
def shift(
    points: Floats,
    sums: Floats,
    labels: Codes,
    members: Codes,
    place: Codes,
    sizes: Ints,
    n_metric: int,
    x: int,
    g: int,
) -> None:
    """Move a record into another group, where all columns are metric; plain arrays, as a tuple of them costs time."""
    a, size = labels[x], sizes[g]
    last = sizes[a] - 1
    other, at = members[a, last], place[x]
    members[a, at] = other
    place[other] = at
    members[g, size] = x
    place[x] = size
    labels[x] = g
    sizes[a], sizes[g] = last, size + 1
    for j in range(n_metric):
        sums[a, j] -= points[x, j]
        sums[g, j] += points[x, j]


@compiled
def regroup(groups: SearchGroups, rows: Ints, limits: Floats, forms: Mask, asked: Mask) -> int:
    """Around each of some records form a group, or dissolve its group, if that changes the loss by less than a limit.

    A new group takes the record and the k-1 nearest of its neighbours that can be spared. Of a dissolved group each
    record goes to the neighbouring group where it costs least. The moves are made and, past the limit, taken back.
    Returns how many times groups changed; ``asked`` becomes true for all records of the groups that did.
    """
    points, sums, labels, sizes, near = groups.points, groups.sums, groups.labels, groups.sizes, groups.near
    members, place, moved, origin, unused = groups.members, groups.place, groups.moved, groups.origin, groups.unused
    n_metric, is_mixed = groups.n_metric, groups.n_metric < len(groups.weights)
    k, full, n_made = groups.k, 2 * groups.k - 1, 0
    for at in range(len(rows)):
        x = rows[at]
        g = labels[x]
        is_form = forms[at]
        new = np.int64(-1)
        if is_form:
            if unused[0] == 0 or sizes[g] <= k:
                continue
            new = unused[unused[0]]
        n_wanted = k if is_form else sizes[g]
        n_targets = 1 if is_form else near.shape[1]
        change, n_moved, i = 0.0, 0, -1
        while n_moved < n_wanted:
            row = x
            if is_form:
                if i == near.shape[1]:
                    break
                if i >= 0:
                    row = np.int64(near[x, i])
                i += 1
                if sizes[labels[row]] <= k:
                    continue
            else:
                row = np.int64(members[g, sizes[g] - 1])
            best, target = np.inf, np.int64(-1)
            for j in range(n_targets):
                other = new if is_form else np.int64(labels[near[row, j]])
                if (other != g or is_form) and other != target and sizes[other] < full:
                    if is_mixed:
                        cost = entering_cost(groups, row, other)
                    else:
                        cost = _entering_spread(points, sums, n_metric, row, other, sizes[other])
                    if cost < best:
                        best, target = cost, other
            if target < 0:
                break
            old = np.int64(labels[row])
            moved[n_moved], origin[n_moved] = row, old
            if is_mixed:
                change += best - leaving_gain(groups, row)
                relocate(groups, row, target)
            else:
                change += best
                shift(points, sums, labels, members, place, sizes, n_metric, row, target)
                change -= _entering_spread(points, sums, n_metric, row, old, sizes[old])
            n_moved += 1
        if n_moved < n_wanted or change >= limits[at]:
            for i in range(n_moved - 1, -1, -1):
                if is_mixed:
                    relocate(groups, moved[i], origin[i])
                else:
                    shift(points, sums, labels, members, place, sizes, n_metric, moved[i], origin[i])
            continue
        n_made += 1
        if is_form:
            unused[0] -= 1
        else:
            unused[0] += 1
            unused[unused[0]] = g
        for i in range(n_moved):
            for side in range(2):
                changed = origin[i] if side else np.int64(labels[moved[i]])
                for j in range(sizes[changed]):
                    asked[members[changed, j]] = True
    return n_made


@compiled
def descend(
    groups: SearchGroups, queue: Codes, asked: Mask, ends: Ints, n_steps: int, least: float, seen: Codes
) -> None:
    """Improve the groups, record by record, for as long as the queue holds records, or ``n_steps`` records.

    For each record the best of all relocations and swaps into the groups of its neighbours is made if it gains more
    than ``least``. Whoever stands in a group that changed is asked again. ``queue`` is circular, ``ends`` its start
    and its length, ``asked`` tells who is in it; ``seen`` holds for each slot the record that looked at it last.
    """
    points, sums, labels, sizes, members, near = (
        groups.points,
        groups.sums,
        groups.labels,
        groups.sizes,
        groups.members,
        groups.near,
    )
    k, full, n_metric, is_mixed = groups.k, 2 * groups.k - 1, groups.n_metric, groups.n_metric < len(groups.weights)
    for _ in range(n_steps):
        if ends[1] == 0:
            return
        x = np.int64(queue[ends[0]])  # as all rows and groups here: each function is compiled for one type
        ends[0] = (ends[0] + 1) % len(queue)
        ends[1] -= 1
        asked[x] = False
        a = np.int64(labels[x])
        gain = leaving_gain(groups, x) if sizes[a] > k else 0.0
        best, target, partner = -least, np.int64(-1), np.int64(-1)
        for i in range(near.shape[1]):
            b = np.int64(labels[near[x, i]])
            if b == a or seen[b] == x:
                continue
            seen[b] = x
            if sizes[a] > k and sizes[b] < full:
                change = entering_cost(groups, x, b) - gain
                if change < best:
                    best, target, partner = change, b, np.int64(-1)
            for at in range(sizes[b]):
                z = np.int64(members[b, at])
                change = swap_spread(points, sums, n_metric, x, z, a, b, sizes)
                if is_mixed:
                    change += swap_differing(points, groups.weights, n_metric, members, sizes, x, z, a, b)
                if change < best:
                    best, target, partner = change, b, z
        for i in range(near.shape[1]):
            seen[labels[near[x, i]]] = -1
        row, goal = x, target
        while row >= 0 and goal >= 0:  # one place for the moves of x and of its partner: half the time to compile
            relocate(groups, row, goal)
            _ask(members[goal, : sizes[goal]], asked, queue, ends)
            row, goal = (partner, a) if row == x else (np.int64(-1), np.int64(-1))
        # Those whom x left behind without a swap may want to change as well.
        if target >= 0 and partner < 0:
            _ask(members[a, : sizes[a]], asked, queue, ends)


@compiled
def _ask(rows: Codes, asked: Mask, queue: Codes, ends: Ints) -> None:
    """Put the rows that are not yet in the queue behind it."""
    for z in rows:
        if not asked[z]:
            asked[z] = True
            queue[(ends[0] + ends[1]) % len(queue)] = z
            ends[1] += 1


@compiled
def group_losses(groups: SearchGroups, losses: Floats) -> None:
    """The loss of each group, from the records themselves."""
    for g in range(len(losses)):
        size = groups.sizes[g]
        if size == 0:
            continue
        losses[g] = groups.pairs[g] / size
        for i in range(size):
            losses[g] += _spread(groups.points, groups.sums, groups.n_metric, groups.members[g, i], g, size)
