"""The loops that put sparse records into clusters of like ones, and choose the clusters that each is compared with.

A centre is a column of a table with a row for each item, so that the products of one record with all centres are sums
of few rows. Items are numbered from the most frequent on; those beyond half of the table share its other half.
"""

from __future__ import annotations

import numpy as np

from shoal.arrays import Codes, Floats, Ints, Mask, Singles
from shoal.kernels.compile import compiled

N_BINS = 256


@compiled
def _row_of(item: int, n_table: int) -> int:
    """Where an item stands in a table of so many rows."""
    half = n_table // 2
    return item if item < half else half + item % (n_table - half)


@compiled
def _score_centres(items: Codes, weights: Singles, table: Singles, biases: Singles, scores: Singles) -> None:
    """The product with each centre, less its bias."""
    for c in range(len(scores)):
        scores[c] = -biases[c]
    for e in range(len(items)):
        row = table[_row_of(items[e], len(table))]
        weight = weights[e]
        for c in range(len(scores)):
            scores[c] += weight * row[c]


@compiled
def assign(
    starts: Ints, items: Codes, weights: Singles, first: int, stop: int, table: Singles, biases: Singles, found: Codes
) -> None:
    """The centre with the largest score for each record from `first` to `stop`; of equal ones the first."""
    scores = np.empty(len(biases), np.float32)
    for i in range(first, stop):
        _score_centres(items[starts[i] : starts[i + 1]], weights[starts[i] : starts[i + 1]], table, biases, scores)
        best = 0
        for c in range(1, len(scores)):
            if scores[c] > scores[best]:
                best = c
        found[i - first] = best


@compiled
def add_members(starts: Ints, items: Codes, weights: Singles, clusters: Codes, sums: Floats) -> None:
    """Add each record to the column of its cluster."""
    for i in range(len(clusters)):
        for e in range(starts[i], starts[i + 1]):
            sums[_row_of(items[e], len(sums)), clusters[i]] += weights[e]


@compiled
def choose_clusters(
    starts: Ints,
    items: Codes,
    weights: Singles,
    first: int,
    stop: int,
    table: Singles,
    biases: Singles,
    sizes: Ints,
    budget: int,
    is_chosen: Mask,
) -> None:
    """Mark for each record the clusters of the largest scores that together hold `budget` records.

    Scores are put into bins of equal width, and the last bin is taken in the order of the clusters: without a sort, and
    enough for a limit that is arbitrary itself. `is_chosen` has a row for each cluster.
    """
    n = len(biases)
    scores = np.empty(n, np.float32)
    bins = np.empty(n, np.int64)
    in_bin = np.empty(N_BINS, np.int64)
    for i in range(first, stop):
        _score_centres(items[starts[i] : starts[i + 1]], weights[starts[i] : starts[i + 1]], table, biases, scores)
        low, high = scores[0], scores[0]
        for c in range(n):
            low, high = min(low, scores[c]), max(high, scores[c])
        scale = np.float32((N_BINS - 1) / (high - low)) if high > low else np.float32(0.0)
        in_bin[:] = 0
        for c in range(n):
            bins[c] = int((scores[c] - low) * scale)
            in_bin[bins[c]] += sizes[c]
        last, n_left = N_BINS - 1, budget
        while last > 0 and in_bin[last] < n_left:
            n_left -= in_bin[last]
            last -= 1
        for c in range(n):
            if bins[c] > last:
                is_chosen[c, i - first] = True
            elif bins[c] == last and n_left > 0:
                is_chosen[c, i - first] = True
                n_left -= sizes[c]
