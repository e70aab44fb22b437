"""Exchange of records between groups for local recoding: moves, and swaps of pairs, that lower the loss."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.arrays import Codes, Floats, Ints
from shoal.kernels.compile import compiled, compiled_beside
from shoal.kernels.tables.cells import Cells, NarrowCells, penalty

NEAREST = 8  # groups with which a record is tried to be exchanged
AT_ONCE = 8  # members that are tried together where loops are not compiled, until one moves
LEAST = -1e-9  # change of the loss for which a record is exchanged


class Extremes(NamedTuple):
    """The two least and the two greatest ranks of each group in each attribute."""

    low: Codes
    next_low: Codes
    high: Codes
    next_high: Codes


class ExchangeWindow(NamedTuple):
    """Groups among which units are exchanged.

    Attributes
    ----------
    members : int64 array (n_groups, room)
        The units of each group.
    n_members, sizes : int64 arrays (n_groups,)
        How many these are, and how many records they stand for.
    losses : float64 array (n_groups,)
        The loss of a record of each group.
    rests : float64 array (n_groups, room)
        The same without one member.
    changed : int64 array (n_groups,)
        By which of the moves the group was changed last; 0 if by none.
    """

    members: Ints
    n_members: Ints
    sizes: Ints
    losses: Floats
    rests: Floats
    changed: Ints


@compiled
def _measure(cells: Cells, of_unit: Ints, window: ExchangeWindow, group: int, extremes: Extremes) -> None:
    low, next_low, high, next_high = extremes
    ranks, mine, rests = cells.ranks, window.members[group], window.rests[group]
    n_mine = window.n_members[group]
    loss = 0.0
    for i in range(n_mine):
        rests[i] = 0.0
    for a in range(low.shape[1]):
        least = after = np.int32(2**31 - 1)
        greatest = before = np.int32(-1)
        for i in range(n_mine):
            rank = ranks[of_unit[mine[i]], a]
            after = min(after, max(least, rank))
            least = min(least, rank)
            before = max(before, min(greatest, rank))
            greatest = max(greatest, rank)
        low[group, a], next_low[group, a], high[group, a], next_high[group, a] = least, after, greatest, before
        whole = penalty(cells, a, least, greatest)
        loss += whole
        for i in range(n_mine if n_mine > 1 else 0):
            rank = ranks[of_unit[mine[i]], a]
            if rank in (least, greatest):
                start, end = after if rank == least else least, before if rank == greatest else greatest
                rests[i] += penalty(cells, a, start, end)
            else:
                rests[i] += whole
    window.losses[group] = loss


@compiled
def _move(weights: Ints, window: ExchangeWindow, group: int, move: Ints) -> None:
    """Move a member to another group, or swap it for one of its members.

    `move` holds the member's place in its group, the other group, and the place of the one it is swapped for or -1.
    """
    members, n_members = window.members, window.n_members
    place, partner, partner_place = move[0], move[1], move[2]
    mine = members[group, place]
    moved = weights[mine]
    if partner_place < 0:
        n_members[group] -= 1
        members[group, place] = members[group, n_members[group]]
        members[partner, n_members[partner]] = mine
        n_members[partner] += 1
    else:
        moved -= weights[members[partner, partner_place]]
        members[group, place] = members[partner, partner_place]
        members[partner, partner_place] = mine
    window.sizes[group] -= moved
    window.sizes[partner] += moved


def _exchange_at_once(
    cells: Cells,
    of_unit: Ints,
    weights: Ints,
    window: ExchangeWindow,
    n_groups: int,
    k: int,
    n_passes: int,
    extremes: Extremes,
    tried: Ints,
) -> int:
    """Make the same moves, by trying all members of a group at once until one moves, in tables of the window's own."""
    members, n_members, sizes = window.members[:n_groups], window.n_members[:n_groups], window.sizes[:n_groups]
    room = members.shape[1]
    places = np.arange(room)
    units = members[places < n_members[:, None]]
    rows = of_unit[units]
    if (cells.ranks[rows] == cells.ranks[rows[:1]]).all():
        return 0
    space = NarrowCells.of(cells, rows)
    ranks, steps, loss = np.empty((len(space.ranks), len(weights)), dtype=np.int64), space.widths, space.loss
    ranks[:, units] = space.ranks
    least, greatest = np.empty((2, len(ranks), n_groups), dtype=np.int64)
    rest_least, rest_greatest = np.empty((2, *ranks.shape), dtype=np.int64)  # of the unit's group without it
    losses, rests, changed = np.empty(n_groups), np.empty(len(weights)), np.zeros(n_groups, dtype=np.int64)

    def measure(group: int) -> None:
        mine = members[group, : n_members[group]]
        of_mine = ranks[:, mine]
        inner = np.sort(np.hstack([np.full_like(steps, -1), of_mine, steps]))  # with what is wider than nothing
        low, after, before, high = inner[:, 1:2], inner[:, 2:3], inner[:, -3:-2], inner[:, -2:-1]
        least[:, [group]], greatest[:, [group]] = low, high
        rest_least[:, mine] = np.where(of_mine == low, after, low)
        rest_greatest[:, mine] = np.where(of_mine == high, before, high)
        losses[group] = loss(low, high)[0]
        rests[mine] = loss(rest_least[:, mine], rest_greatest[:, mine]) if len(mine) > 1 else 0.0

    for group in range(n_groups):
        measure(group)
    n_moves, n_before, n_done = 0, -1, 0
    while n_moves > n_before and n_done < n_passes:
        n_before = n_moves
        n_done += 1
        for group in range(n_groups):
            place = 0
            while place < n_members[group] and losses[group] > 0.0:
                mine, size = members[group, place : n_members[group]][:AT_ONCE].copy(), sizes[group]
                since = np.where(changed[group] > tried[mine], -1, tried[mine])
                helps, may_leave = rests[mine] < losses[group], size - weights[mine] >= k
                is_open = (changed > since[:, None]) & (helps | may_leave)[:, None]
                is_open[:, group] = False
                some = np.flatnonzero(is_open.any(axis=1))
                if len(some) == 0:
                    tried[mine] = n_moves
                    place += len(mine)
                    continue
                helps, may_leave, some_units = helps[some, None], may_leave[some, None], mine[some]
                weight, rest = weights[some_units][:, None], rests[some_units][:, None]
                low = np.minimum(least[:, None], ranks[:, some_units, None]).reshape(len(ranks), -1)
                high = np.maximum(greatest[:, None], ranks[:, some_units, None]).reshape(len(ranks), -1)
                joint = np.where(is_open[some], loss(low, high).reshape(len(some), -1), np.inf)
                nearest = np.argsort(joint, axis=1, kind="stable")[:, :NEAREST]
                near = joint[np.arange(len(some))[:, None], nearest]
                now = size * losses[group] + sizes[nearest] * losses[nearest]
                change = np.full((*near.shape, 1 + room), np.inf)
                moved = (size - weight) * rest + (sizes[nearest] + weight) * near - now
                change[:, :, 0] = np.where(may_leave & (n_members[nearest] < room), moved, np.inf)
                t, i, j = np.nonzero((helps & (near < np.inf))[:, :, None] & (places < n_members[nearest][:, :, None]))
                our, their = some_units[t], members[nearest[t, i], j]
                ours, theirs = (
                    size + weights[their] - weights[our],
                    sizes[nearest[t, i]] + weights[our] - weights[their],
                )
                least_change = ours * rests[our] + theirs * rests[their] - now[t, i]
                kept = np.flatnonzero((ours >= k) & (theirs >= k) & (least_change < LEAST))
                t, i, j, our, their, ours, theirs = (x[kept] for x in (t, i, j, our, their, ours, theirs))
                joined, left = np.concatenate([their, our]), np.concatenate([our, their])
                both = loss(
                    np.minimum(rest_least[:, left], ranks[:, joined]),
                    np.maximum(rest_greatest[:, left], ranks[:, joined]),
                )
                change[t, i, 1 + j] = ours * both[: len(t)] + theirs * both[len(t) :] - now[t, i]
                flat = change.reshape(len(some), -1)
                best = flat.argmin(axis=1)
                helping = np.flatnonzero(flat[np.arange(len(some)), best] < LEAST)
                if len(helping) == 0:
                    tried[mine] = n_moves
                    place += len(mine)
                    continue
                first = helping[0]
                tried[mine[: some[first] + 1]] = n_moves
                place += int(some[first])
                i, j = divmod(int(best[first]), 1 + room)
                partner = int(nearest[first, i])
                _move(weights, window, group, np.array([place, partner, j - 1]))
                place += j > 0
                measure(group)
                measure(partner)
                n_moves += 1
                changed[group] = changed[partner] = n_moves
    return n_moves


