"""Groups for local recoding: cut top-down by gain, grow groups inside the blocks, exchange records between groups.

All work is on distinct records. A group's label in an attribute covers its least to its greatest rank, as leaves of a
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
def grow_groups(cells: Cells, rows: Ints, ends: Ints, k: int, firsts: Ints, labels: Codes) -> int:
    """Group the records of each block greedily; return the number of groups.

    A group starts with all copies of the first record that is left, and takes copies of the record with which its loss
    is least until there are k. Fewer than k that are left over join, one by one, the group whose loss grows least.

    Parameters
    ----------
    rows, ends : int64 arrays
        The distinct records block by block, in the order in which they start groups, and where each block ends.
    firsts : int64 array (n_distinct,)
        Where the copies of each distinct record begin in `labels`.
    labels : int32 array (n_records,)
        Filled with the group of each copy; those of a block are numbered on from those before.
    """
    m = cells.ranks.shape[1]
    left = cells.counts.copy()
    most = 0
    start = 0
    for end in ends:
        most = max(most, end - start)
        start = end
    alive = np.empty(most, np.int64)
    n_records = len(labels)
    low, high = np.empty((n_records // k + 1, m), np.int32), np.empty((n_records // k + 1, m), np.int32)
    sizes = np.zeros(n_records // k + 1, np.int64)
    n_groups, start = 0, 0
    for end in ends:
        n_alive, n_left = end - start, 0
        for i in range(n_alive):
            alive[i] = rows[start + i]
            n_left += left[alive[i]]
        begin = n_groups
        while n_left >= k:
            at = 0
            while left[alive[at]] == 0:
                at += 1
            row = alive[at]
            for a in range(m):
                low[n_groups, a] = high[n_groups, a] = cells.ranks[row, a]
            while True:
                taken = left[row] if sizes[n_groups] == 0 else min(left[row], k - sizes[n_groups])
                for i in range(left[row] - taken, left[row]):
                    labels[firsts[row] + i] = n_groups
                left[row] -= taken
                n_left -= taken
                sizes[n_groups] += taken
                if sizes[n_groups] >= k:
                    break
                least, n_live = np.inf, 0
                for i in range(n_alive):
                    other = alive[i]
                    if left[other] > 0:
                        alive[n_live] = other
                        n_live += 1
                        loss = _joint(cells, low, high, n_groups, other, least)
                        if loss < least:
                            row, least = other, loss
                n_alive = n_live
                _widen(cells, low, high, n_groups, row)
            n_groups += 1
        for i in range(n_alive):
            row = alive[i]
            while left[row] > 0:
                best, least = begin, np.inf
                for group in range(begin, n_groups):
                    before = 0.0
                    for a in range(m):
                        before += _penalty(cells, a, low[group, a], high[group, a])
                    after = _joint(cells, low, high, group, row, np.inf)
                    growth = (sizes[group] + 1) * after - sizes[group] * before
                    if growth < least:
                        best, least = group, growth
                left[row] -= 1
                labels[firsts[row] + left[row]] = best
                sizes[best] += 1
                _widen(cells, low, high, best, row)
        start = end
    return n_groups


class Extremes(NamedTuple):
    """The two least and the two greatest ranks of each group in each attribute, and the loss of a record of it."""

    low: Codes
    next_low: Codes
    high: Codes
    next_high: Codes
    losses: Floats


@compiled
def _measure(cells: Cells, of_slot: Ints, members: Ints, size: int, group: int, extremes: Extremes) -> None:
    low, next_low, high, next_high, losses = extremes
    losses[group] = 0.0
    for a in range(low.shape[1]):
        least = after = np.int32(2**31 - 1)
        greatest = before = np.int32(-1)
        for i in range(size):
            rank = cells.ranks[of_slot[members[group, i]], a]
            after = min(after, max(least, rank))
            least = min(least, rank)
            before = max(before, min(greatest, rank))
            greatest = max(greatest, rank)
        low[group, a], next_low[group, a], high[group, a], next_high[group, a] = least, after, greatest, before
        losses[group] += _penalty(cells, a, least, greatest)


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
def _exchange_among(
    cells: Cells, of_slot: Ints, members: Ints, sizes: Ints, n_groups: int, k: int, n_passes: int, extremes: Extremes
) -> int:
    """Exchange records among some groups, whose members are the rows of an array; return the number of moves."""
    losses = extremes.losses
    near, nearest = np.empty(NEAREST), np.empty(NEAREST, np.int64)
    for group in range(n_groups):
        _measure(cells, of_slot, members, sizes[group], group, extremes)
    n_moves, n_before, n_done = 0, -1, 0
    while n_moves > n_before and n_done < n_passes:
        n_before = n_moves
        n_done += 1
        for group in range(n_groups):
            place = 0
            while place < sizes[group]:
                mine = members[group, place]
                row, size = of_slot[mine], sizes[group]
                rest = _swapped(cells, extremes, group, row, -1, np.inf)
                helps = rest < losses[group]  # a swap that helps the other group alone is found from there
                if not helps and (size <= k or losses[group] == 0.0):
                    place += 1
                    continue
                for i in range(NEAREST):
                    near[i], nearest[i] = np.inf, -1
                for other in range(n_groups):
                    if other != group:
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
                    if size > k and sizes[other] < members.shape[1]:
                        change = (size - 1) * rest + (sizes[other] + 1) * near[i] - now
                        if change < best:
                            best, partner, partner_place = change, other, -1
                    for j in range(sizes[other] if helps else 0):
                        their = of_slot[members[other, j]]
                        change = size * _swapped(cells, extremes, group, row, their, (now + best) / size) - now
                        if change < best:
                            enough = (best - change) / sizes[other]
                            change += sizes[other] * _swapped(cells, extremes, other, their, row, enough)
                            if change < best:
                                best, partner, partner_place = change, other, j
                if partner < 0:
                    place += 1
                    continue
                if partner_place < 0:
                    sizes[group] -= 1
                    members[group, place] = members[group, sizes[group]]
                    members[partner, sizes[partner]] = mine
                    sizes[partner] += 1
                else:
                    members[group, place] = members[partner, partner_place]
                    members[partner, partner_place] = mine
                    place += 1
                _measure(cells, of_slot, members, sizes[group], group, extremes)
                _measure(cells, of_slot, members, sizes[partner], partner, extremes)
                n_moves += 1
    return n_moves


@compiled
def exchange(cells: Cells, of_slot: Ints, labels: Codes, n_groups: int, k: int, window: int, n_passes: int) -> int:
    """Move records, and swap pairs of them, between groups while that lowers the loss; return the number of moves.

    A record is tried with the eight groups of the same window that it would suit best. Groups keep at least k records.
    Those of more than 4 k, mostly equal records, are left alone.

    Parameters
    ----------
    of_slot : int64 array (n_records,)
        The distinct record of each.
    labels : int32 array (n_records,)
        The group of each, changed in place.
    window : int
        Groups are taken so many at a time, in the order of their numbers.
    """
    m = cells.ranks.shape[1]
    room = 4 * k
    ends = np.zeros(n_groups + 1, np.int64)
    for label in labels:
        ends[label + 1] += 1
    for group in range(n_groups):
        ends[group + 1] += ends[group]
    begins, slots = ends[:-1].copy(), np.empty(len(labels), np.int64)
    for slot in range(len(labels)):
        slots[begins[labels[slot]]] = slot
        begins[labels[slot]] += 1
    members, numbers = np.empty((window, room), np.int64), np.empty(window, np.int32)
    sizes = np.empty(window, np.int64)
    extremes = Extremes(
        np.empty((window, m), np.int32),
        np.empty((window, m), np.int32),
        np.empty((window, m), np.int32),
        np.empty((window, m), np.int32),
        np.empty(window),
    )
    n_moves, group = 0, 0
    while group < n_groups:
        n_taken = 0
        while n_taken < window and group < n_groups:
            size = ends[group + 1] - ends[group]
            if size <= room:
                for i in range(size):
                    members[n_taken, i] = slots[ends[group] + i]
                sizes[n_taken], numbers[n_taken] = size, group
                n_taken += 1
            group += 1
        n_moves += _exchange_among(cells, of_slot, members, sizes, n_taken, k, n_passes, extremes)
        for i in range(n_taken):
            for j in range(sizes[i]):
                labels[members[i, j]] = numbers[i]
    return n_moves
