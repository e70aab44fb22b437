"""Compiled loops that cut the points of a group into boxes, each of which holds a point of every member.

A point is a row ``(y, x, t)`` of cells. `across` has the metres of a cell from west to east by its row of cells;
`sizes` are the metres of a cell from south to north, its seconds, the limits of a box in metres and seconds, and the
units in which metres and seconds are added.
"""

from __future__ import annotations

import numpy as np

from shoal.arrays import Floats, Ints, Mask
from shoal.kernels.compile import compiled, compiled_beside
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


def _sizes_by_arrays(low: Ints, high: Ints, across: Floats, sizes: Floats) -> tuple[Floats, Mask]:
    """See `box_size`: of many boxes."""
    sides = high - low + 1
    width = np.maximum(across[low[:, 0]], across[high[:, 0]])
    metres, seconds = np.maximum(sides[:, 0] * sizes[0], sides[:, 1] * width), sides[:, 2] * sizes[1]
    return 0.5 * (metres / sizes[4] + seconds / sizes[5]), (metres <= sizes[2]) & (seconds <= sizes[3])


def _costs_by_arrays(
    points: Ints, members: Ints, lengths: Ints, n_members: Ints, across: Floats, sizes: Floats
) -> Floats:
    """See `_costs_before`: of many pieces that stand one after another, none of which shares a member with another."""
    place, starts = np.arange(len(points)), np.cumsum(lengths) - lengths
    apart = np.repeat(np.arange(len(lengths)) * (np.ptp(points) + 1), lengths)[:, None]  # none goes on in the next
    low = np.minimum.accumulate(points - apart, axis=0) + apart
    high = np.maximum.accumulate(points + apart, axis=0) - apart
    first = np.empty(members.max() + 1, np.int64)
    first[members[::-1]] = place[::-1]
    n_seen = np.cumsum(first[members] == place)
    has_all = n_seen == np.repeat(n_seen[starts] - 1 + n_members, lengths)
    costs = (place - np.repeat(starts, lengths) + 1) * _sizes_by_arrays(low, high, across, sizes)[0]
    return np.where(has_all, costs, np.inf)


def _cuts_by_arrays(
    points: Ints, progress: Floats, members: Ints, lengths: Ints, n_members: Ints, across: Floats, sizes: Floats
) -> tuple[Ints, Floats, Floats]:
    """Along each key, a row each: the order of the points of pieces, and what those up to each and after it cost.

    Infinite, both, where it cannot be cut.
    """
    starts, piece = np.cumsum(lengths) - lengths, np.repeat(np.arange(len(lengths)), lengths)
    north, east = points[:, 0] * sizes[0], points[:, 1] * across[points[starts, 0]][piece]
    keys = np.stack([*points.T, progress, north + east, north - east])  # see _key
    orders = np.stack([np.lexsort((key, piece)) for key in keys])
    keys = np.take_along_axis(keys, orders, axis=1)
    lengths, n_members = np.tile(lengths, N_KEYS), np.tile(n_members, N_KEYS)
    own = members[orders].reshape(-1) + np.repeat(np.cumsum(n_members) - n_members, lengths)
    given = points[orders].reshape(-1, 3)
    before = _costs_by_arrays(given, own, lengths, n_members, across, sizes).reshape(keys.shape)
    after = _costs_by_arrays(given[::-1], own[::-1], lengths[::-1], n_members[::-1], across, sizes)[::-1]
    after = np.append(after[1:], np.inf).reshape(keys.shape)
    is_whole = np.append(keys[:, 1:] == keys[:, :-1], np.ones((N_KEYS, 1), np.bool_), axis=1)
    is_whole[:, starts[1:] - 1] = True
    before[is_whole] = after[is_whole] = np.inf
    return orders, before, after


def _runs_by_arrays(order: Ints, members: Ints, starts: Ints, n_members: Ints) -> Ints:
    """The runs that all groups begin with, a row each: from, to, and whose it is."""
    runs = []
    for g, m in enumerate(n_members.tolist()):
        a, b = starts[g : g + 2].tolist()
        todo = np.array([[0, b - a]])
        if b - a > MANY * m:
            todo = np.empty((b - a + 1, 2), np.int64)
            todo = todo[: cut_in_time(members[order[a:b]], m, todo)]
        runs.append(np.column_stack([todo + a, np.full(len(todo), g)]))
    return np.concatenate(runs)


def _cut_by_arrays(
    points: Ints,
    progress: Floats,
    members: Ints,
    starts: Ints,
    n_members: Ints,
    across: Floats,
    sizes: Floats,
    lost: float,
) -> Ints:
    """See `cut_groups`: the pieces of all groups are cut at once, then all that they were cut into, and so on."""
    order = np.lexsort((points[:, 2], np.repeat(np.arange(len(n_members)), np.diff(starts))))
    todo = _runs_by_arrays(order, members, starts, n_members)
    may_lose, boxes = np.zeros(len(todo), np.bool_), []
    while len(todo):
        begin, end, group = todo.T
        lengths = end - begin
        at, piece = np.cumsum(lengths) - lengths, np.repeat(np.arange(len(todo)), lengths)
        place = np.arange(len(piece)) - at[piece]
        rows = order[begin[piece] + place]
        low, high = np.minimum.reduceat(points[rows], at), np.maximum.reduceat(points[rows], at)
        size, is_within = _sizes_by_arrays(low, high, across, sizes)
        orders, left, right = _cuts_by_arrays(
            points[rows], progress[rows], members[rows], lengths, n_members[group], across, sizes
        )
        best = lengths * size * (1 - 1e-9)
        may_lose = may_lose | (np.minimum.reduceat(left + right, at, axis=1).min(axis=0) >= best)
        best[may_lose & ~is_within] = np.inf
        costs = np.stack([left + right, left + lost * (lengths[piece] - 1 - place), lost * (place + 1) + right])
        costs[1:, :, ~may_lose[piece]] = np.inf
        cheapest = np.minimum.reduceat(costs.min(axis=0), at, axis=1)
        is_cut, along = cheapest.min(axis=0) < best, cheapest.argmin(axis=0)
        own = costs[:, along[piece], np.arange(len(piece))]
        tied = np.flatnonzero(own.min(axis=0) == cheapest[along, np.arange(len(todo))][piece])
        chosen = tied[np.searchsorted(tied, at)]
        found, middle = own[:, chosen].argmin(axis=0), begin + place[chosen] + 1
        boxes.append(todo[~is_cut & is_within])
        is_moved = is_cut[piece]
        order[(begin[piece] + place)[is_moved]] = rows[orders[along[piece], np.arange(len(piece))]][is_moved]
        first, second = is_cut & (found != 2), is_cut & (found != 1)
        todo = np.concatenate(
            [np.column_stack([begin, middle, group])[first], np.column_stack([middle, end, group])[second]]
        )
        may_lose = np.concatenate([may_lose[first], may_lose[second]])
    labels = np.full(len(points), -1, np.int64)
    found = np.concatenate(boxes)
    begin, end, group = found[np.lexsort((-found[:, 0], found[:, 2]))].T
    for number, a, b in zip(np.arange(len(begin)) - np.searchsorted(group, group), begin, end, strict=True):
        labels[order[a:b]] = number
    return labels


@compiled_beside(_cut_by_arrays)
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
