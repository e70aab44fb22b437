"""Loops that group sparse records: bisection by two means, and greedy groups of nearest ones within its leaves.

Rows are of unit length, so that products are cosines. A row stands in `order`; a part of the data is a run of it.
"""

from __future__ import annotations

import numpy as np

from shoal.arrays import Codes, Floats, Ints, Mask, Singles, Words
from shoal.kernels.compile import compiled
from shoal.kernels.stable_order import stable_order
from shoal.kernels.strings.generate import uniform

N_ROUNDS = 4
MOST_SAMPLED = 2048
N_TRIED = 8
NARROWEST = 8
"""A side of a split has at least one of so many rows."""


@compiled
def product(starts: Ints, items: Codes, weights: Singles, row: int, dense: Floats) -> float:
    """Of a row with a dense vector."""
    total = 0.0
    for e in range(starts[row], starts[row + 1]):
        total += weights[e] * dense[items[e]]
    return total


@compiled
def products(starts: Ints, items: Codes, weights: Singles, dense: Floats) -> Floats:
    """Of all rows with a dense vector."""
    found = np.empty(len(starts) - 1)
    for row in range(len(found)):
        found[row] = product(starts, items, weights, row, dense)
    return found


@compiled
def add_row(starts: Ints, items: Codes, weights: Singles, row: int, times: float, dense: Floats) -> None:
    """Add a multiple of a row to a dense vector."""
    for e in range(starts[row], starts[row + 1]):
        dense[items[e]] += times * weights[e]


@compiled
def _clear(starts: Ints, items: Codes, row: int, dense: Floats) -> None:
    for e in range(starts[row], starts[row + 1]):
        dense[items[e]] = 0.0


@compiled
def direction(
    starts: Ints, items: Codes, weights: Singles, rows: Codes, state: Words, dense: Floats, means: Floats
) -> None:
    """Fill `dense` with the difference of two means of unit length; `means` is scratch, zero before and after."""
    n = len(rows)
    one = rows[int(uniform(state, 0) * n)]
    add_row(starts, items, weights, one, 1.0, means)
    other, least = one, 2.0
    for _ in range(N_TRIED):
        row = rows[int(uniform(state, 0) * n)]
        near = product(starts, items, weights, row, means)
        if near < least:
            other, least = row, near
    _clear(starts, items, one, means)
    add_row(starts, items, weights, one, 1.0, dense)
    add_row(starts, items, weights, other, -1.0, dense)
    side = np.zeros(n, np.bool_)
    for _ in range(N_ROUNDS):
        n_changed = 0
        for i in range(n):
            now = product(starts, items, weights, rows[i], dense) > 0.0
            n_changed += now != side[i]
            side[i] = now
        for i in range(n):
            _clear(starts, items, rows[i], dense)
        _clear(starts, items, one, dense)
        _clear(starts, items, other, dense)
        for wanted in (True, False):
            for i in range(n):
                if side[i] == wanted:
                    add_row(starts, items, weights, rows[i], 1.0, means)
            square = 0.0
            for i in range(n):  # |sum|^2 is the sum of the products of its rows with it
                if side[i] == wanted:
                    square += product(starts, items, weights, rows[i], means)
            scale = (1.0 if wanted else -1.0) / np.sqrt(square) if square > 0.0 else 0.0
            for i in range(n):
                if side[i] == wanted:
                    add_row(starts, items, weights, rows[i], scale, dense)
            for i in range(n):
                _clear(starts, items, rows[i], means)
        if n_changed == 0:
            break


@compiled
def draw_rows(part: Codes, state: Words) -> Codes:
    """The sample of a part that its two means are found on: all of a small one."""
    n = len(part)
    if n <= MOST_SAMPLED:
        return part
    rows = np.empty(MOST_SAMPLED, np.int32)
    for i in range(MOST_SAMPLED):
        rows[i] = part[int(uniform(state, 0) * n)]
    return rows


