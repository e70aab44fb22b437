"""Transactions from a pool of itemsets, one after another: the inner loop of the Quest generator."""

from __future__ import annotations

import numpy as np

from shoal.arrays import Codes, Floats, Ints, Words
from shoal.kernels.compile import compiled
from shoal.kernels.strings.generate import uniform


@compiled
def fill_baskets(
    sizes: Ints,
    set_items: Codes,
    set_starts: Ints,
    cumulative: Floats,
    corruption: Floats,
    n_items: int,
    kept: Ints,
    state: Words,
    patience: int,
    out: Codes,
    out_starts: Ints,
) -> int:
    """Fill one transaction for each size; those that stay empty are left out. Returns how many there are.

    ``kept[0]`` is the itemset that did not fit into the transaction before, or -1; it is left there for the next call,
    as the random state is. A transaction ends when `patience` itemsets in turn brought nothing new. Its items ascend.
    """
    stamp = np.full(n_items, -1, np.int64)
    longest = 0
    for s in range(len(corruption)):
        longest = max(longest, set_starts[s + 1] - set_starts[s])
    scratch = np.empty(longest, np.int32)
    n_made, end = 0, 0
    out_starts[0] = 0
    for t in range(len(sizes)):
        begin = end
        idle = 0
        while end - begin < sizes[t] and idle < patience:
            chosen = kept[0]
            kept[0] = -1
            if chosen < 0:
                u = uniform(state, 0)
                low, high = 0, len(cumulative) - 1
                while low < high:
                    middle = (low + high) // 2
                    if cumulative[middle] > u:
                        high = middle
                    else:
                        low = middle + 1
                chosen = low
            m = set_starts[chosen + 1] - set_starts[chosen]
            n_left = m
            while n_left > 0 and uniform(state, 0) < corruption[chosen]:
                n_left -= 1
            if end - begin + n_left > sizes[t] and uniform(state, 0) < 0.5:
                kept[0] = chosen
                break
            idle += 1
            for j in range(m):
                scratch[j] = set_items[set_starts[chosen] + j]
            for j in range(n_left):
                other = j + int(uniform(state, 0) * (m - j))
                item = scratch[other]
                scratch[other] = scratch[j]
                scratch[j] = item
                if stamp[item] == t:
                    continue
                stamp[item] = t
                idle = 0
                at = end
                while at > begin and out[at - 1] > item:
                    out[at] = out[at - 1]
                    at -= 1
                out[at] = item
                end += 1
        if end > begin:
            n_made += 1
            out_starts[n_made] = end
    return n_made
