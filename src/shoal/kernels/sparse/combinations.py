"""Loops about combinations of up to three items: which occur often enough, and what to drop from records of others.

Items are numbers below `n_items`, ascending within a record. Owners are the records, or the persons, that are counted:
records of one owner stand together, and a combination counts once for each.
"""

from __future__ import annotations

import numpy as np

from shoal.arrays import Codes, Ints, Mask
from shoal.kernels.compile import compiled
from shoal.kernels.stable_order import stable_order

_EMPTY = -1
_FACTOR = np.uint64(0x9E3779B97F4A7C15)


@compiled
def count_items(starts: Ints, items: Codes, owners: Ints, n_items: int) -> Ints:
    """How many owners hold each item."""
    counts = np.zeros(n_items, np.int64)
    last = np.full(n_items, -1, np.int64)
    for row in range(len(starts) - 1):
        for e in range(starts[row], starts[row + 1]):
            if last[items[e]] != owners[row]:
                last[items[e]] = owners[row]
                counts[items[e]] += 1
    return counts


@compiled
def holders_of(starts: Ints, items: Codes, n_items: int) -> tuple[Ints, Codes, Ints]:
    """The records of each item in their order: where an item's begin, the records, and the places of the item there."""
    firsts = np.zeros(n_items + 1, np.int64)
    for e in range(len(items)):
        firsts[items[e] + 1] += 1
    for item in range(n_items):
        firsts[item + 1] += firsts[item]
    at = firsts[:-1].copy()
    rows, places = np.empty(len(items), np.int32), np.empty(len(items), np.int64)
    for row in range(len(starts) - 1):
        for e in range(starts[row], starts[row + 1]):
            rows[at[items[e]]], places[at[items[e]]] = row, e
            at[items[e]] += 1
    return firsts, rows, places


@compiled
def count_pairs(starts: Ints, items: Codes, owners: Ints, n_items: int, k: int) -> tuple[Ints, Ints, Ints]:
    """The pairs that k owners hold, as ``first * n_items + second``, ascending, and by how many; and in how many rarer
    pairs each item is."""
    firsts, rows, places = holders_of(starts, items, n_items)
    keys, held = np.empty(1024, np.int64), np.empty(1024, np.int64)
    n_keys = 0
    rare = np.zeros(n_items, np.int64)
    counts = np.zeros(n_items, np.int64)
    last = np.full(n_items, -1, np.int64)
    touched = np.empty(n_items, np.int64)
    for item in range(n_items):
        n_touched = 0
        for h in range(firsts[item], firsts[item + 1]):
            row, owner = rows[h], owners[rows[h]]
            for e in range(places[h] + 1, starts[row + 1]):
                other = items[e]
                if counts[other] == 0:
                    touched[n_touched] = other
                    n_touched += 1
                if counts[other] == 0 or last[other] != owner:
                    counts[other] += 1
                    last[other] = owner
        while n_keys + n_touched > len(keys):
            keys, held = _wider(keys), _wider(held)
        for other in np.sort(touched[:n_touched]):
            if counts[other] >= k:
                keys[n_keys], held[n_keys] = item * n_items + other, counts[other]
                n_keys += 1
            else:
                rare[item] += 1
                rare[other] += 1
            counts[other] = 0
    return keys[:n_keys].copy(), held[:n_keys].copy(), rare


