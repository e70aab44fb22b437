"""The tests of `kernels/tables/regions.py`."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.kinds.tables.policy import LDiversity
from shoal.tables.encoding import Ranked
from shoal.tables.limits import limits_of, violations
from shoal.tables.publish.slices.regions import region_labels


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
