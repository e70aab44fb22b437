"""Loops of disassociation: records into clusters, items of clusters into chunks, and subrecords back onto records."""

from __future__ import annotations

import numpy as np

from shoal.arrays import Codes, Ints, Mask
from shoal.kernels.compile import compiled
from shoal.kernels.stable_order import stable_order


@compiled
def cut_clusters(starts: Ints, items: Codes, owners: Ints, n_items: int, k: int, most: int) -> tuple[Ints, Ints]:
    """Cut records by their most frequent items: the records in their new order, and where each cluster begins.

    Records that hold the most frequent item that not all of them hold are set apart from the others, on and on, while
    there are more than `most` of them and both sides have records of k owners. What cannot be cut so is cut by order.
    """
    n = len(starts) - 1
    order = np.arange(n)
    scratch = np.empty(n, np.int64)
    counts = np.zeros(n_items, np.int64)
    is_held = np.zeros(n, np.bool_)
    seen = np.full(n + 1 if n == 0 else owners.max() + 1, -1, np.int64)
    n_seen = 0
    begins = [0 for _ in range(0)]
    stack = [(0, n)]
    while len(stack) > 0:
        low, high = stack.pop()
        size = high - low
        if size <= most:
            begins.append(low)
            continue
        for place in range(low, high):
            for e in range(starts[order[place]], starts[order[place] + 1]):
                counts[items[e]] += 1
        best, best_count = -1, 0
        for place in range(low, high):
            for e in range(starts[order[place]], starts[order[place] + 1]):
                item = items[e]
                held = counts[item]
                if k <= held <= size - k and (held > best_count or (held == best_count and item < best)):
                    best, best_count = item, held
        for place in range(low, high):
            for e in range(starts[order[place]], starts[order[place] + 1]):
                counts[items[e]] = 0
        middle = -1
        if best >= 0:
            n_with, n_without = 0, 0
            for place in range(low, high):
                row = order[place]
                is_held[row] = False
                for e in range(starts[row], starts[row + 1]):
                    if items[e] == best:
                        is_held[row] = True
                n_with += is_held[row]
            n_with, n_without = low, low + n_with
            middle = n_without
            for place in range(low, high):
                row = order[place]
                if is_held[row]:
                    scratch[n_with] = row
                    n_with += 1
                else:
                    scratch[n_without] = row
                    n_without += 1
            order[low:high] = scratch[low:high]
        else:
            middle = low + size // 2
        for begin, end in ((low, middle), (middle, high)):
            n_owners = 0
            for place in range(begin, end):
                if seen[owners[order[place]]] != n_seen:
                    seen[owners[order[place]]] = n_seen
                    n_owners += 1
            n_seen += 1
            if n_owners < k:
                middle = -1
                break
        if middle < 0:
            begins.append(low)
        else:
            stack.append((middle, high))
            stack.append((low, middle))
    begins.append(n)
    return order, np.array(begins, np.int64)


@compiled
def cut_chunks(
    starts: Ints, items: Codes, owners: Ints, bounds: Ints, is_open: Mask, n_items: int, k: int, m: int, first: int
) -> Ints:
    """Put items into chunks in which k owners hold every combination of up to m: the chunk of each entry, -1 for none.

    Parameters
    ----------
    bounds : int64 array
        Records from one bound to the next are looked at together; those of an owner stand together there.
    is_open : bool array
        Of each entry: whether its item may be put into a chunk. One item has the same for all records between bounds.
    first : int
        The number of the first chunk; others follow.
    """
    chunk = np.full(len(items), -1, np.int64)
    local = np.full(n_items, -1, np.int64)
    next_chunk = first
    for b in range(len(bounds) - 1):
        low, high = bounds[b], bounds[b + 1]
        # Items, the most frequent first, as small numbers.
        found = [0 for _ in range(0)]
        counts, last = [0 for _ in range(0)], [0 for _ in range(0)]
        for row in range(low, high):
            for e in range(starts[row], starts[row + 1]):
                if is_open[e]:
                    item = items[e]
                    if local[item] < 0:
                        local[item] = len(found)
                        found.append(item)
                        counts.append(0)
                        last.append(-1)
                    if last[local[item]] != owners[row]:
                        last[local[item]] = owners[row]
                        counts[local[item]] += 1
        n_found = len(found)
        if n_found == 0:
            continue
        by_count = stable_order(np.array([-counts[i] * n_items + found[i] for i in range(n_found)]))
        n_terms = 0
        for t in range(n_found):
            item = found[by_count[t]]
            is_frequent = counts[by_count[t]] >= k
            local[item] = t if is_frequent else -1
            n_terms += is_frequent
        chunk_of = _chunks(starts, items, owners, low, high, local, is_open, n_terms, k, m)
        for row in range(low, high):
            for e in range(starts[row], starts[row + 1]):
                if is_open[e] and local[items[e]] >= 0:
                    chunk[e] = next_chunk + chunk_of[local[items[e]]]
        if n_terms > 0:
            next_chunk += chunk_of.max() + 1
        for item in found:
            local[item] = -1
    return chunk


