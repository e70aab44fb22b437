"""Mondrian's cuts: halve at the median of the widest attribute, again and again.

A row stands for as many records as its weight says, all alike in what is cut and counted: strict cuts never part them,
so rows that were put together give the groups that their records would have given. Sizes are always of records.

References
----------
LeFevre, DeWitt, Ramakrishnan: Mondrian Multidimensional K-Anonymity, ICDE 2006.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.arrays import Codes, Floats, Ints
from shoal.kernels.compile import compiled
from shoal.kernels.tables.diversity import LimitArrays, satisfies, sift_sort

NUMBER, ORDER, CATEGORY, TREE = range(4)
MAX_TRIES = 32


class Space(NamedTuple):
    """The attributes in which records are cut, as plain arrays. Scales are those of the whole table."""

    ranks: Codes  # (n_attributes, n_rows)
    kinds: Ints  # (n_attributes,) one of the constants above
    missing: Ints  # (n_attributes,) rank of the missing value, or -1
    scales: Floats  # (n_attributes,) width of the whole table: range, steps, values or height
    starts: Ints  # (n_attributes + 1,) where each attribute's values begin in the next
    positions: Floats  # of each value: a number itself, an ordered category's place in the whole table
    tree_starts: Ints  # (n_attributes,) where each attribute's n_values * (height + 1) nodes begin in the next
    ancestors: Codes  # node above each leaf at each height
    weights: Codes  # (n_rows,) how many records each row stands for


class Scratch(NamedTuple):
    values: Codes  # of the attribute at hand, of the node's rows
    weights: Codes  # records of each of them
    sorted: Codes
    distinct: Codes  # values that occur, in the order of the cut
    tally: Codes  # how many records have each
    counter: Codes  # zero between uses
    cuts: Codes  # possible cuts of the attribute at hand
    lefts: Ints  # records left of each
    place: Codes  # value or code -> index among those that occur
    slots: Codes  # (n_limits, n_rows) index of each row's sensitive value among those that occur
    codes: Codes  # sensitive values that occur, of each limit from its start
    totals: Codes
    sides: Codes
    sizes: Ints  # (n_limits,) how many occur


@compiled
def tally_node(scratch: Scratch, m: int, low: int, high: int) -> int:
    """Count the records of each distinct one among the first m values, ascending; return how many these are.

    A table of counters over the span of the values, unless that is long for so few rows.
    """
    values, distinct, tally, counter = scratch.values, scratch.distinct, scratch.tally, scratch.counter
    weights = scratch.weights
    found = 0
    if high - low <= 4 * m:
        for i in range(m):
            counter[values[i] - low] += weights[i]
        for v in range(high - low + 1):
            if counter[v] > 0:
                distinct[found] = v + low
                tally[found] = counter[v]
                counter[v] = 0
                found += 1
        return found
    ordered = scratch.sorted
    for i in range(m):
        ordered[i] = values[i]
    sift_sort(ordered, m)
    for i in range(m):
        if i == 0 or ordered[i] != ordered[i - 1]:
            distinct[found] = ordered[i]
            tally[found] = 0
            found += 1
    for i in range(m):
        start, stop = 0, found - 1
        while start < stop:
            middle = (start + stop) // 2
            if distinct[middle] < values[i]:
                start = middle + 1
            else:
                stop = middle
        tally[start] += weights[i]
    return found


@compiled
def weigh_node(space: Space, rows: Codes, begin: int, end: int, scratch: Scratch) -> int:
    """Copy the weights of a node's rows, which all that looks at the node needs; return how many records it has."""
    total = np.int64(0)
    for i in range(begin, end):
        weight = space.weights[rows[i]]
        scratch.weights[i - begin] = weight
        total += weight
    return int(total)


@compiled
def _gather(space: Space, a: int, rows: Codes, begin: int, end: int, values: Codes) -> tuple[int, int, int]:
    """Copy the node's values; return the least, the greatest, and the greatest that is not missing."""
    missing = space.missing[a]
    low = high = space.ranks[a, rows[begin]]
    present = -1
    for i in range(begin, end):
        v = space.ranks[a, rows[i]]
        values[i - begin] = v
        if v < low:
            low = v
        if v > high:
            high = v
        if v > present and v != missing:
            present = v
    return low, high, present


@compiled
def _meeting(space: Space, a: int, one: int, other: int) -> int:
    """Height at which two leaves of attribute a meet."""
    columns = int(space.scales[a]) + 1
    at = space.tree_starts[a]
    for h in range(columns):
        if space.ancestors[at + one * columns + h] == space.ancestors[at + other * columns + h]:
            return h
    return columns - 1


