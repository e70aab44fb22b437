"""Tuple partition as the paper of screening prints it: after every split, the whole table is tested (Fig. 1 and 2)."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]


def is_diverse(slices: Sequence[Ints], sensitive: Ints, buckets: Sequence[Ints], l: float) -> bool:  # noqa: E741  paper's
    """Fig. 2: p(t, s) of every tuple over all buckets; the last slice stands beside the sensitive values."""
    n_rows, n_values = len(sensitive), int(sensitive.max()) + 1
    matched = np.zeros(n_rows)
    belief = np.zeros((n_rows, n_values))
    for rows in buckets:
        share = np.ones(n_rows)
        for values in slices:  # lines 2 and 3: f(v) of each slice, then p(t, B)
            share *= np.bincount(values[rows], minlength=int(values.max()) + 1)[values] / len(rows)
        beside = slices[-1]
        pairs = np.zeros((int(beside.max()) + 1, n_values))
        np.add.at(pairs, (beside[rows], sensitive[rows]), 1)
        pairs /= np.maximum(pairs.sum(axis=1, keepdims=True), 1)
        matched += share
        belief += share[:, None] * pairs[beside]  # lines 4 to 8
    return bool((belief.max(axis=1) <= matched / l + 1e-12).all())


def partition(ranks: Ints, slices: Sequence[Ints], sensitive: Ints, k: int, l: float) -> list[Ints]:  # noqa: E741  paper's
    """Fig. 1: a queue of buckets, each split at the median of its widest attribute, and kept if it passes.

    Departing from Fig. 1, which gives a bucket up when its first split fails, the next widest attribute is tried, as
    Mondrian does: else 2,000 records of Adult end in two buckets.
    """
    spans = np.maximum(np.ptp(ranks, axis=1), 1)
    queue = deque([np.arange(ranks.shape[1])])
    done: list[Ints] = []
    while queue:
        rows = queue.popleft()
        widths = np.ptp(ranks[:, rows], axis=1) / spans
        for attribute in np.argsort(-widths, kind="stable"):
            values = ranks[attribute][rows]
            left = values < np.median(values)
            if min(left.sum(), (~left).sum()) < k:
                left = values <= np.median(values)
            halves = [rows[left], rows[~left]]
            if min(map(len, halves)) >= k and is_diverse(slices, sensitive, [*queue, *halves, *done], l):
                queue.extend(halves)
                break
        else:
            done.append(rows)
    return done