@compiled
def _chunks(
    starts: Ints,
    items: Codes,
    owners: Ints,
    low: int,
    high: int,
    local: Ints,
    is_open: Mask,
    n_terms: int,
    k: int,
    m: int,
) -> Ints:
    """The chunk of each term of one set of records: VERPART, the next chunk taking all that it can."""
    firsts = np.zeros(n_terms + 1, np.int64)
    terms_from = np.zeros(high - low + 1, np.int64)
    for row in range(low, high):
        for e in range(starts[row], starts[row + 1]):
            if is_open[e] and local[items[e]] >= 0:
                firsts[local[items[e]] + 1] += 1
                terms_from[row - low + 1] += 1
    firsts, terms_from = np.cumsum(firsts), np.cumsum(terms_from)
    terms = np.empty(terms_from[-1], np.int64)
    holders = np.empty(terms_from[-1], np.int64)
    at, place = firsts[:-1].copy(), 0
    for row in range(low, high):
        for e in range(starts[row], starts[row + 1]):
            if is_open[e] and local[items[e]] >= 0:
                terms[place] = local[items[e]]
                holders[at[terms[place]]] = row - low
                at[terms[place]] += 1
                place += 1
    chunk_of = np.full(n_terms, -1, np.int64)
    counts, last = np.zeros(n_terms, np.int64), np.full(n_terms, -1, np.int64)
    touched = np.empty(n_terms, np.int64)
    n_left, current = n_terms, 0
    while n_left > 0:
        for term in range(n_terms):
            if chunk_of[term] >= 0:
                continue
            n_touched = 0
            if m >= 2:
                for h in range(firsts[term], firsts[term + 1]):
                    row = holders[h]
                    for p in range(terms_from[row], terms_from[row + 1]):
                        other = terms[p]
                        if chunk_of[other] == current:
                            if counts[other] == 0:
                                touched[n_touched] = other
                                n_touched += 1
                            if counts[other] == 0 or last[other] != owners[low + row]:
                                counts[other] += 1
                                last[other] = owners[low + row]
            fits = True
            for t in range(n_touched):
                fits = fits and counts[touched[t]] >= k
                counts[touched[t]] = 0
            if fits and m >= 3 and n_touched > 1:
                for t in range(n_touched):
                    counts[touched[t]] = t + 1
                fits = _pairs_fit(
                    holders[firsts[term] : firsts[term + 1]], terms_from, terms, owners, low, counts, n_touched, k
                )
                for t in range(n_touched):
                    counts[touched[t]] = 0
            if fits:
                chunk_of[term] = current
                n_left -= 1
        current += 1
    return chunk_of


@compiled
def _pairs_fit(
    rows: Ints, terms_from: Ints, terms: Ints, owners: Ints, low: int, number: Ints, n_terms: int, k: int
) -> bool:
    """Whether k owners hold every pair of terms that some of these rows hold; `number` counts terms from 1."""
    counts, last = np.zeros((n_terms, n_terms), np.int64), np.full((n_terms, n_terms), -1, np.int64)
    for row in rows:
        for p in range(terms_from[row], terms_from[row + 1]):
            one = number[terms[p]] - 1
            for q in range(terms_from[row], terms_from[row + 1]):
                other = number[terms[q]] - 1
                if one >= 0 and other > one and last[one, other] != owners[low + row]:
                    last[one, other] = owners[low + row]
                    counts[one, other] += 1
    for one in range(n_terms):
        for other in range(one + 1, n_terms):
            if 0 < counts[one, other] < k:
                return False
    return True
