"""Groups for local recoding: cut top-down by gain, grow groups inside the blocks, exchange records between groups.

All work is on distinct records, each of which stands for as many as there are copies of it, which are never parted. A
group's label in an attribute covers its least to its greatest rank, as leaves of a
taxonomy stand from left to right.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.arrays import Codes, Floats, Ints
from shoal.kernels.compile import compiled

NEAREST = 8  # groups with which a record is tried to be exchanged
BETTER = 1 + 1e-12  # scores nearer than this are equal but for rounding


class Cells(NamedTuple):
    """Distinct records and what it costs not to tell values apart.

    Attributes
    ----------
    ranks : int32 array (n_distinct, m)
    counts : int64 array (n_distinct,)
        How many records each stands for.
    widths : int64 array (m,)
        Number of levels of each attribute's tree, leaves and root included.
    starts : int64 array (m,)
        Where each attribute begins in `nodes` and `penalties`: entry ``starts[a] + rank * widths[a] + height``.
    nodes : int32 array
        The node above each rank at each height, from 0 and ascending with the ranks.
    penalties : float64 array
        The loss of a cell published as that node, 0 to 1.
    lines : int64 array (m,)
        Where the attribute begins in `positions` if the loss of a cell is the length from its least to its greatest
        value; -1 if it is that of the lowest node above both.
    positions : float64 array
        Values between 0 and 1; a missing one at 2.
    """

    ranks: Codes
    counts: Ints
    widths: Ints
    starts: Ints
    nodes: Codes
    penalties: Floats
    lines: Ints
    positions: Floats


@compiled
def _penalty(cells: Cells, a: int, low: int, high: int) -> float:
    """The loss of a cell whose label covers the ranks low .. high."""
    if low == high:
        return 0.0
    if cells.lines[a] >= 0:
        return float(min(cells.positions[cells.lines[a] + high] - cells.positions[cells.lines[a] + low], 1.0))
    below, above = cells.starts[a] + low * cells.widths[a], cells.starts[a] + high * cells.widths[a]
    while cells.nodes[below] != cells.nodes[above]:
        below += 1
        above += 1
    return float(cells.penalties[below])


@compiled
def _joint(cells: Cells, low: Codes, high: Codes, group: int, row: int, enough: float) -> float:
    """The loss of a record of a group, known by its extremes, together with one more; cut short at `enough`."""
    total = 0.0
    for a in range(low.shape[1]):
        rank = cells.ranks[row, a]
        total += _penalty(cells, a, min(low[group, a], rank), max(high[group, a], rank))
        if total >= enough:
            break
    return total


@compiled
def _widen(cells: Cells, low: Codes, high: Codes, group: int, row: int) -> None:
    for a in range(low.shape[1]):
        low[group, a] = min(low[group, a], cells.ranks[row, a])
        high[group, a] = max(high[group, a], cells.ranks[row, a])


@compiled
def _loss(cells: Cells, low: Codes, high: Codes, group: int) -> float:
    """The loss of a record of a group, known by its extremes."""
    total = 0.0
    for a in range(low.shape[1]):
        total += _penalty(cells, a, low[group, a], high[group, a])
    return total


@compiled
def _gain(
    cells: Cells,
    a: int,
    rows: Ints,
    begin: int,
    end: int,
    n_records: int,
    k: int,
    power: float,
    sizes: Ints,
    kids: Ints,
) -> tuple[float, int, int]:
    """The best cut of a block in one attribute: its score, the height of the parts and how many children stand alone.

    The children of the block's node, most frequent first, become parts; those after some point are one part together.
    The score is the loss that the attribute no longer has, over the entropy of the parts to the given power. On return
    `kids` holds the ranks that stand for the children, and `sizes` is 0 again.
    """
    low = high = cells.ranks[rows[begin], a]
    for i in range(begin, end):
        rank = cells.ranks[rows[i], a]
        low, high = min(low, rank), max(high, rank)
    if low == high:
        return 0.0, 0, 0
    width, start = cells.widths[a], cells.starts[a]
    height = 0
    while cells.nodes[start + low * width + height] != cells.nodes[start + high * width + height]:
        height += 1
    whole = cells.penalties[start + low * width + height]
    height -= 1
    n_kids, n_large = 0, 0
    for i in range(begin, end):
        rank = cells.ranks[rows[i], a]
        node = cells.nodes[start + rank * width + height]
        if sizes[node] == 0:
            kids[n_kids] = rank
            n_kids += 1
        sizes[node] += cells.counts[rows[i]]
    for i in range(n_kids):  # large ones to the front, most frequent first, of equals the one of least node
        kid = kids[i]
        node = cells.nodes[start + kid * width + height]
        if sizes[node] >= k:
            at = n_large
            n_large += 1
            kids[i] = kids[at]
            while at > 0:
                other = cells.nodes[start + kids[at - 1] * width + height]
                if sizes[other] > sizes[node] or (sizes[other] == sizes[node] and other < node):
                    break
                kids[at] = kids[at - 1]
                at -= 1
            kids[at] = kid
    best, n_best = 0.0, 0
    left, gain, entropy = n_records, 0.0, 0.0
    for i in range(n_large):
        at = start + kids[i] * width + height
        size = sizes[cells.nodes[at]]
        left -= size
        gain += size * (whole - cells.penalties[at])
        entropy -= size / n_records * np.log2(size / n_records)
        all_gain, all_entropy = gain, entropy
        if left > 0:
            all_entropy -= left / n_records * np.log2(left / n_records)
            if n_kids == i + 2:  # the rest is one child
                all_gain += left * (whole - cells.penalties[start + kids[i + 1] * width + height])
        if (left == 0 or left >= k) and all_gain > BETTER * best * all_entropy**power:
            best, n_best = all_gain / all_entropy**power, i + 1
    for i in range(n_kids):
        sizes[cells.nodes[start + kids[i] * width + height]] = 0
    return best, height, n_best


@compiled
def cut_blocks(cells: Cells, k: int, enough: int, power: float, n_nodes: int) -> tuple[Ints, Ints]:
    """Cut all records into blocks, each time in the attribute of best score, of equals the first.

    Blocks of at most `enough` records are left, and those of which no part would have k records or be told from the
    others. All copies of a record come into one block.

    Returns
    -------
    rows : int64 array (n_distinct,)
        The distinct records, block by block.
    ends : int64 array (n_blocks,)
        Where each block ends.
    """
    n_rows, m = cells.ranks.shape
    rows, moved = np.arange(n_rows), np.empty(n_rows, np.int64)
    ends = np.empty(n_rows, np.int64)
    first, last = np.empty(n_rows, np.int64), np.empty(n_rows, np.int64)  # blocks not looked at yet, the next one last
    sizes, part = np.zeros(n_nodes, np.int64), np.zeros(n_nodes, np.int64)
    kids, best_kids = np.empty(n_rows, np.int64), np.empty(n_rows, np.int64)
    begins = np.empty(n_rows + 2, np.int64)
    first[0], last[0] = 0, n_rows
    n_open, n_ends = 1, 0
    while n_open > 0:
        n_open -= 1
        start, end = first[n_open], last[n_open]
        n_records = 0
        for i in range(start, end):
            n_records += cells.counts[rows[i]]
        best, attribute, height, n_parts = 0.0, 0, 0, 0
        if n_records > enough and n_records >= 2 * k:
            for a in range(m):
                score, at, n_alone = _gain(cells, a, rows, start, end, n_records, k, power, sizes, kids)
                if score > BETTER * best:
                    best, attribute, height, n_parts = score, a, at, n_alone
                    for i in range(n_alone):
                        best_kids[i] = kids[i]
        if n_parts == 0:
            ends[n_ends] = end
            n_ends += 1
            continue
        offset, width = cells.starts[attribute] + height, cells.widths[attribute]
        for i in range(n_parts):
            part[cells.nodes[offset + best_kids[i] * width]] = i + 1
        for i in range(1, n_parts + 2):
            begins[i] = 0
        begins[0] = start
        for i in range(start, end):
            begins[part[cells.nodes[offset + cells.ranks[rows[i], attribute] * width]] + 1] += 1
        for i in range(n_parts + 1):
            begins[i + 1] += begins[i]
        for i in range(n_parts, -1, -1):  # the first is to be looked at next, so that blocks end in ascending order
            if begins[i + 1] > begins[i]:
                first[n_open], last[n_open] = begins[i], begins[i + 1]
                n_open += 1
        for i in range(start, end):
            at = part[cells.nodes[offset + cells.ranks[rows[i], attribute] * width]]
            moved[begins[at]] = rows[i]
            begins[at] += 1
        for i in range(start, end):
            rows[i] = moved[i]
        for i in range(n_parts):
            part[cells.nodes[offset + best_kids[i] * width]] = 0
    return rows, ends[:n_ends].copy()


@compiled
def grow_groups(cells: Cells, rows: Ints, ends: Ints, k: int, labels: Codes) -> int:
    """Group the distinct records of each block greedily; return the number of groups.

    A group starts with the first one that is left, and takes others until it stands for k records or more: each time
    the one with which the loss of a record, times k or as many as there would be if that is more, is least. When fewer
    than k are left over, each one joins the group whose loss grows least.

    Parameters
    ----------
    rows, ends : int64 arrays
        The distinct records block by block, in the order in which they start groups, and where each block ends.
    labels : int32 array (n_distinct,)
        Filled with the group of each; those of a block are numbered on from those before.
    """
    m = cells.ranks.shape[1]
    most, start, n_records = 0, 0, 0
    for end in ends:
        most = max(most, end - start)
        start = end
    for row in rows:
        n_records += cells.counts[row]
    alive = np.empty(most, np.int64)
    room = min(n_records // k, len(rows)) + 1
    low, high = np.empty((room, m), np.int32), np.empty((room, m), np.int32)
    sizes, losses = np.zeros(room, np.int64), np.empty(room)
    n_groups, start = 0, 0
    for end in ends:
        n_alive, n_left = end - start, 0
        for i in range(n_alive):
            alive[i] = rows[start + i]
            n_left += cells.counts[alive[i]]
        begin = n_groups
        while n_left >= k:
            at = 0
            while True:
                row = alive[at]
                labels[row] = n_groups
                if sizes[n_groups] == 0:
                    for a in range(m):
                        low[n_groups, a] = high[n_groups, a] = cells.ranks[row, a]
                _widen(cells, low, high, n_groups, row)
                sizes[n_groups] += cells.counts[row]
                n_left -= cells.counts[row]
                n_alive -= 1
                for i in range(at, n_alive):
                    alive[i] = alive[i + 1]
                if sizes[n_groups] >= k:
                    break
                least = np.inf
                for i in range(n_alive):
                    size = max(k, sizes[n_groups] + cells.counts[alive[i]])
                    loss = size * _joint(cells, low, high, n_groups, alive[i], BETTER * least / size)
                    if loss < least:
                        at, least = i, loss
            n_groups += 1
        for group in range(begin, n_groups):
            losses[group] = _loss(cells, low, high, group)
        for i in range(n_alive):
            row = alive[i]
            best, least, joint = begin, np.inf, 0.0
            for group in range(begin, n_groups):
                after = _joint(cells, low, high, group, row, np.inf)
                growth = (sizes[group] + cells.counts[row]) * after - sizes[group] * losses[group]
                if growth < least:
                    best, least, joint = group, growth, after
            labels[row] = best
            sizes[best] += cells.counts[row]
            losses[best] = joint
            _widen(cells, low, high, best, row)
        start = end
    return n_groups


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
def _swapped(cells: Cells, extremes: Extremes, group: int, out: int, into: int, enough: float) -> float:
    """The loss of a record of a group in which a member is replaced, or taken out (into < 0); cut short at `enough`."""
    total = 0.0
    for a in range(extremes.low.shape[1]):
        rank = cells.ranks[out, a]
        least = extremes.next_low[group, a] if rank == extremes.low[group, a] else extremes.low[group, a]
        greatest = extremes.next_high[group, a] if rank == extremes.high[group, a] else extremes.high[group, a]
        if into >= 0:
            least = min(least, cells.ranks[into, a])
            greatest = max(greatest, cells.ranks[into, a])
        total += _penalty(cells, a, least, greatest)
        if total >= enough:
            break
    return total


@compiled
def _measure(cells: Cells, of_unit: Ints, window: ExchangeWindow, group: int, extremes: Extremes) -> None:
    low, next_low, high, next_high = extremes
    window.losses[group] = 0.0
    for a in range(low.shape[1]):
        least = after = np.int32(2**31 - 1)
        greatest = before = np.int32(-1)
        for i in range(window.n_members[group]):
            rank = cells.ranks[of_unit[window.members[group, i]], a]
            after = min(after, max(least, rank))
            least = min(least, rank)
            before = max(before, min(greatest, rank))
            greatest = max(greatest, rank)
        low[group, a], next_low[group, a], high[group, a], next_high[group, a] = least, after, greatest, before
        window.losses[group] += _penalty(cells, a, least, greatest)
    window.rests[group, 0] = 0.0
    for i in range(window.n_members[group] if window.n_members[group] > 1 else 0):
        window.rests[group, i] = _swapped(cells, extremes, group, of_unit[window.members[group, i]], -1, np.inf)


@compiled
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

    `tried` says, and is told, after which of the moves a unit was last tried in vain; -1 if it was not.
    """
    members, n_members, sizes, losses, rests, changed = window
    near, nearest = np.empty(NEAREST), np.empty(NEAREST, np.int64)
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
                for i in range(NEAREST):
                    near[i], nearest[i] = np.inf, -1
                for other in range(n_groups):
                    if other != group and changed[other] > since:
                        loss = _joint(cells, extremes.low, extremes.high, other, row, near[NEAREST - 1])
                        if loss < near[NEAREST - 1]:
                            at = NEAREST - 1
                            while at > 0 and near[at - 1] > loss:
                                near[at], nearest[at] = near[at - 1], nearest[at - 1]
                                at -= 1
                            near[at], nearest[at] = loss, other
                best, partner, partner_place = -1e-9, -1, -1
                for i in range(NEAREST):
                    other = nearest[i]
                    if other < 0:
                        break
                    now = size * losses[group] + sizes[other] * losses[other]
                    if may_leave and n_members[other] < members.shape[1]:
                        change = (size - weight) * rest + (sizes[other] + weight) * near[i] - now
                        if change < best:
                            best, partner, partner_place = change, other, -1
                    for j in range(n_members[other] if helps else 0):
                        their = members[other, j]
                        ours, theirs = size - weight + weights[their], sizes[other] + weight - weights[their]
                        left = now + best - theirs * rests[other, j]  # who comes in makes no group narrower
                        if ours < k or theirs < k or ours * rest >= left:
                            continue
                        loss = ours * _swapped(cells, extremes, group, row, of_unit[their], left / ours)
                        if loss >= left:
                            continue
                        enough = (now + best - loss) / theirs
                        change = loss + theirs * _swapped(cells, extremes, other, of_unit[their], row, enough) - now
                        if change < best:
                            best, partner, partner_place = change, other, j
                if partner < 0:
                    place += 1
                    continue
                if partner_place < 0:
                    n_members[group] -= 1
                    members[group, place] = members[group, n_members[group]]
                    members[partner, n_members[partner]] = mine
                    n_members[partner] += 1
                    moved = weight
                else:
                    moved = weight - weights[members[partner, partner_place]]
                    members[group, place] = members[partner, partner_place]
                    members[partner, partner_place] = mine
                    place += 1
                sizes[group] -= moved
                sizes[partner] += moved
                _measure(cells, of_unit, window, group, extremes)
                _measure(cells, of_unit, window, partner, extremes)
                n_moves += 1
                changed[group] = changed[partner] = n_moves
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
