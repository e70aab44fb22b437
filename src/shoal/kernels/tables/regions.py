"""Regions of the slices of a bucket, as fine as an attacker who joins the slices on the sensitive value allows.

With n(s) rows of a bucket of sensitive value s and n_i(r, s) of them in region r of slice i, whoever lies in regions
r_1 .. r_c has s with a probability proportional to W(s) = n(s) * product of n_i(r_i, s) / n(s). A region is cut as in
Mondrian, and the cut is kept only if W satisfies every limit for every combination of regions that it makes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.arrays import Codes, Floats, Ints
from shoal.kernels.compile import compiled, compiled_beside
from shoal.kernels.tables.diversity import LimitArrays, sift_sort
from shoal.kernels.tables.mondrian import Scratch, Space, find_cuts, make_scratch, move_rows, node_width, weigh_node
from shoal.kernels.tables.weighted_diversity import weights_satisfy

_EXACT = 2.0**53


class Slices(NamedTuple):
    """Which attributes stand in which slice, and the sensitive values that all of them carry."""

    starts: Ints  # (n_slices + 1,) where each slice's attributes begin in the next
    attributes: Ints  # numbers of attributes of the space
    keys: Codes  # (n_rows,) sensitive value of each record, of all sensitive attributes together
    codes: Codes  # (n_limits, n_keys) what each limit calls it


class _Bucket(NamedTuple):
    """What is known of the bucket at hand. Records are numbered as in the table, all else from 0."""

    order: Codes  # (n_slices, n_rows) records, each region of a slice a run
    region: Codes  # (n_slices, n_rows) region of each record
    cell: Codes  # (n_rows,) combination of regions of each record
    local: Codes  # (n_rows,) sensitive value of each record, among those of the bucket
    begins: Ints  # (n_slices, most_regions) where each region begins in `order`
    ends: Ints
    is_open: Codes  # (n_slices, most_regions) whether a cut may still be found
    n_regions: Ints  # (n_slices,)
    counts: Codes  # n_i(r, s), from (i * most_regions + r) * n_keys on
    totals: Codes  # n(s)
    slots: Codes  # (n_limits, most_keys) place of what each limit calls s, among those of the bucket
    codes: Codes  # (n_limits, most_keys) what stands at each place
    n_slots: Ints  # (n_limits,)
    stamp: Ints  # (n_keys,) where the bucket began in which a sensitive value of the table was met last
    place: Codes  # (n_keys,) its place among those of the bucket
    chosen: Codes  # (most_keys,) and the other way round


class Rules(NamedTuple):
    """Which cuts are tried, and which hold."""

    k: int  # records of a region, at least
    strict: bool  # whether equal values stay together
    complete: bool  # whether every combination of regions is tested, not only those that a record lies in
    n_tries: int  # cuts of an attribute that are tried, those nearest to the median
    least_combinations: int  # of a bucket that may always be tested; of n records, no more than 4 n otherwise


class _Side(NamedTuple):
    """One side of a cut that is tried."""

    tally: Codes  # (most_keys,) records of each sensitive value; zero between uses
    support: Codes  # sensitive values that occur
    seen: Ints  # (n_cells,) the try in which a cell was met last
    fresh: Codes  # (n_cells,) the cell that its records right of a cut get
    place: Codes  # (n_limits, most_keys) place of each supported value among the limit's codes here
    codes: Codes  # (n_limits, most_keys) those codes, ascending
    n_codes: Ints  # (n_limits,)
    flags: Codes  # zero between uses
    weights: Floats  # W(s) of each supported value
    marginal: Floats
    others: Ints  # (n_slices,) the regions of a combination
    widths: Floats  # (n_attributes,) of the region at hand


class _Room(NamedTuple):
    """What the buckets use one after the other."""

    bucket: _Bucket
    side: _Side
    scratch: Scratch


@compiled
def _enter(bucket: _Bucket, slices: Slices, rows: Codes, begin: int, end: int) -> int:
    """Start with one region a slice; return the number of sensitive values."""
    found = np.int64(0)
    stamp, place, chosen = bucket.stamp, bucket.place, bucket.chosen
    for p in range(begin, end):
        row = rows[p]
        key = slices.keys[row]
        if stamp[key] != begin:
            stamp[key] = begin
            place[key] = found
            bucket.totals[found] = 0
            chosen[found] = key
            found += 1
        bucket.local[row] = place[key]
        bucket.totals[place[key]] += 1
        bucket.cell[row] = 0
        for i in range(len(bucket.order)):
            bucket.order[i, p] = row
            bucket.region[i, row] = 0
    for j in range(len(slices.codes)):
        codes = bucket.codes[j]
        for s in range(found):
            codes[s] = slices.codes[j, chosen[s]]
        sift_sort(codes, found)
        m = 0
        for s in range(found):
            if s == 0 or codes[s] != codes[m - 1]:
                codes[m] = codes[s]
                m += 1
        bucket.n_slots[j] = m
        for s in range(found):
            low, high = 0, m - 1
            while low < high:
                middle = (low + high) // 2
                if codes[middle] < slices.codes[j, chosen[s]]:
                    low = middle + 1
                else:
                    high = middle
            bucket.slots[j, s] = low
    return int(found)


@compiled
def _combination_holds(
    bucket: _Bucket, side: _Side, limits: LimitArrays, i: int, n_support: int, n_keys: int, most_regions: int
) -> bool:
    """Whether W of the side together with the regions `others` of the other slices satisfies every limit."""
    total = 0.0
    is_whole = True
    for p in range(n_support):
        s = side.support[p]
        above = float(side.tally[s])
        below = 1.0
        for h in range(len(bucket.order)):
            if h != i:
                above *= bucket.counts[(h * most_regions + side.others[h]) * n_keys + s]
                below *= bucket.totals[s]
        weight = above / below
        side.weights[p] = weight
        total += weight
        is_whole = is_whole and above < _EXACT and below < _EXACT and weight == np.floor(weight)
    if total == 0.0:
        return True  # no combination of records at all
    for j in range(len(limits.models)):
        for q in range(side.n_codes[j]):
            side.marginal[q] = 0.0
        for p in range(n_support):
            side.marginal[side.place[j, p]] += side.weights[p]
        if not weights_satisfy(limits, j, side.codes[j], side.marginal, side.n_codes[j], total, is_whole):
            return False
    return True


def _whole_side_holds(
    bucket: _Bucket,
    side: _Side,
    limits: LimitArrays,
    i: int,
    begin: int,
    end: int,
    values: Codes,
    cut: int,
    is_left: bool,
    n_keys: int,
    most_regions: int,
    complete: bool,
    token: int,
) -> bool:
    rows = bucket.order[i, begin:end]
    rows = rows[(values[: end - begin] < cut) == is_left]
    met, first, tally = np.unique(bucket.local[rows], return_index=True, return_counts=True)
    turn = np.argsort(first)  # sums depend on the order
    support = met[turn]
    n_slices = len(bucket.order)
    if complete:
        sizes = np.where(np.arange(n_slices) == i, 1, bucket.n_regions)
        others = np.indices(sizes.tolist()).reshape(n_slices, -1)
    else:
        others = bucket.region[:, rows[np.unique(bucket.cell[rows], return_index=True)[1]]].astype(np.int64)
    above, below = np.tile(tally[turn].astype(np.float64), (others.shape[1], 1)), np.ones(len(support))
    for h in range(n_slices):
        if h != i:
            above *= bucket.counts[(h * most_regions + others[h])[:, None] * n_keys + support]
            below *= bucket.totals[support]
    weights = above / below
    totals = np.add.accumulate(weights, axis=1)[:, -1]
    is_whole = ((above < _EXACT) & (below < _EXACT) & (weights == np.floor(weights))).all(axis=1)
    for j in range(len(limits.models)):
        slots, place = np.unique(bucket.slots[j, support], return_inverse=True)
        codes = bucket.codes[j, slots]
        for c in np.flatnonzero(totals):
            marginal = np.asarray(np.bincount(place, weights[c], len(slots)), dtype=np.float64)
            if not weights_satisfy(limits, j, codes, marginal, len(slots), float(totals[c]), bool(is_whole[c])):
                return False
    return True


@compiled_beside(_whole_side_holds)
def _side_holds(
    bucket: _Bucket,
    side: _Side,
    limits: LimitArrays,
    i: int,
    begin: int,
    end: int,
    values: Codes,
    cut: int,
    is_left: bool,
    n_keys: int,
    most_regions: int,
    complete: bool,
    token: int,
) -> bool:
    """Whether all combinations with one side of a cut of a region of slice i satisfy every limit."""
    n_support = np.int64(0)
    for p in range(begin, end):
        if (values[p - begin] < cut) == is_left:
            s = bucket.local[bucket.order[i, p]]
            if side.tally[s] == 0:
                side.support[n_support] = s
                n_support += 1
            side.tally[s] += 1
    for j in range(len(limits.models)):
        for p in range(n_support):
            side.flags[bucket.slots[j, side.support[p]]] = 1
        found = np.int64(0)
        for q in range(bucket.n_slots[j]):
            if side.flags[q] == 1:
                side.codes[j, found] = bucket.codes[j, q]
                found += 1
                side.flags[q] = found
        for p in range(n_support):
            side.place[j, p] = side.flags[bucket.slots[j, side.support[p]]] - 1
        for p in range(n_support):
            side.flags[bucket.slots[j, side.support[p]]] = 0
        side.n_codes[j] = found

    holds = True
    n_slices = len(bucket.order)
    if complete:
        for h in range(n_slices):
            side.others[h] = 0
        while holds:
            holds = _combination_holds(bucket, side, limits, i, n_support, n_keys, most_regions)
            h = 0
            while h < n_slices:
                side.others[h] += 1
                if h != i and side.others[h] < bucket.n_regions[h]:
                    break
                side.others[h] = 0
                h += 1
            if h == n_slices:
                break
    else:
        for p in range(begin, end):
            row = bucket.order[i, p]
            if (values[p - begin] < cut) == is_left and side.seen[bucket.cell[row]] != token:
                side.seen[bucket.cell[row]] = token
                for h in range(n_slices):
                    side.others[h] = bucket.region[h, row]
                if not _combination_holds(bucket, side, limits, i, n_support, n_keys, most_regions):
                    holds = False
                    break
    for p in range(n_support):
        side.tally[side.support[p]] = 0
    return holds


@compiled
def _accept(
    bucket: _Bucket,
    side: _Side,
    i: int,
    r: int,
    values: Codes,
    cut: int,
    n_cells: int,
    n_keys: int,
    most_regions: int,
    token: int,
) -> int:
    """Give the right side of a cut a region of its own, and its cells where the left has them too; count the cells."""
    begin, end = bucket.begins[i, r], bucket.ends[i, r]
    new = bucket.n_regions[i]
    old_at = (i * most_regions + r) * n_keys
    new_at = (i * most_regions + new) * n_keys
    for s in range(n_keys):
        bucket.counts[new_at + s] = 0
    for p in range(begin, end):
        if values[p - begin] < cut:
            side.seen[bucket.cell[bucket.order[i, p]]] = token
    for p in range(begin, end):
        if values[p - begin] >= cut:
            row = bucket.order[i, p]
            bucket.region[i, row] = new
            bucket.counts[old_at + bucket.local[row]] -= 1
            bucket.counts[new_at + bucket.local[row]] += 1
            old = bucket.cell[row]
            if side.seen[old] == token:
                side.seen[old] = token + 1
                side.fresh[old] = n_cells
                n_cells += 1
            if side.seen[old] == token + 1:
                bucket.cell[row] = side.fresh[old]
    return n_cells


@compiled
def _find(
    space: Space,
    slices: Slices,
    limits: LimitArrays,
    room: _Room,
    i: int,
    r: int,
    rules: Rules,
    n_keys: int,
    most_regions: int,
    token: int,
) -> int:
    """Find a cut of region r of slice i that keeps every limit; the scratch values tell the sides, -1 if none."""
    bucket, side, scratch = room.bucket, room.side, room.scratch
    begin, end = bucket.begins[i, r], bucket.ends[i, r]
    rows, widths = bucket.order[i], side.widths
    first, last = slices.starts[i], slices.starts[i + 1]
    weigh_node(space, rows, begin, end, scratch)
    for p in range(first, last):
        widths[p] = node_width(space, slices.attributes[p], rows, begin, end, scratch)
    while True:
        widest = first
        for p in range(first, last):
            if widths[p] > widths[widest]:
                widest = p
        if first == last or widths[widest] < 0.0:
            return -1
        widths[widest] = -1.0
        n_cuts = find_cuts(space, slices.attributes[widest], rules.k, rules.strict, rows, begin, end, scratch)
        for t in range(n_cuts):
            cut = np.int64(scratch.cuts[t])
            is_kept = True
            if len(limits.models) > 0:
                # The smaller side fails more often, so it is tried first.
                smaller_is_left = 2 * scratch.lefts[t] <= end - begin
                for turn in range(2):
                    token += 1
                    if is_kept:
                        is_kept = _side_holds(
                            bucket, side, limits, i, begin, end, scratch.values, cut,
                            smaller_is_left if turn == 0 else not smaller_is_left,
                            n_keys, most_regions, rules.complete, token,
                        )  # fmt: skip
            if is_kept:
                return int(cut)


def refine(
    space: Space,
    slices: Slices,
    limits: LimitArrays,
    rows: Codes,
    bucket_ends: Ints,
    rules: Rules,
    room: int,
) -> Codes:
    """Cut the slices of every bucket into regions of at least k records, of which each row is one.

    In rounds: of each slice, each region is tried once, in its widest attribute first. One that no cut leaves within
    the limits stays as it is.

    Parameters
    ----------
    rows, bucket_ends : arrays
        Records, each bucket a run. Every bucket as one region a slice satisfies the limits.
    rules : Rules
        Where every combination of regions of a bucket is tested, one of n records gets no more than 4 n of them, but
        `least_combinations` in any case, and 64 times as many in none.
    room : int
        How many counts may be kept at once; a bucket gets no more regions than fit.

    Returns
    -------
    int32 array (n_slices, n_rows)
        The region of each record in each slice, numbered through all buckets.
    """
    n = space.ranks.shape[1]
    n_slices = len(slices.starts) - 1
    n_limits = len(limits.models)
    largest = int(np.diff(bucket_ends, prepend=0).max())
    n_keys = slices.codes.shape[1]
    most_keys = min(largest, n_keys)
    most_regions = max(1, min(largest // rules.k, room // (n_slices * most_keys)))
    bucket = _Bucket(
        order=np.empty((n_slices, n), np.int32),
        region=np.empty((n_slices, n), np.int32),
        cell=np.empty(n, np.int32),
        local=np.empty(n, np.int32),
        begins=np.empty((n_slices, most_regions), np.int64),
        ends=np.empty((n_slices, most_regions), np.int64),
        is_open=np.empty((n_slices, most_regions), np.int32),
        n_regions=np.empty(n_slices, np.int64),
        counts=np.empty(n_slices * most_regions * most_keys, np.int32),
        totals=np.empty(most_keys, np.int32),
        slots=np.empty((n_limits, most_keys), np.int32),
        codes=np.empty((n_limits, most_keys), np.int32),
        n_slots=np.empty(n_limits, np.int64),
        stamp=np.full(n_keys, -1, np.int64),
        place=np.empty(n_keys, np.int32),
        chosen=np.empty(most_keys, np.int32),
    )
    side = _Side(
        tally=np.zeros(most_keys, np.int32),
        support=np.empty(most_keys, np.int32),
        seen=np.full(largest, -1, np.int64),
        fresh=np.empty(largest, np.int32),
        place=np.empty((n_limits, most_keys), np.int32),
        codes=np.empty((n_limits, most_keys), np.int32),
        n_codes=np.empty(n_limits, np.int64),
        flags=np.zeros(most_keys, np.int32),
        weights=np.empty(most_keys, np.float64),
        marginal=np.empty(most_keys, np.float64),
        others=np.empty(n_slices, np.int64),
        widths=np.empty(len(space.kinds), np.float64),
    )
    scratch = make_scratch(largest, int(np.diff(space.starts).max(initial=1)), rules.n_tries, 0, 0)
    labels = np.empty((n_slices, n), np.int32)
    _refine(space, slices, limits, _Room(bucket, side, scratch), rows, bucket_ends, rules, most_regions, labels)
    return labels


@compiled
def _refine(
    space: Space,
    slices: Slices,
    limits: LimitArrays,
    room: _Room,
    rows: Codes,
    bucket_ends: Ints,
    rules: Rules,
    most_regions: int,
    labels: Codes,
) -> None:
    bucket, side, scratch = room.bucket, room.side, room.scratch
    k, least_combinations = rules.k, rules.least_combinations
    n_slices = len(slices.starts) - 1
    numbered = np.zeros(n_slices, np.int64)
    token = np.int64(0)
    begin = np.int64(0)
    for b in range(len(bucket_ends)):
        end = bucket_ends[b]
        n_keys = _enter(bucket, slices, rows, begin, end)
        n_cells = np.int64(1)
        # As many as the other test would look at, or some more: so the cost of a record is about the same.
        allowed = max(least_combinations, min(64 * least_combinations, 4 * (end - begin)))
        for i in range(n_slices):
            bucket.n_regions[i] = 1
            bucket.begins[i, 0] = begin
            bucket.ends[i, 0] = end
            bucket.is_open[i, 0] = 1
            for s in range(n_keys):
                bucket.counts[i * most_regions * n_keys + s] = bucket.totals[s]
        found_one = True
        while found_one:
            found_one = False
            for i in range(n_slices):
                for r in range(bucket.n_regions[i]):
                    if bucket.is_open[i, r] == 0:
                        continue
                    bucket.is_open[i, r] = 0
                    if bucket.ends[i, r] - bucket.begins[i, r] < 2 * k or bucket.n_regions[i] == most_regions:
                        continue
                    if rules.complete:
                        combinations = bucket.n_regions[i] + 1
                        for h in range(n_slices):
                            if h != i and combinations <= allowed:
                                combinations *= bucket.n_regions[h]
                        if combinations > allowed:
                            continue
                    cut = _find(space, slices, limits, room, i, r, rules, n_keys, most_regions, token)
                    token += 1 + 2 * rules.n_tries * len(space.kinds)
                    if cut < 0:
                        continue
                    n_cells = _accept(bucket, side, i, r, scratch.values, cut, n_cells, n_keys, most_regions, token)
                    token += 2
                    new = bucket.n_regions[i]
                    middle = move_rows(
                        bucket.order[i], bucket.begins[i, r], bucket.ends[i, r], scratch.values, cut, scratch.sorted
                    )
                    bucket.begins[i, new] = middle
                    bucket.ends[i, new] = bucket.ends[i, r]
                    bucket.ends[i, r] = middle
                    bucket.is_open[i, r] = bucket.is_open[i, new] = 1
                    bucket.n_regions[i] += 1
                    found_one = True
        for i in range(n_slices):
            for p in range(begin, end):
                labels[i, rows[p]] = numbered[i] + bucket.region[i, rows[p]]
            numbered[i] += bucket.n_regions[i]
        begin = end
