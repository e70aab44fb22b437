"""The attacker's belief equals a count over all permutations, and the paper's check is what the paper says."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.check.slices.matching import matching
from shoal.check.slices.posterior import naive_posterior, posterior
from shoal.data.tables.attribute import Attribute
from shoal.data.tables.slices import SlicedTable
from tests.unit.check.slices.honest_slices import SPLITS
from tests.unit.check.slices.slow_slices import ATTRIBUTES, Case, beliefs, random_case

TWO = ATTRIBUTES | {"ill": Attribute("ill", "nominal", "sensitive")}


def assert_same(found, expected):
    assert found.keys() == expected.keys()
    for s, p in expected.items():
        assert found[s] == pytest.approx(float(p), rel=1e-12)


@pytest.mark.parametrize("number", range(len(SPLITS)))
def test_belief_is_the_count_over_all_permutations(number):
    n_checked = 0
    for seed in range(60):
        rng = np.random.default_rng([number, seed])
        groups = SPLITS[number]
        sizes = (2, 5) if len(groups) < 3 else (2, 4)
        case = random_case(rng, groups, n_buckets=1 + seed % 3, sizes=sizes, generalise=seed % 2 == 0)
        found = matching(SlicedTable(case.published(rng), case.layout, ATTRIBUTES), case.original)
        for record, belief in zip(case.records, beliefs(posterior(found), case.original), strict=True):
            assert_same(belief, case.belief(record))
            n_checked += 1
    assert n_checked > 120


def test_two_sensitive_attributes_are_one_key():
    for seed in range(40):
        rng = np.random.default_rng(seed)
        groups = [["age", "pay", "ill"], ["job", "pay", "ill"]]
        case = random_case(rng, groups, n_buckets=1 + seed % 2, attributes=TWO)
        found = matching(SlicedTable(case.published(rng), case.layout, TWO), case.original)
        for record, belief in zip(case.records, beliefs(posterior(found), case.original), strict=True):
            assert_same(belief, case.belief(record))


@pytest.mark.parametrize("number", range(len(SPLITS)))
def test_the_papers_check_is_what_fig_2_says(number):
    for seed in range(30):
        rng = np.random.default_rng([number, seed, 1])
        case = random_case(rng, SPLITS[number], n_buckets=1 + seed % 3, sizes=(2, 6))
        found = matching(SlicedTable(case.published(rng), case.layout, ATTRIBUTES), case.original)
        for record, belief in zip(case.records, beliefs(naive_posterior(found), case.original), strict=True):
            assert_same(belief, case.naive_belief(record))


def test_the_bucket_of_the_issue():
    """{(a,x,1), (a,y,2), (b,x,3), (b,y,4)}: sliced, two values stay possible; joined on the value, one."""
    attributes = {n: Attribute(n, "nominal", "quasi") for n in "uv"} | {"s": Attribute("s", "nominal", "sensitive")}
    records = [dict(zip("uvs", r, strict=True)) for r in ("ax1", "ay2", "bx3", "by4")]
    for groups, most, naive in (([["u"], ["v", "s"]], 0.5, 0.5), ([["u", "s"], ["v", "s"]], 1.0, 0.5)):
        case = Case(records, [[0, 1, 2, 3]], groups, lambda i, j, n, v: v, attributes)
        found = matching(SlicedTable(case.published(np.random.default_rng(0)), case.layout, attributes), case.original)
        assert max(max(b.values()) for b in beliefs(posterior(found), case.original)) == most
        assert max(max(b.values()) for b in beliefs(naive_posterior(found), case.original)) == naive