@compiled
def cut_of(scores: Floats, fewest: int) -> int:
    """How many of a part, the least scores first, are on the first side: an eighth at least, and `fewest`."""
    n, cut = len(scores), 0
    for score in scores:
        cut += score < 0.0
    least = max(n // NARROWEST, fewest, 1)
    return min(max(cut, least), n - least)


@compiled
def _places(is_there: Mask) -> Ints:
    """What ``np.flatnonzero`` gives, which takes a second to compile."""
    n = 0
    for i in range(len(is_there)):
        n += is_there[i]
    found, n = np.empty(n, np.int64), 0
    for i in range(len(is_there)):
        if is_there[i]:
            found[n] = i
            n += 1
    return found


@compiled
def bisect(
    starts: Ints, items: Codes, weights: Singles, n_items: int, order: Codes, most: int, fewest: int, state: Words
) -> Ints:
    """Put `order` into the order of a tree whose leaves have at most so many rows; where the leaves begin, and the end.

    Two means are found on a sample of a part, and split all of it. A side gets an eighth at least, and `fewest`.
    """
    dense, means = np.zeros(n_items), np.zeros(n_items)
    is_leaf = np.zeros(len(order) + 1, np.bool_)
    is_leaf[0], is_leaf[len(order)] = True, True
    todo, n_todo = np.empty((len(order) + 1, 2), np.int64), 1
    todo[0, 0], todo[0, 1] = 0, len(order)
    while n_todo > 0:
        n_todo -= 1
        low, high = todo[n_todo, 0], todo[n_todo, 1]
        n = high - low
        if n <= most or n < 2 * fewest:
            continue
        part = order[low:high].copy()
        rows = draw_rows(part, state)
        direction(starts, items, weights, rows, state, dense, means)
        scores = np.empty(n)
        for i in range(n):
            scores[i] = -product(starts, items, weights, part[i], dense)
        for i in range(len(rows)):
            _clear(starts, items, rows[i], dense)
        by_score = stable_order(scores)
        cut = cut_of(scores, fewest)
        for i in range(n):
            order[low + i] = part[by_score[i]]
        is_leaf[low + cut] = True
        todo[n_todo, 0], todo[n_todo, 1] = low, low + cut
        todo[n_todo + 1, 0], todo[n_todo + 1, 1] = low + cut, high
        n_todo += 2
    return _places(is_leaf)


@compiled
def greedy_groups(
    starts: Ints, items: Codes, weights: Singles, n_items: int, order: Codes, leaves: Ints, k: int
) -> Ints:
    """Put each leaf into groups of k; where the groups begin in `order`, which is changed, and the end.

    The row farthest from the middle of its leaf comes first, with the k - 1 nearest to it that are left; the last group
    of a leaf takes the rest, of fewer than 2k.
    """
    dense = np.zeros(n_items)
    opens = np.zeros(len(order) + 1, np.bool_)
    opens[len(order)] = True
    best, best_at = np.empty(k), np.empty(k, np.int64)
    for leaf in range(len(leaves) - 1):
        low, high = leaves[leaf], leaves[leaf + 1]
        part = order[low:high].copy()
        n = len(part)
        for i in range(n):
            add_row(starts, items, weights, part[i], 1.0, dense)
        scores = np.empty(n)
        for i in range(n):
            scores[i] = product(starts, items, weights, part[i], dense)
        for i in range(n):
            _clear(starts, items, part[i], dense)
        by_score = stable_order(scores)
        left = np.empty(n, np.int32)  # those that are left stand first, in this order
        for i in range(n):
            left[i] = part[by_score[i]]
        n_left, at = n, low
        while n_left >= 2 * k:
            opens[at] = True
            pivot = left[0]
            add_row(starts, items, weights, pivot, 1.0, dense)
            n_best = 0
            for i in range(1, n_left):
                near = product(starts, items, weights, left[i], dense)
                if n_best < k - 1 or (n_best > 0 and near > best[n_best - 1]):
                    j = n_best if n_best < k - 1 else k - 2
                    while j > 0 and best[j - 1] < near:
                        best[j], best_at[j] = best[j - 1], best_at[j - 1]
                        j -= 1
                    best[j], best_at[j] = near, i
                    n_best = min(n_best + 1, k - 1)
            _clear(starts, items, pivot, dense)
            order[at] = pivot
            for j in range(n_best):
                order[at + 1 + j] = left[best_at[j]]
            left[0] = -1
            for j in range(n_best):
                left[best_at[j]] = -1
            n_kept = 0
            for i in range(n_left):
                if left[i] >= 0:
                    left[n_kept] = left[i]
                    n_kept += 1
            n_left, at = n_kept, at + k
        opens[at] = True
        for i in range(n_left):
            order[at + i] = left[i]
    return _places(opens)
