"""Attributes at random, and the slow twins of Mondrian's widths and cuts."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np

from shoal.tables.encoding import Ranked

KINDS = ("number", "order", "category", "tree")


def make_ranked(rng, name, kind, n, n_values, missing):
    """One attribute; a third of the values is missing if asked for."""
    codes = np.minimum(rng.integers(0, n_values, n), rng.integers(0, n_values, n))
    if missing:
        codes[rng.random(n) < 0.3] = n_values
    values, ranks = np.unique(codes, return_inverse=True)
    has_missing = bool(values[-1] == n_values)
    positions = values**1.5 if kind == "number" else np.arange(len(values), dtype=float)
    if has_missing:
        positions[-1] = np.nan
    ancestors = None
    if kind == "tree":
        low = np.minimum(values * 7 // n_values, 6)
        ancestors = np.column_stack([values, low + n_values + 1, low // 2 + n_values + 1, 0 * values]).astype(np.int32)
        if has_missing:
            ancestors[-1, 1:-1] = -1
    return Ranked(name, kind, ranks.astype(np.int32), positions.astype(float), ancestors, has_missing)


def meeting(r, one, other):
    return next(h for h in range(r.ancestors.shape[1]) if r.ancestors[one, h] == r.ancestors[other, h])


def slow_width(r, rows):
    values = sorted({int(r.ranks[i]) for i in rows})
    if len(values) == 1:
        return 0.0
    if r.kind == "category":
        return len(values) / r.n_values
    if r.kind == "tree":
        return max(meeting(r, a, b) for a in values for b in values) / (r.ancestors.shape[1] - 1)
    if r.has_missing and values[-1] == r.n_values - 1:
        return 1.0
    if r.kind == "order":
        return (values[-1] - values[0]) / (r.n_values - 1)
    return (r.positions[values[-1]] - r.positions[values[0]]) / (np.nanmax(r.positions) - np.nanmin(r.positions))


def slow_cuts(r, rows, k):
    """Pairs of sides, the preferred one first."""
    counts = Counter(int(r.ranks[i]) for i in rows)
    values = sorted(counts)
    missing = r.n_values - 1 if r.has_missing else None
    if r.kind == "category":
        values.sort(key=lambda v: (-counts[v], v))
    boundaries = range(1, len(values))
    if r.kind == "tree":
        heights = [meeting(r, a, b) for a, b in pairwise(values)]
        boundaries = [b for b in boundaries if heights[b - 1] == max(heights)]
    found = []
    for b in boundaries:
        left_values = set(values[:b])
        left = [i for i in rows if int(r.ranks[i]) in left_values]
        right = [i for i in rows if int(r.ranks[i]) not in left_values]
        if min(len(left), len(right)) >= k:
            first = r.kind in ("number", "order") and values[b] == missing
            found.append(((not first, abs(2 * len(left) - len(rows)), len(left)), left, right))
    return [(left, right) for _, left, right in sorted(found)]


def slow_halves(r, rows):
    """The relaxed cut: the lower half in the order of values, equal ones as they stand."""
    frequency = Counter(int(r.ranks[i]) for i in rows)
    by_count = r.kind == "category"
    order = sorted(rows, key=lambda i: (-frequency[int(r.ranks[i])] * by_count, r.ranks[i]))
    left = set(order[: len(rows) // 2])
    return [i for i in rows if i in left], [i for i in rows if i not in left]
