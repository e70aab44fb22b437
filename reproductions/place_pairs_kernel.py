"""Compiled loops of GLOVE: the stretch of two fingerprints, their merger, and the greedy merging of a block.

A fingerprint is a list of boxes in order of time, each a row ``(y0, y1, x0, x1, t0, t1)`` of cells, both ends in it.
`across` has the metres of a cell from west to east by its row of cells.
"""

from __future__ import annotations

import numpy as np

from shoal.arrays import Codes, Floats, Ints, Mask, Singles
from shoal.kernels.compile import compiled

LOST = 1.5
"""What it costs to leave a point out; to publish it costs 1 at most, where its box is as large as it may be."""


@compiled
def box_cost(a: Codes, b: Codes, across: Floats, sizes: Floats) -> float:
    """Half the share of the limit in metres that the hull of two boxes takes, and half that in seconds; or `LOST`.

    `sizes` are the metres of a cell from south to north, its seconds, and the limits of a box in metres and seconds.
    """
    y0, y1 = min(a[0], b[0]), max(a[1], b[1])
    seconds = (max(a[5], b[5]) - min(a[4], b[4]) + 1) * sizes[1]
    if seconds > sizes[3]:
        return LOST
    width = max(across[y0], across[y1])
    metres = max((y1 - y0 + 1) * sizes[0], (max(a[3], b[3]) - min(a[2], b[2]) + 1) * width)
    if metres > sizes[2]:
        return LOST
    return float(0.5 * (metres / sizes[2] + seconds / sizes[3]))


@compiled
def nearest_boxes(a: Codes, b: Codes, across: Floats, sizes: Floats, best: Ints, costs: Floats) -> None:
    """For each box of a the cheapest of b to be joined with, -1 where none is within the limits, and what it costs."""
    reach = int(sizes[3] / sizes[1])
    first = 0
    for i in range(len(a)):
        while first < len(b) and b[first, 4] < a[i, 4] - reach:
            first += 1
        best[i], costs[i] = -1, LOST
        for j in range(first, len(b)):
            if b[j, 4] > a[i, 4] + reach:
                break
            cost = box_cost(a[i], b[j], across, sizes)
            if cost < costs[i]:
                best[i], costs[i] = j, cost


@compiled
def pair_effort(a: Codes, wa: Ints, b: Codes, wb: Ints, across: Floats, sizes: Floats) -> float:
    """The mean cost of a point when two fingerprints are joined: each box with its cheapest counterpart."""
    best, costs = np.empty(max(len(a), len(b)), np.int64), np.empty(max(len(a), len(b)), np.float64)
    total, weight = 0.0, 0
    nearest_boxes(a, b, across, sizes, best, costs)
    for i in range(len(a)):
        total += wa[i] * costs[i]
        weight += wa[i]
    nearest_boxes(b, a, across, sizes, best, costs)
    for i in range(len(b)):
        total += wb[i] * costs[i]
        weight += wb[i]
    return total / weight


@compiled
def join(long: Codes, short: Codes, across: Floats, sizes: Floats, of_long: Ints, of_short: Ints) -> Codes:
    """Join two fingerprints: boxes that each hold at least one box of both; where each box went, -1 if it is lost.

    Each box of the longer one joins the cheapest of the shorter, the cheapest first, as long as the hull keeps within
    the limits; boxes of the shorter that none has joined then join what came of the others.
    """
    n, m = len(long), len(short)
    best, costs = np.empty(max(n, m), np.int64), np.empty(max(n, m), np.float64)
    nearest_boxes(long, short, across, sizes, best, costs)
    hulls = short.copy()
    is_used = np.zeros(m, np.bool_)
    of_long[:] = -1
    order = np.argsort(costs[:n], kind="mergesort")
    for i in order:
        j = best[i]
        if j >= 0 and box_cost(long[i], hulls[j], across, sizes) < LOST:
            _widen(hulls[j], long[i])
            is_used[j] = True
            of_long[i] = j
    for j in range(m):
        of_short[j] = j if is_used[j] else -1
    for j in range(m):
        if is_used[j]:
            continue
        cheapest = LOST
        for other in range(m):
            if is_used[other]:
                cost = box_cost(short[j], hulls[other], across, sizes)
                if cost < cheapest:
                    cheapest, of_short[j] = cost, other
        if of_short[j] >= 0:
            _widen(hulls[of_short[j]], short[j])
    used = np.flatnonzero(is_used)
    in_time = used[np.argsort(hulls[used, 4], kind="mergesort")]
    place = np.full(m, -1, np.int64)
    for new, old in enumerate(in_time):
        place[old] = new
    for i in range(n):
        if of_long[i] >= 0:
            of_long[i] = place[of_long[i]]
    for j in range(m):
        if of_short[j] >= 0:
            of_short[j] = place[of_short[j]]
    return np.asarray(hulls[in_time])


@compiled
def _widen(hull: Codes, box: Codes) -> None:
    for side in range(0, 6, 2):
        hull[side] = min(hull[side], box[side])
        hull[side + 1] = max(hull[side + 1], box[side + 1])


@compiled
def _shares_person(first: Codes, second: Codes, next_unit: Ints, a: int, b: int) -> bool:
    """Whether two clusters hold trips of one person."""
    i = a
    while i >= 0:
        j = b
        while j >= 0:
            if first[i] == second[j]:
                return True
            j = next_unit[j]
        i = next_unit[i]
    return False


