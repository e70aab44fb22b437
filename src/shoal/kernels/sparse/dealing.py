"""Loops that deal items anew: each to as many records of its pool as held it, by the room that these have left.

A unit is an item, or some that are dealt together. Pools are runs of records. Nothing of who held what is known here:
only how many of a pool held each unit, and how many items each record is to get.
"""

from __future__ import annotations

import numpy as np

from shoal.arrays import Codes, Ints, Mask, Words
from shoal.kernels.compile import compiled
from shoal.kernels.strings.generate import uniform
from shoal.kernels.strings.hash import holds

MOST_SCANNED = 96
"""Records of a pool up to which all are looked at for each unit."""
N_TRIES = 64
MOST_IN_VAIN = 4
"""Searches in vain, one after the other, after which those of a unit that are left are not searched room for."""


@compiled
def _has(starts: Ints, filled: Ints, out: Codes, row: int, item: int) -> bool:
    found = False
    for e in range(starts[row], starts[row] + filled[row]):
        found |= out[e] == item
    return found


@compiled
def _takes(starts: Ints, filled: Ints, out: Codes, row: int, unit: Codes) -> bool:
    """Whether a record has room for a unit, and nothing of it yet."""
    if starts[row] + filled[row] + len(unit) > starts[row + 1]:
        return False
    is_free = True
    for i in range(len(unit)):
        is_free &= not _has(starts, filled, out, row, unit[i])
    return is_free


@compiled
def _give(starts: Ints, filled: Ints, out: Codes, row: int, unit: Codes) -> None:
    for i in range(len(unit)):
        out[starts[row] + filled[row]] = unit[i]
        filled[row] += 1


@compiled
def deal(
    starts: Ints,
    filled: Ints,
    out: Codes,
    pools: Ints,
    widths: Ints,
    pool_of: Ints,
    units: Ints,
    counts: Ints,
    unit_starts: Ints,
    unit_items: Codes,
    state: Words,
) -> None:
    """Deal units to the records of their pools; those for which no record has room stay in `counts`.

    Parameters
    ----------
    starts, filled, out
        Records by the room that each has, how much of it is filled, and with which items.
    pools : int64 array (n_pools + 1,)
        Where each pool begins among the records.
    widths : int64 array (n_pools,)
        How many records each pool has, with those that are full, which need not be given.
    pool_of, units, counts : int64 arrays (n_batches,)
        Ascending pools, the unit of each batch, and how many get it; what should find room first stands first.
    unit_starts, unit_items
        The items of each unit.
    """
    begin = 0
    while begin < len(pool_of):
        pool = pool_of[begin]
        end = begin
        while end < len(pool_of) and pool_of[end] == pool:
            end += 1
        low, high = pools[pool], pools[pool + 1]
        slots, n_slots = np.empty(0, np.int64), 0
        if widths[pool] > MOST_SCANNED:
            slots = _slots(starts, filled, low, high)
            n_slots = len(slots)
        for b in range(begin, end):
            unit = unit_items[unit_starts[units[b]] : unit_starts[units[b] + 1]]
            if widths[pool] > MOST_SCANNED:
                counts[b], n_slots = _deal_by_slots(starts, filled, out, unit, counts[b], slots, n_slots, state)
            else:
                counts[b] = _deal_by_need(starts, filled, out, unit, counts[b], low, high, state)
        begin = end


@compiled
def _deal_by_need(
    starts: Ints, filled: Ints, out: Codes, unit: Codes, n_wanted: int, low: int, high: int, state: Words
) -> int:
    """Draw records without replacement, in proportion to their room (P. Efraimidis, P. Spirakis, IPL 2006)."""
    keys = np.empty(high - low)
    n_open = 0
    for row in range(low, high):
        keys[row - low] = -np.inf
        if _takes(starts, filled, out, row, unit):
            room = starts[row + 1] - starts[row] - filled[row]
            keys[row - low] = np.log(1.0 - uniform(state, 0)) / room  # the greatest ones win
            n_open += 1
    n = min(n_open, n_wanted)
    for _ in range(n):
        chosen = np.argmax(keys)
        keys[chosen] = -np.inf
        _give(starts, filled, out, low + chosen, unit)
    return n_wanted - n