@compiled
def count_triples(starts: Ints, items: Codes, owners: Ints, n_items: int, k: int) -> tuple[Ints, Ints, Ints]:
    """The same of triples, as ``(first * n_items + second) * n_items + third``."""
    firsts, rows, places = holders_of(starts, items, n_items)
    found, held = np.empty(1024, np.int64), np.empty(1024, np.int64)
    n_found = 0
    rare = np.zeros(n_items, np.int64)
    for item in range(n_items):
        n_pairs = 0
        for h in range(firsts[item], firsts[item + 1]):
            after = starts[rows[h] + 1] - places[h] - 1
            n_pairs += after * (after - 1) // 2
        keys, whose = np.empty(n_pairs, np.int64), np.empty(n_pairs, np.int64)
        at = 0
        for h in range(firsts[item], firsts[item + 1]):
            for e in range(places[h] + 1, starts[rows[h] + 1]):
                for f in range(e + 1, starts[rows[h] + 1]):
                    keys[at], whose[at] = items[e] * n_items + items[f], owners[rows[h]]
                    at += 1
        order = stable_order(keys)  # stable: owners stay together
        low = 0
        while low < n_pairs:
            high, n_owners, key = low, 0, keys[order[low]]
            while high < n_pairs and keys[order[high]] == key:
                if high == low or whose[order[high]] != whose[order[high - 1]]:
                    n_owners += 1
                high += 1
            if n_owners >= k:
                if n_found == len(found):
                    found, held = _wider(found), _wider(held)
                found[n_found], held[n_found] = item * n_items * n_items + key, n_owners
                n_found += 1
            else:
                rare[item] += 1
                rare[key // n_items] += 1
                rare[key % n_items] += 1
            low = high
    return found[:n_found].copy(), held[:n_found].copy(), rare


@compiled
def _wider(values: Ints) -> Ints:
    """The same at the front of an array of twice the length."""
    wider = np.empty(2 * len(values), np.int64)
    wider[: len(values)] = values
    return wider


@compiled
def hash_keys(keys: Ints) -> Ints:
    """A table to look keys up in, none of them negative: open addressing, at most half full."""
    size = 16
    while size < 2 * len(keys):
        size *= 2
    table = np.full(size, _EMPTY, np.int64)
    for key in keys:
        at = _slot(key, size)
        while table[at] != _EMPTY:
            at = (at + 1) & (size - 1)
        table[at] = key
    return table


@compiled
def _slot(key: int, size: int) -> int:
    mixed = np.uint64(key) * _FACTOR
    return int(np.int64((mixed >> np.uint64(20)) & np.uint64(size - 1)))


@compiled
def _holds(table: Ints, key: int) -> bool:
    size = len(table)
    at = _slot(key, size)
    while table[at] != _EMPTY:
        if table[at] == key:
            return True
        at = (at + 1) & (size - 1)
    return False


@compiled
def drop_rare_pairs(starts: Ints, items: Codes, n_items: int, table: Ints) -> Mask:
    """Which entries stay, so that no record holds a pair that is not in the table.

    In each record the item goes that is in most such pairs, of equals the one of the greatest number, until none is.
    """
    kept = np.ones(len(items), np.bool_)
    for row in range(len(starts) - 1):
        low, n = starts[row], starts[row + 1] - starts[row]
        clash = np.zeros((n, n), np.bool_)
        degree = np.zeros(n, np.int64)
        for i in range(n):
            for j in range(i + 1, n):
                if not _holds(table, items[low + i] * n_items + items[low + j]):
                    clash[i, j] = clash[j, i] = True
                    degree[i] += 1
                    degree[j] += 1
        while True:
            worst = 0
            for i in range(n):
                if degree[i] >= degree[worst]:
                    worst = i
            if n == 0 or degree[worst] == 0:
                break
            kept[low + worst] = False
            degree[worst] = 0
            for j in range(n):
                if clash[worst, j]:
                    clash[worst, j] = clash[j, worst] = False
                    degree[j] -= 1
    return kept


@compiled
def drop_rare_triples(starts: Ints, items: Codes, n_items: int, table: Ints) -> Mask:
    """The same of triples."""
    kept = np.ones(len(items), np.bool_)
    for row in range(len(starts) - 1):
        low, n = starts[row], starts[row + 1] - starts[row]
        clashes = np.empty((n * (n - 1) * (n - 2) // 6, 3), np.int64)
        n_clashes = 0
        degree = np.zeros(n, np.int64)
        for i in range(n):
            for j in range(i + 1, n):
                pair = (items[low + i] * n_items + items[low + j]) * n_items
                for h in range(j + 1, n):
                    if not _holds(table, pair + items[low + h]):
                        clashes[n_clashes] = (i, j, h)
                        n_clashes += 1
                        degree[i] += 1
                        degree[j] += 1
                        degree[h] += 1
        while n_clashes > 0:
            worst = 0
            for i in range(n):
                if degree[i] >= degree[worst]:
                    worst = i
            kept[low + worst] = False
            left = 0
            for c in range(n_clashes):
                if clashes[c, 0] == worst or clashes[c, 1] == worst or clashes[c, 2] == worst:
                    for place in range(3):
                        degree[clashes[c, place]] -= 1
                else:
                    clashes[left] = clashes[c]
                    left += 1
            n_clashes = left
    return kept
