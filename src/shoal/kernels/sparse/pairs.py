"""Loops about pairs of units: how many records have both, and which pairs each record is cut into.

Records come run by run; what is known of all are counts of pairs, in a table that grows.
"""

from __future__ import annotations

import numpy as np

from shoal.arrays import Codes, Floats, Ints
from shoal.kernels.compile import compiled
from shoal.kernels.stable_order import stable_order

MOST_LOOKED_AT = 256
_SPREAD = np.uint64(0x9E3779B97F4A7C15)
_NONE = -1


@compiled
def list_owners(starts: Ints, items: Codes, n_items: int) -> tuple[Ints, Codes]:
    """Where the records of each item begin, and these records, ascending; sorted by counting."""
    owner_starts = np.zeros(n_items + 1, np.int64)
    for item in items:
        owner_starts[item + 1] += 1
    for item in range(n_items):
        owner_starts[item + 1] += owner_starts[item]
    owners, fill = np.empty(len(items), np.int32), owner_starts[:-1].copy()
    for row in range(len(starts) - 1):
        for e in range(starts[row], starts[row + 1]):
            owners[fill[items[e]]] = row
            fill[items[e]] += 1
    return owner_starts, owners


@compiled
def place_of(keys: Ints, key: int) -> int:
    """Where a key is in the table, or would be; the table has a power of two of places, and some are free."""
    mask = np.uint64(len(keys) - 1)
    place = (np.uint64(key) * _SPREAD >> np.uint64(20)) & mask
    while keys[place] != key and keys[place] != _NONE:
        place = (place + np.uint64(1)) & mask
    return int(place)


@compiled
def _grown(keys: Ints, counts: Codes) -> tuple[Ints, Codes]:
    """The same in a table of twice as many places."""
    more_keys, more_counts = np.full(2 * len(keys), _NONE, np.int64), np.zeros(2 * len(keys), np.int32)
    for i in range(len(keys)):
        if keys[i] != _NONE:
            place = place_of(more_keys, keys[i])
            more_keys[place] = keys[i]
            more_counts[place] = counts[i]
    return more_keys, more_counts


@compiled
def count_pairs(
    starts: Ints,
    items: Codes,
    supports: Ints,
    k: int,
    first: int,
    end: int,
    keys: Ints,
    counts: Codes,
    n_used: int,
    most: int,
    least: int = 1,
) -> tuple[Ints, Codes, int]:
    """Count with which other units those from `first` to before `end` stand in some records.

    Units that fewer than k records have are passed over; of records of more than 256 units the first ones are looked
    at. A pair has the key ``unit * n_units + other``. The table grows to `most` places; if that is not enough, the
    number of those in use is given as -1. Pairs that fewer than `least` of these records have are left out: where they
    are all records, that is what makes the table small.
    """
    n_units = len(supports)
    owner_starts, owners = list_owners(starts, items, n_units)
    together = np.zeros(n_units, np.int32)
    touched = np.empty(n_units, np.int32)
    for unit in range(first, end):
        if supports[unit] < k:
            continue
        n_touched = 0
        for o in range(owner_starts[unit], owner_starts[unit + 1]):
            row = owners[o]
            for e in range(starts[row], min(starts[row + 1], starts[row] + MOST_LOOKED_AT)):
                other = items[e]
                if together[other] == 0:
                    touched[n_touched] = other
                    n_touched += 1
                together[other] += 1
        for t in range(n_touched):
            other = touched[t]
            if other != unit and supports[other] >= k and together[other] >= least:
                key = unit * n_units + other
                place = place_of(keys, key)
                if keys[place] == _NONE:
                    if 2 * n_used >= len(keys):
                        if 2 * len(keys) > most:
                            return keys, counts, -1
                        keys, counts = _grown(keys, counts)
                        place = place_of(keys, key)
                    keys[place] = key
                    n_used += 1
                counts[place] += together[other]
            together[other] = 0
    return keys, counts, n_used


@compiled
def match_pairs(starts: Ints, items: Codes, partner_starts: Ints, partners: Codes, lifts: Floats) -> Codes:
    """For each entry the pair of units by which it is joined with a later one of its record, the strongest pairs first.

    A pair is called by its place among the partners; -1 where an entry opens none.
    """
    opened = np.full(len(items), -1, np.int32)
    is_joined = np.zeros(len(items), np.bool_)
    place = np.full(len(partner_starts) - 1, -1, np.int64)
    for row in range(len(starts) - 1):
        low, high = starts[row], starts[row + 1]
        for e in range(low, high):
            place[items[e]] = e
        found = [(0.0, 0, 0, 0) for _ in range(0)]
        for e in range(low, high):
            item = items[e]
            for p in range(partner_starts[item], partner_starts[item + 1]):
                other = place[partners[p]]
                if other > e:
                    found.append((-lifts[p], e, other, p))
        if len(found) > 1:
            strengths = np.array([f[0] for f in found])
            by = stable_order(strengths)
        else:
            by = np.arange(len(found))
        for f in by:
            one, other = found[f][1], found[f][2]
            if not is_joined[one] and not is_joined[other]:
                is_joined[one], is_joined[other] = True, True
                opened[one] = found[f][3]
        for e in range(low, high):
            place[items[e]] = -1
    return opened


@compiled
def join_pairs(starts: Ints, items: Codes, opened: Codes, partners: Codes, joined: Codes) -> tuple[Ints, Codes]:
    """How many units each record has when pairs are one, and these; a pair that is -1 in `joined` is left as it was."""
    sizes, out = np.zeros(len(starts) - 1, np.int64), np.empty(len(items), np.int32)
    is_gone = np.zeros(len(items), np.bool_)
    at = 0
    for row in range(len(starts) - 1):
        for e in range(starts[row], starts[row + 1]):
            if is_gone[e]:
                continue
            out[at] = items[e]
            if opened[e] >= 0 and joined[opened[e]] >= 0:
                out[at] = joined[opened[e]]
                for later in range(e + 1, starts[row + 1]):
                    if items[later] == partners[opened[e]]:
                        is_gone[later] = True
            at += 1
            sizes[row] += 1
    return sizes, out[:at].copy()