@compiled
def node_width(space: Space, a: int, rows: Codes, begin: int, end: int, scratch: Scratch) -> float:
    """Normalised width of a weighed node in attribute a, between 0 and 1; -1 if all records have the same value."""
    low, high, present = _gather(space, a, rows, begin, end, scratch.values)
    if low == high:
        return -1.0
    kind = space.kinds[a]
    if kind == TREE:
        return float(_meeting(space, a, low, high) / space.scales[a])
    if kind == CATEGORY:
        return float(tally_node(scratch, end - begin, low, high) / space.scales[a])
    if present < high:
        return 1.0
    at = space.starts[a]
    return float((space.positions[at + high] - space.positions[at + low]) / space.scales[a])


@compiled
def _by_frequency(scratch: Scratch, m: int, found: int) -> None:
    """Replace a node's categories by their places in the order of frequency, ties by rank."""
    distinct, tally, place, used = scratch.distinct, scratch.tally, scratch.place, scratch.counter
    ordered = scratch.sorted
    for i in range(found):
        ordered[i] = tally[i]
    sift_sort(ordered, found)
    for i in range(found):
        low, high = 0, found
        while low < high:
            middle = (low + high) // 2
            if ordered[middle] > tally[i]:
                high = middle
            else:
                low = middle + 1
        place[distinct[i]] = found - low + used[found - low]
        used[found - low] += 1
    for i in range(found):
        used[i] = 0
        tally[i] = ordered[found - 1 - i]
        distinct[i] = i
    for i in range(m):
        scratch.values[i] = place[scratch.values[i]]


@compiled
def note_values(values: Codes, starts: Ints, rows: Codes, begin: int, end: int, scratch: Scratch) -> None:
    """Note of each limit which sensitive values a weighed node has, how often, and each row's place among them.

    Parameters
    ----------
    values : int32 array (n_limits, n_rows)
        Of each row.
    starts : int64 array (n_limits + 1,)
        Where each limit's values begin in the scratch arrays.
    """
    m = end - begin
    for j in range(len(values)):
        low = high = values[j, rows[begin]]
        for i in range(m):
            value = values[j, rows[begin + i]]
            scratch.values[i] = value
            low = min(low, value)
            high = max(high, value)
        found = tally_node(scratch, m, low, high)
        at = starts[j]
        for i in range(found):
            scratch.codes[at + i] = scratch.distinct[i]
            scratch.totals[at + i] = scratch.tally[i]
            scratch.place[scratch.distinct[i]] = i
        for i in range(m):
            scratch.slots[j, i] = scratch.place[scratch.values[i]]
        scratch.sizes[j] = found


@compiled
def count_left(scratch: Scratch, j: int, at: int, m: int, cut: int) -> None:
    """Count the sensitive values of limit j left of a cut."""
    for i in range(scratch.sizes[j]):
        scratch.sides[at + i] = 0
    for i in range(m):
        if scratch.values[i] < cut:
            scratch.sides[at + scratch.slots[j, i]] += scratch.weights[i]


@compiled
def count_right(scratch: Scratch, at: int, size: int) -> None:
    """Turn the counts left of a cut into those right of it."""
    for i in range(at, at + size):
        scratch.sides[i] = scratch.totals[i] - scratch.sides[i]


@compiled
def take_widest(widths: Floats) -> int:
    """The widest attribute, which is then struck out; -1 if none is left."""
    a = np.int64(0)
    for b in range(1, len(widths)):
        if widths[b] > widths[a]:
            a = b
    if widths[a] < 0.0:
        return -1
    widths[a] = -1.0
    return int(a)


@compiled
def _both_satisfy(limits: LimitArrays, scratch: Scratch, m: int, cut: int, n_left: int, n_records: int) -> bool:
    """Whether the records with values below the cut, and the others, satisfy every limit."""
    for j in range(len(limits.models)):
        at = limits.starts[j]
        size = scratch.sizes[j]
        sides = scratch.sides
        count_left(scratch, j, at, m, cut)
        if not satisfies(limits, j, scratch.codes, sides, at, size, n_left):
            return False
        count_right(scratch, at, size)
        if not satisfies(limits, j, scratch.codes, sides, at, size, n_records - n_left):
            return False
    return True


