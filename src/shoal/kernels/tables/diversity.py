"""Whether the sensitive values of one group of records satisfy a model of diversity.

Counts are whole, and each comparison is made with sums and products of them, or with one correctly rounded
division of two: a group that meets its bound exactly is accepted, and none that misses it by a rounding is.
(29 records of 100 are a share of at most 0.29, although 0.29 * 100 is below 29 in floating point.)
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shoal.arrays import Codes, Floats, Ints, Mask
from shoal.kernels.compile import compiled

DISTINCT, PROBABILISTIC, ENTROPY, RECURSIVE, ALPHA = range(5)
EQUAL, ORDERED, HIERARCHICAL, BASIC, ENHANCED = range(5, 10)
OUTSIDE = -2  # of providers, or their persons, in the place of values: how many are left without those who have most


# Whole numbers beyond this are no longer exact in float64; comparisons there lean towards refusing.
_EXACT = 2.0**52
_MARGIN = 1e-12


class LimitArrays(NamedTuple):
    """Several limits on sensitive attributes, as plain arrays; m is the number of values of one attribute."""

    codes: Codes  # (n_limits, n_rows) sensitive value of each record
    models: Ints  # (n_limits,) one of the constants above
    parameters: Floats  # (n_limits, 2) l, alpha, t, beta or k; and c, or how many providers
    unknown: Ints  # (n_limits,) code that stands for any value, or -1
    starts: Ints  # (n_limits + 1,) where each limit's m entries begin in the next two
    below: Ints  # records of the whole table with this value or a lower one
    below_sums: Ints  # running sum of `below`
    heights: Ints  # (n_limits,) of the tree, 0 without one
    tree_starts: Ints  # (n_limits,) where each limit's m * (height + 1) entries begin in the next two
    ancestors: Codes  # node above each value at each height
    under: Ints  # records under that node in the whole table
    totals: Ints  # (n_limits,) records, or persons, of the whole table: what shares of it are of


@compiled
def sift_sort(values: Codes, n: int) -> None:
    """Sort the first n values in place, ascending (heapsort: small to compile, no bad case)."""
    for end in range(2 * n - 1, 0, -1):
        # First the heap is built from its last node upwards, then its top goes behind the shrinking heap.
        root, size = (end - n, n) if end >= n else (0, end)
        moved = values[root]
        if end < n:
            moved = values[end]
            values[end] = values[0]
        child = 2 * root + 1
        while child < size:
            if child + 1 < size and values[child + 1] > values[child]:
                child += 1
            if values[child] <= moved:
                break
            values[root] = values[child]
            root = child
            child = 2 * root + 1
        values[root] = moved


@compiled
def _at_most(value: float, bound: float) -> bool:
    return value <= bound if bound < _EXACT else value <= bound * (1.0 - _MARGIN)


@compiled
def _persons_of_providers(
    limits: LimitArrays, j: int, codes: Codes, counts: Codes, at: int, size: int, tally: Codes
) -> int:
    """How many codes lie below each node: persons of each provider, whose codes follow each other."""
    n_nodes, last = 0, -1
    for i in range(at, at + size):
        if counts[i] > 0:
            node = limits.ancestors[limits.tree_starts[j] + codes[i] * 2 + 1]
            if node != last:
                tally[n_nodes] = 0
                n_nodes += 1
                last = node
            tally[n_nodes - 1] += 1
    return n_nodes


@compiled
def tally_values(
    limits: LimitArrays, j: int, codes: Codes, counts: Any, at: int, size: int, tally: Any
) -> tuple[int, int, int]:
    """Put the counts of values that occur into `tally`; how many they are, and where the largest of them stands.

    And where among `counts` that of records stands which may have any value, and which is not put there, or -1.
    """
    n_values, largest, unknown = np.int64(0), np.int64(0), np.int64(-1)
    for i in range(at, at + size):
        if codes[i] == limits.unknown[j]:
            unknown = np.int64(i)
        elif counts[i] > 0:
            tally[n_values] = counts[i]
            if counts[i] > tally[largest]:
                largest = n_values
            n_values += 1
    return n_values, largest, unknown


@compiled
def _frequencies_hold(limits: LimitArrays, j: int, codes: Codes, counts: Codes, at: int, size: int, n: int) -> bool:
    """l-diversity in its four senses, the share alpha, and what is left without the most frequent values."""
    model = limits.models[j]
    bound = limits.parameters[j, 0]
    tally = np.empty(size, np.int32)
    n_values, largest, unknown = tally_values(limits, j, codes, counts, at, size, tally)
    if model == DISTINCT:
        return bool(n_values >= bound)
    if model == OUTSIDE:
        if limits.heights[j] > 0:
            n_values = _persons_of_providers(limits, j, codes, counts, at, size, tally)
        sift_sort(tally, n_values)
        left = 0
        for i in range(n_values - int(limits.parameters[j, 1])):
            left += tally[i]
        return bool(left >= bound)
    if n_values == 0:
        return False
    # The worst case of records that may have any value: all have the most frequent one.
    if unknown >= 0:
        tally[largest] += counts[unknown]
    top = tally[largest]
    if model == PROBABILISTIC:
        return bool(n / top >= bound)
    if model == ALPHA:
        return bool(top / n <= bound)
    if model == ENTROPY:
        spread = n * np.log(n)
        margin = _MARGIN * spread
        even = True
        for i in range(n_values):
            even = even and tally[i] == top
            spread -= tally[i] * np.log(tally[i])
        return bool(n_values >= bound if even else spread - n * np.log(bound) > margin)
    sift_sort(tally, n_values)
    tail = 0
    for i in range(n_values - int(bound) + 1):
        tail += tally[i]
    return bool(tail > 0 and top / tail < limits.parameters[j, 1])


@compiled
def ordered_distance(limits: LimitArrays, j: int, codes: Codes, counts: Codes, at: int, size: int, n: int) -> float:
    """Sum over values of the absolute cumulative difference, times n and the records of the table.

    Between two values of the group its own cumulative share is constant and that of the table grows, so
    each stretch is two sums: the cost grows with the values of the group, not of the table.
    """
    first = limits.starts[j]
    last = limits.starts[j + 1] - 1
    total = float(limits.below[last])
    work = 0.0
    mine = 0.0
    start = first
    for i in range(at, at + size + 1):
        stop = first + codes[i] if i < at + size else last
        # Within [start, stop) the group is ahead of the table before `low` and behind it from there.
        low, high = start, stop
        while low < high:
            middle = (low + high) // 2
            if float(limits.below[middle]) * n > mine * total:
                high = middle
            else:
                low = middle + 1
        before = limits.below_sums[start - 1] if start > first else 0
        until = limits.below_sums[low - 1] if low > first else 0
        after = limits.below_sums[stop - 1] if stop > first else 0
        work += mine * total * (low - start) - float(until - before) * n
        work += float(after - until) * n - mine * total * (stop - low)
        if i < at + size:
            mine += counts[i]
            start = stop
    return work


@compiled
def hierarchical_distance(
    limits: LimitArrays, j: int, codes: Codes, counts: Codes, at: int, size: int, n: int
) -> float:
    """Sum over inner nodes of height * min(positive, negative extra), times n and the records of the table.

    Only nodes above a value of the group can have both. The negative extra of the children that the group
    does not reach follows from the node's own: extra = positive - negative. Values are in the order of the
    leaves, so that the leaves under one node are neighbours.
    """
    total = float(limits.below[limits.starts[j + 1] - 1])
    tree, under = limits.ancestors, limits.under
    begin = limits.tree_starts[j]
    columns = limits.heights[j] + 1
    work = 0.0
    for h in range(1, columns):
        i = at
        while i < at + size:
            leaf = begin + codes[i] * columns
            node = tree[leaf + h]
            extra = -float(under[leaf + h]) * n
            positive = 0.0
            while i < at + size and tree[leaf + h] == node:
                child = tree[leaf + h - 1]
                gain = -float(under[leaf + h - 1]) * n
                while i < at + size and tree[leaf + h] == node and tree[leaf + h - 1] == child:
                    gain += counts[i] * total
                    extra += counts[i] * total
                    i += 1
                    if i < at + size:
                        leaf = begin + codes[i] * columns
                if gain > 0.0:
                    positive += gain
            work += h * (positive if extra < 0.0 else positive - extra)
    return work


@compiled
def _in_table(limits: LimitArrays, j: int, code: int) -> int:
    """Records of the whole table with a value."""
    begin = limits.starts[j]
    value = begin + code
    return int(limits.below[value] - (limits.below[value - 1] if value > begin else 0))


@compiled
def gain_of(limits: LimitArrays, j: int, code: int, held: float, n: float) -> tuple[float, float]:
    """How much oftener a value is held than the table lets expect, and what that is; times the records of the table."""
    expected = float(_in_table(limits, j, code)) * n
    return held * float(limits.totals[j]) - expected, expected


@compiled
def most_gain(limits: LimitArrays, j: int, code: int) -> float:
    """The most that beta allows a value to gain, as a share of what is expected."""
    bound = limits.parameters[j, 0]
    if limits.models[j] == ENHANCED:
        logarithm = np.log(float(limits.totals[j]) / _in_table(limits, j, code))
        if logarithm < bound:
            bound = logarithm
    return float(bound)


@compiled
def _gains_hold(limits: LimitArrays, j: int, codes: Codes, counts: Codes, at: int, size: int, n: int) -> bool:
    """Total variation, and the relative gain beta; both look at values more frequent than in the table."""
    is_equal = limits.models[j] == EQUAL
    gained = 0.0
    for i in range(at, at + size):
        gain, expected = gain_of(limits, j, codes[i], counts[i], n)
        if gain > 0.0:
            gained += gain
            if not is_equal:
                bound = most_gain(limits, j, codes[i])
                if gain / expected > (bound if expected < _EXACT else bound * (1.0 - _MARGIN)):
                    return False
    return not is_equal or _at_most(gained, limits.parameters[j, 0] * (n * float(limits.totals[j])))


@compiled
def satisfies(limits: LimitArrays, j: int, codes: Codes, counts: Codes, at: int, size: int, n: int) -> bool:
    """Whether a group satisfies limit j.

    Parameters
    ----------
    limits : LimitArrays
    codes, counts : int32 arrays
        From `at` on, `size` entries: sensitive values, ascending, and how many records of the group have
        each; a count may be 0.
    n : int
        Records in the group, the sum of the counts.
    """
    model = limits.models[j]
    if model <= ALPHA:
        return _frequencies_hold(limits, j, codes, counts, at, size, n)
    if model == ORDERED:
        steps = limits.starts[j + 1] - limits.starts[j] - 1
        unit = float(n) * limits.below[limits.starts[j + 1] - 1] * steps
        return _at_most(ordered_distance(limits, j, codes, counts, at, size, n), limits.parameters[j, 0] * unit)
    if model == HIERARCHICAL:
        unit = float(n) * limits.below[limits.starts[j + 1] - 1] * limits.heights[j]
        work = hierarchical_distance(limits, j, codes, counts, at, size, n)
        return _at_most(work, limits.parameters[j, 0] * unit)
    return _gains_hold(limits, j, codes, counts, at, size, n)


@compiled
def groups_violating(limits: LimitArrays, rows: Codes, ends: Ints) -> Mask:
    """Which groups, each a run of `rows` up to its end, violate any of the limits."""
    violating = np.zeros(len(ends), np.bool_)
    for j in range(len(limits.models)):
        m = limits.starts[j + 1] - limits.starts[j]
        counter = np.zeros(m, np.int32)
        codes = np.empty(m, np.int32)
        counts = np.empty(m, np.int32)
        begin = np.int64(0)
        for g in range(len(ends)):
            size = np.int64(0)
            for i in range(begin, ends[g]):
                code = limits.codes[j, rows[i]]
                if counter[code] == 0:
                    codes[size] = code
                    size += 1
                counter[code] += 1
            sift_sort(codes, size)
            for i in range(size):
                counts[i] = counter[codes[i]]
                counter[codes[i]] = 0
            if size > 0 and not satisfies(limits, j, codes, counts, np.int64(0), size, ends[g] - begin):
                violating[g] = True
            begin = ends[g]
    return violating


@compiled
def counts_violating(limits: LimitArrays, codes: Codes, counts: Codes, ends: Ints, sizes: Ints) -> Mask:
    """Which groups violate the first of the limits, from counts that are not of records.

    Parameters
    ----------
    codes, counts : int32 arrays (n_pairs,)
        The sensitive values of each group, ascending, and how many of its members have each.
    ends : int64 array (n_groups,)
        Where the values of each group end.
    sizes : int64 array (n_groups,)
        What counts are shares of; a member with two values counts for both, so it may be less than their sum.
    """
    violating = np.zeros(len(ends), np.bool_)
    begin = np.int64(0)
    for g in range(len(ends)):
        if ends[g] > begin:
            violating[g] = not satisfies(limits, 0, codes, counts, begin, ends[g] - begin, sizes[g])
        begin = ends[g]
    return violating
