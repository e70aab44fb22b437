"""Loops about pairs of items: which occur together far more often than apart, and which of them each record has."""

from __future__ import annotations

import numpy as np

from shoal.arrays import Codes, Floats, Ints, Mask
from shoal.kernels.compile import compiled
from shoal.kernels.stable_order import stable_order

MOST_PARTNERS = 32
MOST_LOOKED_AT = 256


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
def opens_pair(mate: Codes, is_first: Mask) -> None:
    """Mark the entries that are joined with a later one."""
    for e in range(len(mate)):
        is_first[e] = mate[e] > e


@compiled
def strong_pairs(
    starts: Ints, items: Codes, owner_starts: Ints, owners: Codes, supports: Ints, k: int, lift: float
) -> tuple[Ints, Codes, Floats]:
    """The partners of each item: those it stands with in k records at least, with a lift of at least `lift`.

    `owners` are the records of each item. At most 32 partners of an item, the strongest first; of records of more than
    256 items the first ones are looked at. Returned are where the partners of an item begin, the partners, and lifts.
    """
    n_items, n = len(supports), len(starts) - 1
    together = np.zeros(n_items, np.int64)
    partner_starts = np.zeros(n_items + 1, np.int64)
    partners, lifts = [np.int32(0) for _ in range(0)], [0.0 for _ in range(0)]
    touched = np.empty(n_items, np.int32)
    for item in range(n_items):
        n_touched = 0
        if supports[item] >= k:
            for o in range(owner_starts[item], owner_starts[item + 1]):
                row = owners[o]
                for e in range(starts[row], min(starts[row + 1], starts[row] + MOST_LOOKED_AT)):
                    other = items[e]
                    if together[other] == 0:
                        touched[n_touched] = other
                        n_touched += 1
                    together[other] += 1
        strong, found = [0.0 for _ in range(0)], [np.int32(0) for _ in range(0)]
        for t in range(n_touched):
            other = touched[t]
            if other != item and together[other] >= k:
                by = together[other] * float(n) / (float(supports[item]) * float(supports[other]))
                if by >= lift:
                    strong.append(by)
                    found.append(other)
            together[other] = 0
        if len(found) > 0:
            by_lift = stable_order(-np.array(strong))
            for j in by_lift[:MOST_PARTNERS]:
                partners.append(found[j])
                lifts.append(strong[j])
        partner_starts[item + 1] = len(partners)
    return partner_starts, np.array(partners, np.int32), np.array(lifts, np.float64)


@compiled
def match_pairs(
    starts: Ints, items: Codes, partner_starts: Ints, partners: Codes, lifts: Floats, n_items: int
) -> Codes:
    """Which entry of its record each entry is joined with, the strongest pairs first; -1 where with none."""
    mate = np.full(len(items), -1, np.int32)
    place = np.full(n_items, -1, np.int64)
    for row in range(len(starts) - 1):
        low, high = starts[row], starts[row + 1]
        for e in range(low, high):
            place[items[e]] = e
        found = [(0.0, 0, 0) for _ in range(0)]
        for e in range(low, high):
            item = items[e]
            for p in range(partner_starts[item], partner_starts[item + 1]):
                other = place[partners[p]]
                if other > e:
                    found.append((-lifts[p], e, other))
        if len(found) > 1:
            strengths = np.array([f[0] for f in found])
            by = stable_order(strengths)
        else:
            by = np.arange(len(found))
        for f in by:
            one, other = found[f][1], found[f][2]
            if mate[one] < 0 and mate[other] < 0:
                mate[one], mate[other] = other, one
        for e in range(low, high):
            place[items[e]] = -1
    return mate
