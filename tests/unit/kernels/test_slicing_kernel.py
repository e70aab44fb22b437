"""Cuts with quasi-identifiers beside the sensitive values, and regions, against counting bucket by bucket."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.kinds.tables.policy import LDiversity
from shoal.tables.encoding import Ranked
from shoal.tables.limits import limits_of, violations
from shoal.tables.partition.mondrian import mondrian_labels
from shoal.tables.publish.slices.buckets import bucket_labels, standing_in_the_way
from shoal.tables.publish.slices.regions import region_labels


def ranked_of(name, values, kind="number"):
    distinct, ranks = np.unique(values, return_inverse=True)
    return Ranked(name, kind, ranks.astype(np.int32), distinct.astype(float))


def drawn(rng, n):
    x, y = rng.integers(0, 12, (2, n))
    s = rng.integers(0, 5, n)
    return ranked_of("x", x), ranked_of("y", y, "category"), ranked_of("s", s, "category")


@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize("required", [LDiversity(l=2), LDiversity(l=2, kind="entropy")])
def test_every_value_beside_is_diverse_in_every_bucket(strict, required) -> None:
    n_cut = 0
    for seed in range(30):
        rng = np.random.default_rng(seed)
        x, y, s = drawn(rng, 200)
        beside = (y.ranks % 3).astype(np.int64)
        limits = limits_of([required], [s])
        if standing_in_the_way(beside, limits):
            continue
        labels = bucket_labels([x, y], 4, limits, beside, strict=strict)
        assert np.bincount(labels).min() >= 4
        both = np.unique(labels * 3 + beside, return_inverse=True)[1]
        assert not violations(both, limits).any()
        n_cut += labels.max() > 0
    assert n_cut > 20


def test_one_value_beside_everyone_gives_the_buckets_of_mondrian() -> None:
    for seed in range(10):
        x, y, s = drawn(np.random.default_rng(seed), 150)
        limits = limits_of([LDiversity(l=3)], [s])
        found = bucket_labels([x, y], 3, limits, np.zeros(150, np.int64))
        assert found.tolist() == mondrian_labels([x, y], 3, limits).tolist()


def test_records_that_stand_in_the_way_are_counted() -> None:
    s = ranked_of("s", [0, 0, 0, 1, 1], "category")
    assert standing_in_the_way(np.array([0, 0, 1, 1, 1]), limits_of([LDiversity(l=2)], [s])) == 2
    assert standing_in_the_way(np.array([0, 0, 1, 1, 1]), ()) == 0


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


def test_regions_are_as_fine_as_mondrian_without_limits() -> None:
    x, y, s = drawn(np.random.default_rng(0), 200)
    buckets = np.zeros(200, np.int32)
    regions = region_labels([x, y], [[0], [1]], buckets, s.ranks, (), 4)
    for i, attribute in enumerate((x, y)):
        apart = mondrian_labels([attribute], 4)
        same = {(int(a), int(b)) for a, b in zip(regions[i], apart, strict=True)}
        assert len(same) == apart.max() + 1 == regions[i].max() + 1