@compiled
def _slots(starts: Ints, filled: Ints, low: int, high: int) -> Ints:
    """A record as often as it has room for an item."""
    n_slots = 0
    for row in range(low, high):
        n_slots += starts[row + 1] - starts[row] - filled[row]
    slots = np.empty(n_slots, np.int64)
    at = 0
    for row in range(low, high):
        for _ in range(starts[row + 1] - starts[row] - filled[row]):
            slots[at] = row
            at += 1
    return slots


@compiled
def _deal_by_slots(
    starts: Ints, filled: Ints, out: Codes, unit: Codes, n_wanted: int, slots: Ints, n_slots: int, state: Words
) -> tuple[int, int]:
    """The same for large pools: slots are drawn at random until one fits; how many are left over, and slots in use."""
    n_left, n_vain = n_wanted, 0
    for _ in range(n_wanted):
        n_before = n_left
        for _ in range(N_TRIES):
            if n_slots == 0:
                return n_left, n_slots
            place = int(uniform(state, 0) * n_slots)
            row = slots[place]
            is_full = starts[row] + filled[row] >= starts[row + 1]  # by the other items of a unit
            is_fit = not is_full and _takes(starts, filled, out, row, unit)
            if is_full or is_fit:
                n_slots -= 1
                slots[place] = slots[n_slots]
            if is_fit:
                _give(starts, filled, out, row, unit)
                n_left -= 1
                break
        n_vain = n_vain + 1 if n_left == n_before else 0
        if n_vain == MOST_IN_VAIN:  # the others of this unit would find room as seldom
            break
    return n_left, n_slots


@compiled
def _sum_of_keys(items: Codes, keys: Words, begin: int, end: int) -> np.uint64:
    total: np.uint64 = np.uint64(0)
    for e in range(begin, end):
        total = np.uint64(total + keys[items[e]])
    return total


@compiled
def record_hash(starts: Ints, filled: Ints, out: Codes, keys: Words, row: int) -> np.uint64:
    """The sum of the keys of a record's items, the same in whatever order they stand."""
    return _sum_of_keys(out, keys, starts[row], starts[row] + filled[row])


@compiled
def record_hashes(starts: Ints, items: Codes, keys: Words) -> Words:
    """Those of whole records: equal for equal sets."""
    hashes = np.empty(len(starts) - 1, np.uint64)
    for row in range(len(hashes)):
        hashes[row] = _sum_of_keys(items, keys, starts[row], starts[row + 1])
    return hashes


@compiled
def swap_copies(starts: Ints, filled: Ints, out: Codes, groups: Ints, keys: Words, rare: Words, state: Words) -> Mask:
    """Swap items within groups until no record has a hash among `rare`, ascending; which records still have one.

    Two records of a group swap one item each that the other has not, if neither is then among `rare`.
    """
    n = len(filled)
    hashes = np.empty(n, np.uint64)
    is_copy = np.zeros(n, np.bool_)
    for row in range(n):
        hashes[row] = record_hash(starts, filled, out, keys, row)
        is_copy[row] = holds(rare, hashes[row])
    for g in range(len(groups) - 1):
        low, high = groups[g], groups[g + 1]
        for row in range(low, high):
            if not is_copy[row] or filled[row] == 0:
                continue
            for _ in range(N_TRIES):
                other = low + int(uniform(state, 0) * (high - low))
                if other == row or filled[other] == 0:
                    continue
                a = starts[row] + int(uniform(state, 0) * filled[row])
                b = starts[other] + int(uniform(state, 0) * filled[other])
                if _has(starts, filled, out, row, out[b]) or _has(starts, filled, out, other, out[a]):
                    continue
                ours = hashes[row] - keys[out[a]] + keys[out[b]]
                theirs = hashes[other] - keys[out[b]] + keys[out[a]]
                if holds(rare, ours) or holds(rare, theirs):
                    continue
                out[a], out[b] = out[b], out[a]
                hashes[row], hashes[other] = ours, theirs
                is_copy[row], is_copy[other] = False, False
                break
    return is_copy
