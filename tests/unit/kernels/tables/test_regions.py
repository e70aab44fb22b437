"""Regions of slices against a slow twin: rows in lists, weights in fractions, every combination looked at."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from shoal.kernels.compile import interpreted
from shoal.kernels.tables.regions import Rules, Slices, refine
from shoal.models.alpha_k import AlphaK
from shoal.models.l_diversity import LDiversity
from shoal.models.t_closeness import TCloseness
from shoal.tables.encoding import Ranked
from shoal.tables.limits import arrays_of, limits_of, violations
from shoal.tables.partition.mondrian import block_arguments
from shoal.tables.publish.slices.regions import region_labels
from tests.unit.kernels.tables.slow_mondrian import KINDS, make_ranked, slow_cuts, slow_halves, slow_width
from tests.unit.tables.publish.slices.slow_slicing import satisfies


def ranked_of(name, values, kind="number"):
    distinct, ranks = np.unique(values, return_inverse=True)
    return Ranked(name, kind, ranks.astype(np.int32), distinct.astype(float))


def drawn(rng, n):
    x, y = rng.integers(0, 12, (2, n))
    s = rng.integers(0, 5, n)
    return ranked_of("x", x), ranked_of("y", y, "category"), ranked_of("s", s, "category")


@pytest.mark.parametrize("complete", [True, False])
def test_regions_with_the_join_counted_slowly(complete) -> None:
    """Every combination that occurs (or every one) keeps l = 2 when the slices are joined."""
    n_refined = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        x, y, s = drawn(rng, 120)
        buckets = (np.arange(120) // 60).astype(np.int32)
        limits = limits_of([LDiversity(l=2, kind="probabilistic")], [s])
        if violations(buckets, limits).any():
            continue
        regions = region_labels([x, y], [[0], [1]], buckets, s.ranks, limits, 3, complete=complete)
        n_refined += int((regions.max(axis=1) > 1).all())
        for b in range(2):
            here = buckets == b
            ones, others = np.unique(regions[0][here]), np.unique(regions[1][here])
            occurring = set(zip(regions[0][here].tolist(), regions[1][here].tolist(), strict=True))
            for one in ones:
                assert np.sum(regions[0] == one) >= 3
                assert set(buckets[regions[0] == one]) == {b}
                for other in others:
                    if not complete and (one, other) not in occurring:
                        continue
                    left = np.bincount(s.ranks[here & (regions[0] == one)], minlength=5)
                    right = np.bincount(s.ranks[here & (regions[1] == other)], minlength=5)
                    all_here = np.bincount(s.ranks[here], minlength=5)
                    weights = left * right / np.maximum(all_here, 1)
                    if weights.sum() > 0:
                        assert weights.max() / weights.sum() <= 0.5 + 1e-12
    assert n_refined > 20


def slow_holds(bucket, side, others, required, secrets):
    """Whether W of one side, joined with a region of each other slice, satisfies every requirement."""
    joint = list(zip(*secrets, strict=True))
    totals = Counter(joint[row] for row in bucket)
    weights = {}
    for key, n in Counter(joint[row] for row in side).items():
        weight = Fraction(n)
        for region in others:
            weight *= Fraction(sum(joint[row] == key for row in region), totals[key])
        if weight:
            weights[key] = weight
    if not weights:
        return True
    for place, one in required:
        marginal = {}
        for key, weight in weights.items():
            marginal[key[place]] = marginal.get(key[place], Fraction(0)) + weight
        if not satisfies(one, marginal, secrets[place]):
            return False
    return True


def slow_cut(ranked, regions, i, r, bucket, required, secrets, k, strict, complete, n_tries):
    """The two sides of the first cut of region r of slice i that is allowed, or None."""
    rows = regions[i][r]
    elsewhere = [regions[h] for h in range(len(regions)) if h != i]
    widths = {a: slow_width(ranked[a], rows) for a in ranked}
    for a in sorted(ranked, key=lambda a: -widths[a]):
        if widths[a] == 0:
            break
        cuts = slow_cuts(ranked[a], rows, k)[:n_tries] if strict else [slow_halves(ranked[a], rows)]
        for sides in cuts:
            if all(
                slow_holds(bucket, side, others, required, secrets)
                for side in sides
                for others in product(*elsewhere)
                if complete or any(all(row in region for region in others) for row in side)
            ):
                return sides
    return None


def slow_refine(ranked, slices, bucket, required, secrets, k, strict, complete, n_tries, most_combinations, most):
    """The regions of each slice of one bucket, in the order in which they came to be."""
    regions = [[list(bucket)] for _ in slices]
    is_open = [[True] for _ in slices]
    while any(map(any, is_open)):
        for i, columns in enumerate(slices):
            for r in range(len(regions[i])):
                was_open, is_open[i][r] = is_open[i][r], False
                if not was_open or len(regions[i][r]) < 2 * k or len(regions[i]) == most:
                    continue
                n_combinations = len(regions[i]) + 1
                for h in range(len(slices)):
                    n_combinations *= len(regions[h]) if h != i else 1
                if complete and n_combinations > most_combinations:
                    continue
                chosen = {a: ranked[a] for a in columns}
                sides = slow_cut(chosen, regions, i, r, bucket, required, secrets, k, strict, complete, n_tries)
                if sides is not None:
                    regions[i][r] = sides[0]
                    regions[i].append(sides[1])
                    is_open[i][r] = True
                    is_open[i].append(True)
    return regions


# Bounds that no share of so few records equals: there the kernel is strict, for sums of fractions are not exact.
REQUIRED = {
    "nothing": [],
    "distinct": [(0, LDiversity(l=2))],
    "probabilistic": [(0, LDiversity(l=1.93, kind="probabilistic"))],
    "two attributes": [(0, LDiversity(l=2)), (1, AlphaK(alpha=0.7413, k=2))],
    "t-closeness": [(0, TCloseness(t=0.4513, distance="equal"))],
}


@pytest.mark.parametrize("required", REQUIRED.values(), ids=REQUIRED)
@pytest.mark.parametrize("complete", [True, False])
@pytest.mark.parametrize("strict", [True, False])
def test_regions_equal_the_slow_twin(strict, complete, required) -> None:
    n_regions, n_whole = 0, 0
    for seed in range(8):
        rng = np.random.default_rng(seed)
        n, k, n_tries = 60, int(rng.integers(2, 4)), int(rng.integers(1, 5))
        ranked = [
            make_ranked(
                rng, f"a{i}", KINDS[rng.integers(0, 4)], n, int(rng.choice([3, 8, 40])), bool(rng.integers(0, 2))
            )
            for i in range(int(rng.integers(2, 5)))
        ]
        parts = np.sort(rng.integers(0, int(rng.integers(2, 4)), len(ranked)))
        slices = [np.flatnonzero(parts == p).tolist() for p in range(int(parts.max()) + 1)]
        secrets = [np.minimum(*rng.integers(0, size, (2, n))).astype(np.int32) for size in (5, 3)]
        secrets = [np.unique(s, return_inverse=True)[1].astype(np.int32) for s in secrets]
        sensitive = [ranked_of(name, s, "category") for name, s in zip("st", secrets, strict=True)]
        limits = [limit for place, one in required for limit in limits_of([one], [sensitive[place]])]
        joint, keys = np.unique(np.column_stack(secrets), axis=0, return_inverse=True)
        codes = np.array([joint[:, place] for place, _ in required], np.int32).reshape(len(required), len(joint))
        space, arrays, _, _ = block_arguments(ranked, None, k, limits or (), strict)
        laid_out = Slices(
            np.cumsum([0] + [len(s) for s in slices]).astype(np.int64),
            np.array([a for s in slices for a in s], np.int64),
            keys.ravel().astype(np.int32),
            codes,
        )
        ends = np.array([25, 60], np.int64)
        rows = rng.permutation(n).astype(np.int32)
        least, most = int(rng.choice([4, 1024])), int(rng.choice([2, 100]))
        room = most * len(slices) * min(35, len(joint))
        rules = Rules(k, strict, complete, n_tries, least)
        arrays = arrays if arrays is not None else arrays_of((), n)
        found = refine(space, laid_out, arrays, rows, ends, rules, room)
        expected = np.full((len(slices), n), -1)
        for bucket in (rows[:25].tolist(), rows[25:].tolist()):
            allowed = max(least, min(64 * least, 4 * len(bucket)))
            made = slow_refine(
                ranked, slices, bucket, required, secrets, k, strict, complete, n_tries, allowed, min(35 // k, most)
            )
            for i, regions in enumerate(made):
                first = expected[i].max() + 1
                for r, members in enumerate(regions):
                    expected[i, members] = first + r
                n_regions += len(regions)
                n_whole += len(regions) == 1
        assert np.array_equal(found, expected), seed
    assert n_regions > 40
    assert n_whole > 0


@pytest.mark.parametrize("complete", [True, False])
@pytest.mark.parametrize("model", [LDiversity(l=2, kind="probabilistic"), TCloseness(t=0.4, distance="equal")])
def test_interpreted_they_are_the_same_regions(complete, model) -> None:
    n_cut = 0
    for seed in range(8):
        x, y, s = drawn(np.random.default_rng(seed), 150)
        z = ranked_of("z", np.random.default_rng(seed + 100).integers(0, 9, 150))
        buckets = (np.arange(150) // 75).astype(np.int32)
        limits = limits_of([model], [s])
        if violations(buckets, limits).any():
            continue
        asked = ([x, y, z], [[0], [1], [2]], buckets, s.ranks, limits, 3)
        regions = region_labels(*asked, complete=complete)
        with interpreted(True):
            assert region_labels(*asked, complete=complete).tolist() == regions.tolist()
        n_cut += int(regions.max() > 1)
    assert n_cut > 2
