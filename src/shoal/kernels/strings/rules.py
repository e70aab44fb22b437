"""Pairs of items: in how many records of each class they occur, and the first rule that a record matches."""

from __future__ import annotations

import numpy as np

from shoal.arrays import Codes, Ints
from shoal.kernels.compile import compiled


@compiled
def count_pairs(items: Codes, starts: Ints, labels: Codes, n_items: int, n_classes: int) -> Codes:
    """How many records of each class hold each pair of items, an array (n_classes, n_items, n_items).

    The items of a record ascend; a pair is counted with the smaller one first. Items from `n_items` on have no pairs.
    """
    out = np.zeros((n_classes, n_items, n_items), np.int32)
    for row in range(len(starts) - 1):
        c = labels[row]
        for a in range(starts[row], starts[row + 1]):
            if items[a] >= n_items:
                break
            for b in range(a + 1, starts[row + 1]):
                if items[b] >= n_items:
                    break
                out[c, items[a], items[b]] += 1
    return out


@compiled
def first_matches(items: Codes, starts: Ints, single_ranks: Codes, pair_ranks: Codes, n_rules: int) -> Codes:
    """The lowest rank of a rule that each record matches, `n_rules` where it matches none."""
    out = np.empty(len(starts) - 1, np.int32)
    n_items = len(pair_ranks)
    for row in range(len(out)):
        best = n_rules
        for a in range(starts[row], starts[row + 1]):
            best = min(best, single_ranks[items[a]])
            if items[a] >= n_items:
                continue
            for b in range(a + 1, starts[row + 1]):
                if items[b] >= n_items:
                    break
                best = min(best, pair_ranks[items[a], items[b]])
        out[row] = best
    return out
