"""Mondrian's compiled cuts against the obvious recursion."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from shoal.kernels.tables import diversity
from shoal.kernels.tables.mondrian import MAX_TRIES, cut_all
from shoal.tables.encoding import Ranked
from shoal.tables.limits import Limit
from shoal.tables.partition.mondrian import block_arguments

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


def slow_holds(limits, rows):
    for limit in limits:
        counts = Counter(int(limit.codes[i]) for i in rows)
        if limit.model == diversity.DISTINCT and len(counts) < limit.parameter:
            return False
        if limit.model == diversity.ALPHA and max(counts.values()) > Fraction(limit.parameter) * len(rows):
            return False
        if limit.model == diversity.EQUAL:
            total = int(limit.counts.sum())
            gaps = [Fraction(counts[v], len(rows)) - Fraction(int(q), total) for v, q in enumerate(limit.counts)]
            if sum(abs(g) for g in gaps) / 2 > Fraction(limit.parameter):
                return False
    return True


def slow_mondrian(ranked, k, limits, strict, rows):
    widths = [slow_width(r, rows) for r in ranked]
    for a in sorted(range(len(ranked)), key=lambda a: -widths[a]):
        if widths[a] == 0:
            break
        if strict:
            cuts = slow_cuts(ranked[a], rows, k)[: MAX_TRIES if limits else 1]
        else:
            frequency = Counter(int(ranked[a].ranks[i]) for i in rows)
            by_count = ranked[a].kind == "category"
            order = sorted(rows, key=lambda i, v=ranked[a].ranks, f=frequency, c=by_count: (-f[int(v[i])] * c, v[i], i))
            half = len(rows) // 2
            cuts = [(sorted(order[:half]), sorted(order[half:]))] if half >= k else []
        for left, right in cuts:
            if slow_holds(limits, left) and slow_holds(limits, right):
                sides = (slow_mondrian(ranked, k, limits, strict, side) for side in (left, right))
                return [group for side in sides for group in side]
    return [rows]


def make_limits(rng, n):
    codes = np.concatenate([np.arange(5), rng.integers(0, 5, n - 5)]).astype(np.int32)
    wide = rng.integers(0, 3 * n, n)
    wide = np.unique(wide, return_inverse=True)[1].astype(np.int32)
    return [
        Limit("s", "", codes, np.bincount(codes), diversity.DISTINCT, 3.0),
        Limit("s", "", codes, np.bincount(codes), diversity.ALPHA, 0.5),
        Limit("s", "", codes, np.bincount(codes), diversity.EQUAL, 0.5),
        Limit("w", "", wide, np.bincount(wide), diversity.ALPHA, 0.5),
    ]


@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize("limited", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_equals_the_recursion(seed, limited, strict):
    rng = np.random.default_rng(seed)
    n = 300
    # 900 values among 300 rows: most nodes span far more values than they have rows, and are sorted.
    ranked = [
        make_ranked(rng, f"{kind}{n_values}", kind, n, n_values, missing=bool(rng.integers(0, 2)))
        for kind in KINDS
        for n_values in (4, 20, 900)
        if rng.random() < 0.6
    ]
    limits = make_limits(rng, n) if limited else []
    k = 2 + seed
    space, arrays, _, _ = block_arguments(ranked, None, k, limits, strict)
    rows, ends = cut_all(space, arrays, k, strict, 0)
    expected = slow_mondrian(ranked, k, limits, strict, list(range(n)))
    assert len(expected) > 5
    assert [g.tolist() for g in np.split(rows, ends[:-1])] == expected


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_alone_equals_the_recursion(kind):
    rng = np.random.default_rng(11)
    for round_ in range(8):
        ranked = [make_ranked(rng, "a", kind, 120, (3, 9, 60, 400)[round_ % 4], missing=round_ >= 4)]
        space, arrays, _, _ = block_arguments(ranked, None, 3)
        rows, ends = cut_all(space, arrays, 3, True, 0)
        expected = slow_mondrian(ranked, 3, [], True, list(range(120)))
        assert [g.tolist() for g in np.split(rows, ends[:-1])] == expected


def test_stops_at_the_size_of_a_block():
    rng = np.random.default_rng(3)
    ranked = [make_ranked(rng, "a", "number", 1000, 500, missing=False)]
    space, arrays, _, _ = block_arguments(ranked, None, 2)
    _, ends = cut_all(space, arrays, 2, True, 100)
    sizes = np.diff(ends, prepend=0)
    assert sizes.max() <= 100 < 2 * sizes.max()