@compiled
def glove_block(
    boxes: Codes,
    weights: Ints,
    starts: Ints,
    persons: Codes,
    k: int,
    across: Floats,
    sizes: Floats,
    most_effort: float,
) -> tuple[Ints, Ints]:
    """Merge the cheapest pair of clusters until each has k persons or nothing can be merged.

    Parameters
    ----------
    boxes, weights, starts
        The fingerprints of all units, one after another, how many points each box stands for, and where each begins.
    persons
        Whose each unit is; two units of one person are never merged.

    Returns
    -------
    groups : int64 array (n_units,)
        From 0 on in the order in which they were made; -1 for units that stand in none.
    of_box : int64 array (n_boxes,)
        Which box of its group each has become, in order of time; -1 if it was left out.
    """
    n = len(starts) - 1
    shape, weight = boxes.copy(), weights.copy()
    sizes_of = np.diff(starts)
    n_units = np.ones(n, np.int64)
    next_unit = np.full(n, -1, np.int64)
    last_unit = np.arange(n)
    of_box = np.empty(len(boxes), np.int64)
    for u in range(n):
        for p in range(starts[u], starts[u + 1]):
            of_box[p] = p - starts[u]
    is_open = np.ones(n, np.bool_)
    effort: Singles = np.full((n, n), np.inf, np.float32)
    near, least = np.full(n, -1, np.int64), np.full(n, np.inf, np.float32)
    for a in range(n):
        for b in range(a + 1, n):
            if persons[a] != persons[b]:
                sa, sb = starts[a], starts[b]
                effort[a, b] = effort[b, a] = pair_effort(
                    shape[sa : starts[a + 1]], weight[sa : starts[a + 1]], shape[sb : starts[b + 1]],
                    weight[sb : starts[b + 1]], across, sizes,
                )  # fmt: skip
    for a in range(n):
        _find_nearest(effort, is_open, a, near, least)
    groups = np.full(n, -1, np.int64)
    n_groups = 0
    while True:
        a = -1
        for u in range(n):
            if is_open[u] and near[u] >= 0 and (a < 0 or least[u] < least[a]):
                a = u
        if a < 0 or least[a] >= most_effort:
            break
        b = near[a]
        if sizes_of[b] > sizes_of[a]:
            a, b = b, a
        long = shape[starts[a] : starts[a] + sizes_of[a]]
        short = shape[starts[b] : starts[b] + sizes_of[b]]
        of_long, of_short = np.empty(len(long), np.int64), np.empty(len(short), np.int64)
        joined = join(long, short, across, sizes, of_long, of_short)
        if len(joined) == 0:
            effort[a, b] = effort[b, a] = np.inf
            _find_nearest(effort, is_open, a, near, least)
            _find_nearest(effort, is_open, b, near, least)
            continue
        _relabel(of_box, starts, next_unit, a, of_long)
        _relabel(of_box, starts, next_unit, b, of_short)
        heavy = np.zeros(len(joined), np.int64)
        for i in range(len(long)):
            if of_long[i] >= 0:
                heavy[of_long[i]] += weight[starts[a] + i]
        for i in range(len(short)):
            if of_short[i] >= 0:
                heavy[of_short[i]] += weight[starts[b] + i]
        shape[starts[a] : starts[a] + len(joined)] = joined
        weight[starts[a] : starts[a] + len(joined)] = heavy
        sizes_of[a] = len(joined)
        next_unit[last_unit[a]] = b
        last_unit[a] = last_unit[b]
        n_units[a] += n_units[b]
        is_open[b] = False
        effort[b, :] = np.inf
        effort[:, b] = np.inf
        if n_units[a] >= k:
            is_open[a] = False
            effort[a, :] = np.inf
            effort[:, a] = np.inf
            u = a
            while u >= 0:
                groups[u] = n_groups
                u = next_unit[u]
            n_groups += 1
        else:
            for c in range(n):
                if is_open[c] and c != a:
                    value = np.float32(np.inf)
                    if not _shares_person(persons, persons, next_unit, a, c):
                        value = pair_effort(
                            shape[starts[a] : starts[a] + sizes_of[a]], weight[starts[a] : starts[a] + sizes_of[a]],
                            shape[starts[c] : starts[c] + sizes_of[c]], weight[starts[c] : starts[c] + sizes_of[c]],
                            across, sizes,
                        )  # fmt: skip
                    effort[a, c] = effort[c, a] = value
            _find_nearest(effort, is_open, a, near, least)
        for c in range(n):
            if is_open[c] and c != a:
                if near[c] == a or near[c] == b:
                    _find_nearest(effort, is_open, c, near, least)
                elif is_open[a] and effort[c, a] < least[c]:
                    near[c], least[c] = a, effort[c, a]
    return groups, of_box


@compiled
def _find_nearest(effort: Singles, is_open: Mask, a: int, near: Ints, least: Singles) -> None:
    near[a], least[a] = -1, np.inf
    for b in range(len(is_open)):
        if is_open[b] and b != a and effort[a, b] < least[a]:
            near[a], least[a] = b, effort[a, b]


@compiled
def _relabel(of_box: Ints, starts: Ints, next_unit: Ints, unit: int, became: Ints) -> None:
    """Follow what the boxes of a cluster have become, in all its units."""
    while unit >= 0:
        for p in range(starts[unit], starts[unit + 1]):
            if of_box[p] >= 0:
                of_box[p] = became[of_box[p]]
        unit = next_unit[unit]