@compiled_beside(_exchange_at_once)
def _exchange_among(
    cells: Cells,
    of_unit: Ints,
    weights: Ints,
    window: ExchangeWindow,
    n_groups: int,
    k: int,
    n_passes: int,
    extremes: Extremes,
    tried: Ints,
) -> int:
    """Exchange units among the first groups of a window; return the number of moves.

    `tried` says, and is told, after which of the moves a unit was last tried in vain; -1 if it was not. All that is
    tried is measured in here, as handing the cells on takes longer than to measure a few groups.
    """
    ranks = cells.ranks
    members, n_members, sizes, losses, rests, changed = window
    low, next_low, high, next_high = extremes
    m = low.shape[1]
    near, nearest, move = np.empty(NEAREST), np.empty(NEAREST, np.int64), np.empty(3, np.int64)
    least, greatest = np.empty(m, np.int32), np.empty(m, np.int32)  # of the group without the unit
    for group in range(n_groups):
        _measure(cells, of_unit, window, group, extremes)
        changed[group] = 0
    n_moves, n_before, n_done = 0, -1, 0
    while n_moves > n_before and n_done < n_passes:
        n_before = n_moves
        n_done += 1
        for group in range(n_groups):
            place = 0
            while place < n_members[group] and losses[group] > 0.0:
                mine = members[group, place]
                row, size, weight, rest = of_unit[mine], sizes[group], weights[mine], rests[group, place]
                since = -1 if changed[group] > tried[mine] else tried[mine]
                tried[mine] = n_moves
                helps = rest < losses[group]  # a swap that helps the other group alone is found from there
                may_leave = size - weight >= k
                if not helps and not may_leave:
                    place += 1
                    continue
                n_near = 0
                for other in range(n_groups):
                    if other == group or changed[other] <= since:
                        continue
                    enough = near[NEAREST - 1] if n_near == NEAREST else np.inf
                    loss = 0.0
                    for a in range(m):
                        rank = ranks[row, a]
                        loss += penalty(cells, a, min(low[other, a], rank), max(high[other, a], rank))
                        if loss >= enough:
                            break
                    if loss < enough:
                        at = n_near if n_near < NEAREST else NEAREST - 1
                        n_near = at + 1
                        while at > 0 and near[at - 1] > loss:
                            near[at], nearest[at] = near[at - 1], nearest[at - 1]
                            at -= 1
                        near[at], nearest[at] = loss, other
                for a in range(m):
                    rank = ranks[row, a]
                    least[a] = next_low[group, a] if rank == low[group, a] else low[group, a]
                    greatest[a] = next_high[group, a] if rank == high[group, a] else high[group, a]
                best, move[0], move[1] = LEAST, place, -1
                for i in range(n_near):
                    other = nearest[i]
                    now = size * losses[group] + sizes[other] * losses[other]
                    if may_leave and n_members[other] < members.shape[1]:
                        change = (size - weight) * rest + (sizes[other] + weight) * near[i] - now
                        if change < best:
                            best, move[1], move[2] = change, other, -1
                    for j in range(n_members[other] if helps else 0):
                        their = members[other, j]
                        ours, theirs = size - weight + weights[their], sizes[other] + weight - weights[their]
                        without = theirs * rests[other, j]  # who comes in makes no group narrower
                        if ours < k or theirs < k or ours * rest + without - now >= best:
                            continue
                        they, loss = of_unit[their], 0.0
                        for a in range(m):
                            rank = ranks[they, a]
                            loss += penalty(cells, a, min(least[a], rank), max(greatest[a], rank))
                            if ours * loss + without - now >= best:
                                break
                        if ours * loss + without - now >= best:
                            continue
                        loss *= ours
                        left = 0.0
                        for a in range(m):
                            rank, lost = ranks[row, a], ranks[they, a]
                            start = next_low[other, a] if lost == low[other, a] else low[other, a]
                            end = next_high[other, a] if lost == high[other, a] else high[other, a]
                            left += penalty(cells, a, min(start, rank), max(end, rank))
                            if loss + theirs * left - now >= best:
                                break
                        change = loss + theirs * left - now
                        if change < best:
                            best, move[1], move[2] = change, other, j
                if move[1] < 0:
                    place += 1
                    continue
                _move(weights, window, group, move)
                if move[2] >= 0:
                    place += 1
                _measure(cells, of_unit, window, group, extremes)
                _measure(cells, of_unit, window, move[1], extremes)
                n_moves += 1
                changed[group] = changed[move[1]] = n_moves
    return n_moves


