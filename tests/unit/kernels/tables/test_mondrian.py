"""Mondrian's compiled cuts against the obvious recursion."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from shoal.kernels.tables import diversity
from shoal.kernels.tables.mondrian import MAX_TRIES, cut_all
from shoal.tables.limits import Limit
from shoal.tables.partition.mondrian import block_arguments
from tests.unit.kernels.tables.slow_mondrian import KINDS, make_ranked, slow_cuts, slow_halves, slow_width

pytestmark = pytest.mark.usefixtures("either_way")


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
            cuts = [slow_halves(ranked[a], rows)] if len(rows) // 2 >= k else []
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


@pytest.mark.parametrize("limited", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_a_row_of_a_weight_is_cut_as_so_many_records(seed, limited):
    rng = np.random.default_rng(seed)
    n = 90
    weights = rng.integers(1, 9, n).astype(np.int32)
    of_record = np.repeat(np.arange(n), weights)
    ranked = [
        make_ranked(rng, f"{kind}{n_values}", kind, n, n_values, missing=bool(rng.integers(0, 2)))
        for kind in KINDS
        for n_values in (4, 900)
    ]
    k = 3 + 4 * seed
    limits = make_limits(rng, n) if limited else []
    repeated = [r.take(of_record) for r in ranked]
    if limited:
        limits = [replace(limit, counts=np.bincount(limit.codes[of_record])) for limit in limits]
    space, arrays, _, _ = block_arguments(ranked, None, k, limits, True, weights)
    rows, ends = cut_all(space, arrays, k, True, 0)
    expected = slow_mondrian(repeated, k, [limit.of_rows(of_record) for limit in limits], True, range(len(of_record)))
    assert len(expected) > 5
    assert [g.tolist() for g in np.split(rows, ends[:-1])] == [
        list(dict.fromkeys(of_record[group].tolist())) for group in map(list, expected)
    ]


def test_stops_at_the_size_of_a_block():
    rng = np.random.default_rng(3)
    ranked = [make_ranked(rng, "a", "number", 1000, 500, missing=False)]
    space, arrays, _, _ = block_arguments(ranked, None, 2)
    _, ends = cut_all(space, arrays, 2, True, 100)
    sizes = np.diff(ends, prepend=0)
    assert sizes.max() <= 100 < 2 * sizes.max()
