"""Compiled loops that cut the points of a group into boxes, each of which holds a point of every member.

A point is a row ``(y, x, t)`` of cells. `across` has the metres of a cell from west to east by its row of cells;
`sizes` are the metres of a cell from south to north, its seconds, the limits of a box in metres and seconds, and the
units in which metres and seconds are added.
"""

from __future__ import annotations

import numpy as np

from shoal.arrays import Floats, Ints
from shoal.kernels.compile import compiled
from shoal.kernels.stable_order import stable_order

N_KEYS = 6
MANY = 40
"""Points of a member in one go: more are cut in time first, as the work grows with their square."""


@compiled
def box_size(low: Ints, high: Ints, across: Floats, sizes: Floats) -> tuple[float, bool]:
    """The mean of the metres and the seconds of a box, in their units; and whether it is within the limits."""
    width = max(across[low[0]], across[high[0]])
    metres = max((high[0] - low[0] + 1) * sizes[0], (high[1] - low[1] + 1) * width)
    seconds = (high[2] - low[2] + 1) * sizes[1]
    return 0.5 * (metres / sizes[4] + seconds / sizes[5]), metres <= sizes[2] and seconds <= sizes[3]


@compiled
def box_of(points: Ints, across: Floats, sizes: Floats) -> tuple[float, bool]:
    """The same of the box of some points."""
    low, high = points[0].copy(), points[0].copy()
    for i in range(len(points)):
        for a in range(3):
            low[a], high[a] = min(low[a], points[i, a]), max(high[a], points[i, a])
    return box_size(low, high, across, sizes)


@compiled
def _costs_before(points: Ints, members: Ints, n_members: int, across: Floats, sizes: Floats, costs: Floats) -> None:
    """What the first 1, 2, ... points cost in a box of their own; infinite where some member has none of them."""
    low, high = points[0].copy(), points[0].copy()
    is_seen = np.zeros(n_members, np.bool_)
    n_seen = 0
    for i in range(len(points)):
        if not is_seen[members[i]]:
            is_seen[members[i]] = True
            n_seen += 1
        for a in range(3):
            low[a], high[a] = min(low[a], points[i, a]), max(high[a], points[i, a])
        costs[i] = (i + 1) * box_size(low, high, across, sizes)[0] if n_seen == n_members else np.inf


@compiled
def _key(points: Ints, progress: Floats, which: int, across: Floats, sizes: Floats) -> Floats:
    """What points are cut along: an axis, how far a member has come, or a diagonal."""
    if which < 3:
        return points[:, which].astype(np.float64)
    if which == 3:
        return progress
    north, east = points[:, 0] * sizes[0], points[:, 1] * across[points[0, 0]]
    diagonal: Floats = north + east if which == 4 else north - east
    return diagonal


@compiled
def cut_in_time(members: Ints, n_members: int, todo: Ints) -> int:
    """Runs of `MANY` points a member and more, in each of which every member has a point; how many there are."""
    n = len(members)
    last = np.zeros(n_members, np.int64)
    for i in range(n):
        last[members[i]] = i
    is_seen = np.zeros(n_members, np.bool_)
    n_runs, n_seen, begin = 0, 0, 0
    for i in range(n):
        if not is_seen[members[i]]:
            is_seen[members[i]] = True
            n_seen += 1
        if n_seen == n_members and i + 1 - begin >= MANY * n_members and i < last.min() and n - i > MANY * n_members:
            todo[n_runs, 0], todo[n_runs, 1] = begin, i + 1
            is_seen[:] = False
            n_runs, n_seen, begin = n_runs + 1, 0, i + 1
    todo[n_runs, 0], todo[n_runs, 1] = begin, n
    return n_runs + 1


@compiled
def cut_group(
    points: Ints, progress: Floats, members: Ints, n_members: int, across: Floats, sizes: Floats, lost: float
) -> Ints:
    """The box of each point of a group, from 0 on; -1 for points that are left out.

    A box begins as that of all points, or of some hours of them where they are many. As long as that makes it cheaper,
    it is cut in two along the best key. Then the points at one end of a key are left out of it where that is cheaper,
    or it is cut again. A point in a box costs the size of the box, and `lost` outside. Boxes that cannot be brought
    within the limits are left out.
    """
    n = len(points)
    labels = np.full(n, -1, np.int64)
    order = stable_order(points[:, 2].copy())
    todo = np.zeros((n + 1, 3), np.int64)  # from, to, and whether points may be left out
    n_todo, n_boxes = cut_in_time(members[order], n_members, todo), 0
    before, after = np.empty(n), np.empty(n)
    while n_todo:
        n_todo -= 1
        a, b, may_lose = todo[n_todo]
        m = b - a
        size, is_within = box_of(points[order[a:b]], across, sizes)
        best = np.inf if may_lose and not is_within else m * size * (1 - 1e-9)
        found, place = 0, -1
        best_order = order[a:b].copy()
        for which in range(N_KEYS if m > n_members else 0):
            keys = _key(points[order[a:b]], progress[order[a:b]], which, across, sizes)
            by_key = stable_order(keys)
            own = order[a:b][by_key]
            _costs_before(points[own], members[own], n_members, across, sizes, before[:m])
            _costs_before(points[own[::-1]], members[own[::-1]], n_members, across, sizes, after[:m])
            for i in range(m - 1):
                if keys[by_key[i]] == keys[by_key[i + 1]]:
                    continue
                left, right, n_right = before[i], after[m - 2 - i], m - 1 - i
                if left + right < best:
                    best, found, place, best_order = left + right, 1, i, own
                if may_lose and left + lost * n_right < best:
                    best, found, place, best_order = left + lost * n_right, 2, i, own
                if may_lose and lost * (i + 1) + right < best:
                    best, found, place, best_order = lost * (i + 1) + right, 3, i, own
        if not found:
            if not may_lose:
                todo[n_todo, 2] = 1
                n_todo += 1
            elif is_within:
                labels[order[a:b]] = n_boxes
                n_boxes += 1
            continue
        order[a:b] = best_order
        if found != 3:
            todo[n_todo] = (a, a + place + 1, may_lose)
            n_todo += 1
        if found != 2:
            todo[n_todo] = (a + place + 1, b, may_lose)
            n_todo += 1
    return labels


@compiled
def cut_groups(
    points: Ints,
    progress: Floats,
    members: Ints,
    starts: Ints,
    n_members: Ints,
    across: Floats,
    sizes: Floats,
    lost: float,
) -> Ints:
    """The same for groups whose points stand one after another: the box of each point, numbered within its group."""
    labels = np.empty(len(points), np.int64)
    for g in range(len(n_members)):
        a, b = starts[g], starts[g + 1]
        labels[a:b] = cut_group(points[a:b], progress[a:b], members[a:b], n_members[g], across, sizes, lost)
    return labels


@compiled
def first_boxes(sides: Ints, starts: Ints, points: Ints, lists: Ints) -> Ints:
    """The first box that each point lies in, of the list of boxes given for it; -1 if there is none."""
    found = np.full(len(points), -1, np.int64)
    for p in range(len(points)):
        if lists[p] < 0:
            continue
        y, x, t = points[p]
        for box in range(starts[lists[p]], starts[lists[p] + 1]):
            s = sides[box]
            if s[0] <= y <= s[1] and s[2] <= x <= s[3] and s[4] <= t <= s[5]:
                found[p] = box
                break
    return found