@compiled
def exchange(
    cells: Cells, of_unit: Ints, weights: Ints, labels: Codes, n_groups: int, k: int, width: int, n_passes: int
) -> int:
    """Move units, and swap pairs of them, between groups while that lowers the loss; return the number of moves.

    A unit is a record, or several equal ones that stay together. It is tried with the eight groups of the same window
    that it would suit best, and where its own has not changed since, with those that have. Groups keep at least k
    records. Those of more than 4 k units are left alone.

    Parameters
    ----------
    of_unit : int64 array (n_units,)
        The distinct record of each.
    weights : int64 array (n_units,)
        How many records each is.
    labels : int32 array (n_units,)
        The group of each, changed in place.
    width : int
        Groups are taken so many at a time, in the order of their numbers.
    """
    m = cells.ranks.shape[1]
    room = 4 * k
    ends = np.zeros(n_groups + 1, np.int64)
    for label in labels:
        ends[label + 1] += 1
    for group in range(n_groups):
        ends[group + 1] += ends[group]
    begins, units = ends[:-1].copy(), np.empty(len(labels), np.int64)
    for unit in range(len(labels)):
        units[begins[labels[unit]]] = unit
        begins[labels[unit]] += 1
    window = ExchangeWindow(
        np.empty((width, room), np.int64),
        np.empty(width, np.int64),
        np.empty(width, np.int64),
        np.empty(width),
        np.empty((width, room)),
        np.empty(width, np.int64),
    )
    numbers, tried = np.empty(width, np.int32), np.full(len(labels), -1)
    extremes = Extremes(
        np.empty((width, m), np.int32),
        np.empty((width, m), np.int32),
        np.empty((width, m), np.int32),
        np.empty((width, m), np.int32),
    )
    n_moves, group = 0, 0
    while group < n_groups:
        n_taken = 0
        while n_taken < width and group < n_groups:
            n_members = ends[group + 1] - ends[group]
            if n_members <= room:
                window.sizes[n_taken] = 0
                for i in range(n_members):
                    window.members[n_taken, i] = units[ends[group] + i]
                    window.sizes[n_taken] += weights[units[ends[group] + i]]
                window.n_members[n_taken], numbers[n_taken] = n_members, group
                n_taken += 1
            group += 1
        n_moves += _exchange_among(cells, of_unit, weights, window, n_taken, k, n_passes, extremes, tried)
        for i in range(n_taken):
            for j in range(window.n_members[i]):
                labels[window.members[i, j]] = numbers[i]
    return n_moves