@compiled
def _halve(m: int, scratch: Scratch) -> int:
    """Relaxed cut: the lower half in order of (value, row) gets the value 0, the other 1; each row is one record."""
    rest = m // 2
    v = 0
    while scratch.tally[v] <= rest:
        rest -= scratch.tally[v]
        v += 1
    median = scratch.distinct[v]
    for i in range(m):
        value = scratch.values[i]
        left = value < median
        if value == median and rest > 0:
            left = True
            rest -= 1
        scratch.values[i] = 0 if left else 1
    scratch.cuts[0] = 1
    scratch.lefts[0] = m // 2
    return 1


@compiled
def _boundaries(space: Space, a: int, k: int, n: int, found: int, prefer_last: bool, scratch: Scratch) -> int:
    """Strict cuts of n records: boundaries between distinct values with k on both sides, from the median outwards.

    The first few are noted as the least value right of each and the number of records left of it.
    """
    distinct, tally, cuts, lefts = scratch.distinct, scratch.tally, scratch.cuts, scratch.lefts
    is_tree = space.kinds[a] == TREE
    top = _meeting(space, a, distinct[0], distinct[found - 1]) if is_tree else 0
    n_cuts = 0
    if prefer_last and k <= tally[found - 1] <= n - k:
        cuts[0] = distinct[found - 1]
        lefts[0] = n - tally[found - 1]
        n_cuts = 1

    # Boundary b lies before distinct[b]; `down` and `up` walk away from the median.
    up = 1
    up_left = tally[0]
    while up < found and 2 * up_left < n:
        up_left += tally[up]
        up += 1
    down = up - 1
    down_left = up_left - tally[down]
    while n_cuts < len(cuts):
        down_open = down >= 1 and down_left >= k
        up_open = up < found and n - up_left >= k
        if not down_open and not up_open:
            break
        if down_open and (not up_open or n - 2 * down_left <= 2 * up_left - n):
            b, n_left = down, down_left
            down -= 1
            down_left -= tally[down]
        else:
            b, n_left = up, up_left
            up_left += tally[up]
            up += 1
        if prefer_last and b == found - 1:
            continue
        if is_tree and _meeting(space, a, distinct[b - 1], distinct[b]) != top:
            continue
        cuts[n_cuts] = distinct[b]
        lefts[n_cuts] = n_left
        n_cuts += 1
    return n_cuts


@compiled
def find_cuts(space: Space, a: int, k: int, strict: bool, rows: Codes, begin: int, end: int, scratch: Scratch) -> int:
    """Note possible cuts of a weighed node in attribute a, the best first, and return how many.

    Rows whose value in the scratch array is below a cut would go left.
    """
    m = end - begin
    low, high, present = _gather(space, a, rows, begin, end, scratch.values)
    found = tally_node(scratch, m, low, high)
    if space.kinds[a] == CATEGORY:
        _by_frequency(scratch, m, found)
    if not strict:
        return _halve(m, scratch)
    mixes_missing = space.kinds[a] <= ORDER and -1 < present < high
    n = np.int64(0)
    for i in range(found):
        n += scratch.tally[i]
    return _boundaries(space, a, k, n, found, mixes_missing, scratch)


@compiled
def move_rows(rows: Codes, begin: int, end: int, values: Codes, cut: int, spare: Codes) -> int:
    """Move the left rows before the others, each side in its order; return where the right ones begin."""
    at = begin
    kept = 0
    for i in range(begin, end):
        if values[i - begin] < cut:
            rows[at] = rows[i]
            at += 1
        else:
            spare[kept] = rows[i]
            kept += 1
    for i in range(kept):
        rows[at + i] = spare[i]
    return at


def make_scratch(n: int, most: int, n_tries: int, n_limits: int, n_sensitive: int) -> Scratch:
    """Room for cutting nodes of up to n rows in attributes of up to `most` values.

    Not compiled, as all that only makes arrays here: that would take longer than the cuts.
    """
    return Scratch(
        np.empty(n, np.int32),
        np.empty(n, np.int32),
        np.empty(n, np.int32),
        np.empty(n, np.int32),
        np.empty(n, np.int32),
        np.zeros(min(most, 4 * n + 1), np.int32),
        np.empty(n_tries, np.int32),
        np.empty(n_tries, np.int64),
        np.empty(most, np.int32),
        np.empty((n_limits, n if n_limits > 0 else 0), np.int32),
        np.empty(n_sensitive, np.int32),
        np.empty(n_sensitive, np.int32),
        np.empty(n_sensitive, np.int32),
        np.empty(n_limits, np.int64),
    )


