"""Cuts with quasi-identifiers beside the sensitive values, and regions, against counting bucket by bucket."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.models.l_diversity import LDiversity
from shoal.tables.encoding import Ranked
from shoal.tables.limits import limits_of, violations
from shoal.tables.publish.slices.buckets import bucket_labels, standing_in_the_way


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
