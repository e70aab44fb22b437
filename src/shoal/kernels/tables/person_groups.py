"""Greedy groups of records of k different persons, inside blocks of near records.

As in greedy k-member clustering (Byun et al., DASFAA 2007), a group starts at the record farthest from the one that was
added last and takes in, one at a time, the record that widens it least; here only one of a person that it does not hold
yet. What is left when no k persons are left joins the groups that it adds least to. Then groups are given up, the
costliest first, whose records cost less in the groups that each of them adds least to, and records are moved or
exchanged between groups while that costs less. All records of a block are looked at each time, so blocks are to be
small.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.arrays import Codes, Floats, Ints
from shoal.kernels.compile import compiled
from shoal.kernels.stable_order import stable_order

ROUNDS = 6
BETTER = 1e-9  # gains below this share are rounding


class PersonBoxes(NamedTuple):
    """Groups as boxes: the cost of one is its width times its records, widths as in `shoal.kernels.tables.width_tree`.

    Attributes
    ----------
    low, high : float64 arrays (n_groups, n_columns)
    sizes : int64 array (n_groups,)
        Records; 0 of a group that was given up.
    weights : float64 array (n_columns,)
    """

    low: Floats
    high: Floats
    sizes: Ints
    weights: Floats


@compiled
def _width(boxes: PersonBoxes, group: int, point: Floats, enough: float) -> float:
    """The width of a group together with one more record; cut short where it passes `enough`."""
    total = 0.0
    for j in range(len(point)):
        high, low = max(boxes.high[group, j], point[j]), min(boxes.low[group, j], point[j])
        total += boxes.weights[j] * min(high - low, 1.0)
        if total > enough:
            break
    return total


@compiled
def _own_width(boxes: PersonBoxes, group: int) -> float:
    return _width(boxes, group, boxes.low[group], np.inf)


@compiled
def _take(boxes: PersonBoxes, group: int, point: Floats) -> None:
    for j in range(len(point)):
        boxes.low[group, j] = min(boxes.low[group, j], point[j])
        boxes.high[group, j] = max(boxes.high[group, j], point[j])
    boxes.sizes[group] += 1


@compiled
def _cheapest(boxes: PersonBoxes, widths: Floats, n_groups: int, point: Floats, but: int) -> tuple[int, float]:
    """The group whose cost grows least by a record, the first of equals, and by how much; never the group `but`."""
    best, least = -1, np.inf
    for group in range(n_groups):
        size = boxes.sizes[group]
        if size == 0 or group == but:
            continue
        before = widths[group] * size
        grown = _width(boxes, group, point, (least + before) / (size + 1)) * (size + 1) - before
        if grown < least:
            best, least = group, grown
    return best, least


@compiled
def _has_persons(persons: Codes, alive: Ints, n_alive: int, k: int, seen: Ints, stamp: int) -> bool:
    """Whether k different persons are left."""
    n_persons = 0
    for i in range(n_alive):
        if seen[persons[alive[i]]] != stamp:
            seen[persons[alive[i]]] = stamp
            n_persons += 1
            if n_persons == k:
                return True
    return False


@compiled
def _give_up(points: Floats, boxes: PersonBoxes, widths: Floats, n_groups: int, rows: Ints, groups: Ints) -> None:
    """Give up groups whose records cost less elsewhere; one that has taken in records of another stays."""
    order = stable_order(groups)
    starts = np.searchsorted(groups[order], np.arange(n_groups + 1))
    costs = widths[:n_groups] * boxes.sizes[:n_groups]
    stays = np.zeros(n_groups, np.bool_)
    for group in stable_order(-costs):
        if stays[group]:
            continue
        members = order[starts[group] : starts[group + 1]]
        chosen = np.empty(len(members), np.int64)
        cost = 0.0
        for i in range(len(members)):
            chosen[i], grown = _cheapest(boxes, widths, n_groups, points[rows[members[i]]], group)
            cost += grown
            if cost >= costs[group]:
                break
        if cost >= costs[group]:
            continue
        boxes.sizes[group] = 0
        for i in range(len(members)):
            groups[members[i]] = chosen[i]
            _take(boxes, chosen[i], points[rows[members[i]]])
            widths[chosen[i]] = _own_width(boxes, chosen[i])
            stays[chosen[i]] = True


class Lists(NamedTuple):
    """The records of each group of a block, as lists: the first of a group, the one after each record, -1 at the end.

    `rows` are the records of the block; in the lists they are known by their place in it.
    """

    first: Ints
    later: Ints
    rows: Ints


@compiled
def _changed_width(
    points: Floats, persons: Codes, boxes: PersonBoxes, lists: Lists, first: int, out: int, k: int
) -> float:
    """The width of the group of a list without one of its records; infinite if fewer than k persons would be left."""
    n_persons = 0
    i = first
    while i >= 0:
        is_new = i != out
        other = first
        while is_new and other != i:
            is_new = other == out or persons[lists.rows[other]] != persons[lists.rows[i]]
            other = lists.later[other]
        n_persons += is_new
        i = lists.later[i]
    if n_persons < k:
        return np.inf
    total = 0.0
    for j in range(points.shape[1]):
        low, high = np.inf, -np.inf
        i = first
        while i >= 0:
            if i != out:
                value = points[lists.rows[i], j]
                low, high = min(low, value), max(high, value)
            i = lists.later[i]
        total += boxes.weights[j] * min(high - low, 1.0)
    return total


@compiled
def _transfer(points: Floats, boxes: PersonBoxes, widths: Floats, lists: Lists, groups: Ints, i: int, to: int) -> None:
    """Put a record into another group."""
    group = groups[i]
    at = lists.first[group]
    if at == i:
        lists.first[group] = lists.later[i]
    else:
        while lists.later[at] != i:
            at = lists.later[at]
        lists.later[at] = lists.later[i]
    lists.later[i] = lists.first[to]
    lists.first[to] = i
    groups[i] = to
    boxes.sizes[group] = 0
    boxes.low[group] = np.inf
    boxes.high[group] = -np.inf
    at = lists.first[group]
    while at >= 0:
        _take(boxes, group, points[lists.rows[at]])
        at = lists.later[at]
    widths[group] = _own_width(boxes, group)
    _take(boxes, to, points[lists.rows[i]])
    widths[to] = _own_width(boxes, to)


@compiled
def _swap(
    points: Floats,
    persons: Codes,
    boxes: PersonBoxes,
    widths: Floats,
    lists: Lists,
    groups: Ints,
    i: int,
    to: int,
    k: int,
) -> bool:
    """Exchange a record with one of another group, the one by which both together cost least, if that is less."""
    group = groups[i]
    before = widths[group] * boxes.sizes[group] + widths[to] * boxes.sizes[to]
    _transfer(points, boxes, widths, lists, groups, i, to)
    best, least = -1, before * (1 - BETTER)
    other = lists.first[to]
    while other >= 0:
        if other != i:
            # The group that gave a record away has one person less, unless it has another record of the same.
            mine = persons[lists.rows[other]]
            is_new = True
            at = lists.first[group]
            while at >= 0:
                is_new &= persons[lists.rows[at]] != mine
                at = lists.later[at]
            if is_new:
                theirs = _changed_width(points, persons, boxes, lists, lists.first[to], other, k) * (
                    boxes.sizes[to] - 1
                )
                if theirs < least:
                    ours = _width(boxes, group, points[lists.rows[other]], np.inf) * (boxes.sizes[group] + 1)
                    if theirs + ours < least:
                        best, least = other, theirs + ours
        other = lists.later[other]
    _transfer(points, boxes, widths, lists, groups, best if best >= 0 else i, group)
    return best >= 0


@compiled
def _exchange(
    points: Floats, persons: Codes, boxes: PersonBoxes, widths: Floats, n_groups: int, rows: Ints, groups: Ints, k: int
) -> int:
    """Move each record, once, that costs less in another group, or exchange it with one there; return how many were."""
    lists = Lists(np.full(n_groups, -1, np.int64), np.full(len(rows), -1, np.int64), rows)
    for i in range(len(rows) - 1, -1, -1):
        lists.later[i] = lists.first[groups[i]]
        lists.first[groups[i]] = i
    n_changed = 0
    for i in range(len(rows)):
        group = groups[i]
        size, point = boxes.sizes[group], points[rows[i]]
        is_end = False
        for j in range(len(point)):
            is_end |= boxes.low[group, j] < boxes.high[group, j] and (
                point[j] == boxes.low[group, j] or point[j] == boxes.high[group, j]
            )
        if not is_end:
            continue
        best, grown = _cheapest(boxes, widths, n_groups, point, group)
        if best < 0:
            continue
        left = _changed_width(points, persons, boxes, lists, lists.first[group], i, k)
        if left < np.inf:
            if grown < (widths[group] * size - left * (size - 1)) * (1 - BETTER):
                _transfer(points, boxes, widths, lists, groups, i, best)
                n_changed += 1
        elif _swap(points, persons, boxes, widths, lists, groups, i, best, k):
            n_changed += 1
    return n_changed


@compiled
def grow_person_groups(
    points: Floats, weights: Floats, persons: Codes, rows: Ints, ends: Ints, k: int, labels: Codes
) -> None:
    """Label the records of blocks, each a run of `rows` up to its end; numbers may be left out.

    A block in which there are no k persons becomes one group.
    """
    seen = np.full(persons.max() + 1, -1, np.int64)  # the stamp under which a person was counted last
    label, stamp, begin = 0, 0, 0
    place = np.empty(len(labels), np.int64)
    for end in ends:
        block = rows[begin:end]
        for i in range(len(block)):
            place[block[i]] = i
        alive, n_alive = block.copy(), len(block)
        most = n_alive // k + 1
        boxes = PersonBoxes(
            np.full((most, len(weights)), np.inf),
            np.full((most, len(weights)), -np.inf),
            np.zeros(most, np.int64),
            weights,
        )
        groups = np.full(n_alive, -1, np.int64)
        n_groups, last = 0, block[0]
        while n_alive >= k and _has_persons(persons, alive, n_alive, k, seen, stamp):
            stamp += 1
            best, far = 0, -1.0
            for i in range(n_alive):
                gap = 0.0
                for j in range(len(weights)):
                    gap += weights[j] * min(abs(points[last, j] - points[alive[i], j]), 1.0)
                if gap > far:
                    best, far = i, gap
            for size in range(k):
                if size > 0:
                    best, least = -1, np.inf
                    for i in range(n_alive):
                        if seen[persons[alive[i]]] != stamp:
                            width = _width(boxes, n_groups, points[alive[i]], least)
                            if width < least:
                                best, least = i, width
                last = alive[best]
                seen[persons[last]] = stamp
                _take(boxes, n_groups, points[last])
                groups[place[last]] = n_groups
                n_alive -= 1
                for i in range(best, n_alive):  # in the order of rows, so that ties go to the first
                    alive[i] = alive[i + 1]
            stamp += 1
            n_groups += 1
        stamp += 1
        if n_groups == 0:
            groups[:] = 0
            n_groups = 1
        else:
            widths = np.zeros(most)
            for group in range(n_groups):
                widths[group] = _own_width(boxes, group)
            for i in range(n_alive):
                group, _ = _cheapest(boxes, widths, n_groups, points[alive[i]], -1)
                groups[place[alive[i]]] = group
                _take(boxes, group, points[alive[i]])
                widths[group] = _own_width(boxes, group)
            for _ in range(ROUNDS):
                _give_up(points, boxes, widths, n_groups, block, groups)
                if _exchange(points, persons, boxes, widths, n_groups, block, groups, k) == 0:
                    break
        for i in range(len(block)):
            labels[block[i]] = label + groups[i]
        label += n_groups
        begin = end