def scratch_for(space: Space, limits: LimitArrays | None, n_rows: int) -> Scratch:
    """Room for cutting so many rows of a space."""
    starts = np.zeros(1, np.int64) if limits is None else limits.starts
    most = int(max(1, np.diff(space.starts).max(initial=1), np.diff(starts).max(initial=1)))
    n_limits = len(starts) - 1
    return make_scratch(n_rows, most, MAX_TRIES if n_limits else 1, n_limits, int(starts[-1]))


def most_groups(space: Space, k: int) -> int:
    """How many groups of at least k records there can be, and at least one."""
    n_rows, n_records = space.ranks.shape[1], int(space.weights.sum(dtype=np.int64))
    return max(1, min(int(n_rows), n_records // k))


class Walk(NamedTuple):
    """All nodes, of which one is at hand; groups are finished from left to right."""

    rows: Codes  # each node a run
    ends: Ints  # where each group ends
    stack: Ints  # where each node ends that waits
    at: Ints  # where the node at hand begins and ends, how many wait, how many groups are finished

    def groups(self) -> tuple[Codes, Ints]:
        """The rows in their order, and where each group ends."""
        return self.rows, self.ends[: self.at[3]]


def start_walk(space: Space, k: int) -> Walk:
    """All rows as one node, and room for its groups of at least k records."""
    n, most = space.ranks.shape[1], most_groups(space, k)
    rows = np.arange(n, dtype=np.int32)
    return Walk(rows, np.empty(most, np.int64), np.empty(most, np.int64), np.array([0, n, 0, 0], np.int64))


@compiled
def go_on(walk: Walk, cut: int, scratch: Scratch) -> bool:
    """Go to the left side of a cut or, where there is none (-1), finish a group; whether a node is left."""
    at = walk.at
    if cut >= 0:
        walk.stack[at[2]] = at[1]
        at[2] += 1
        at[1] = move_rows(walk.rows, at[0], at[1], scratch.values, cut, scratch.sorted)
        return True
    walk.ends[at[3]] = at[1]
    at[3] += 1
    # The next node begins where this one ends.
    at[0] = at[1]
    if at[2] == 0:
        return False
    at[2] -= 1
    at[1] = walk.stack[at[2]]
    return True


def cut_all(space: Space, limits: LimitArrays | None, k: int, strict: bool, stop_rows: int) -> tuple[Codes, Ints]:
    """Cut all records until no cut is allowable or a node has at most `stop_rows` rows.

    Without limits, None is given for them, and nothing that tests them is compiled.

    Returns
    -------
    rows : int32 array (n_rows,)
        Row numbers, each group a run, groups from left to right; in a group in ascending order.
    ends : int64 array (n_groups,)
        Where each group ends.
    """
    walk = start_walk(space, k)
    _cut_all(space, limits, k, strict, stop_rows, scratch_for(space, limits, len(walk.rows)), walk)
    return walk.groups()


@compiled
def best_cut(
    space: Space,
    limits: LimitArrays | None,
    k: int,
    strict: bool,
    rows: Codes,
    begin: int,
    end: int,
    widths: Floats,
    scratch: Scratch,
) -> int:
    """Where a node is cut: rows whose value in the scratch array is below it go left; -1 if no cut is allowable."""
    n_records = weigh_node(space, rows, begin, end, scratch)
    if n_records < 2 * k:
        return -1
    for a in range(len(widths)):
        widths[a] = node_width(space, a, rows, begin, end, scratch)
    if limits is not None:
        note_values(limits.codes, limits.starts, rows, begin, end, scratch)
    while True:
        a = take_widest(widths)
        if a < 0:
            return -1
        n_cuts = find_cuts(space, a, k, strict, rows, begin, end, scratch)
        if limits is None:
            if n_cuts > 0:
                return int(scratch.cuts[0])
        else:
            for i in range(n_cuts):
                if _both_satisfy(limits, scratch, end - begin, scratch.cuts[i], scratch.lefts[i], n_records):
                    return int(scratch.cuts[i])


@compiled
def _cut_all(
    space: Space,
    limits: LimitArrays | None,
    k: int,
    strict: bool,
    stop_rows: int,
    scratch: Scratch,
    walk: Walk,
) -> None:
    """Put the rows in order and note where groups end."""
    widths = np.empty(len(space.ranks), np.float64)
    is_left = True
    while is_left:
        begin, end = walk.at[0], walk.at[1]
        cut = -1
        if end - begin > stop_rows:
            cut = best_cut(space, limits, k, strict, walk.rows, begin, end, widths, scratch)
        is_left = go_on(walk, cut, scratch)
