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


def test_records_put_together_give_the_buckets_of_single_ones() -> None:
    n_cut = 0
    for seed in range(8):
        rng = np.random.default_rng(seed)
        apart = rng.permutation(np.repeat(np.arange(60), rng.integers(1, 6, 60)))
        together = np.argsort(apart, kind="stable")
        x, y, s = drawn(rng, 60)
        beside = (y.ranks % 3).astype(np.int64)[apart]
        # Shuffled, few rows follow their like, so most weigh 1.
        ranked, sensitive = [x.take(apart), y.take(apart)], s.take(apart)
        limits = limits_of([LDiversity(l=2)], [sensitive])
        if standing_in_the_way(beside, limits):
            continue
        found = bucket_labels(ranked, 3, limits, beside)
        sorted_limits = limits_of([LDiversity(l=2)], [sensitive.take(together)])
        again = bucket_labels([r.take(together) for r in ranked], 3, sorted_limits, beside[together])
        assert again.tolist() == found[together].tolist()
        n_cut += found.max() > 2
    assert n_cut > 4
