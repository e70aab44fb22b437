"""The tests of `tables/slicing/buckets.py`."""

from __future__ import annotations

import numpy as np

from shoal.models.l_diversity import LDiversity
from shoal.tables.encoding import Ranked
from shoal.tables.limits import limits_of
from shoal.tables.partition.mondrian import mondrian_labels
from shoal.tables.publish.slices.buckets import bucket_labels, standing_in_the_way


def ranked_of(name, values, kind="number"):
    distinct, ranks = np.unique(values, return_inverse=True)
    return Ranked(name, kind, ranks.astype(np.int32), distinct.astype(float))


def drawn(rng, n):
    x, y = rng.integers(0, 12, (2, n))
    s = rng.integers(0, 5, n)
    return ranked_of("x", x), ranked_of("y", y, "category"), ranked_of("s", s, "category")


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
