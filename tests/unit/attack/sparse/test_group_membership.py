"""Finding a record in the sum of some group, with the key."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from shoal.attack.attack import run_attacks
from shoal.attack.sparse import SPARSE_ATTACKS
from shoal.attack.sparse.case import SparseCase
from shoal.attack.sparse.group_membership import GroupMembership, nearest_sums
from shoal.kinds.sparse.policy import SparsePolicy
from shoal.sparse.group_sketches import anonymize_groups
from shoal.sparse.sketch import sketch_records
from tests.unit.attack.sparse.basket_cases import people

KEY = bytes(range(32))


def case(k: int) -> SparseCase:
    members, others = people(300)
    made = anonymize_groups(members, SparsePolicy.of(unit="group", k=k, recovery_cap=False), KEY, seed=1).made
    return SparseCase(made.sketches, members, others, made.rows, KEY, "group")


def test_the_score_is_the_largest_cosine() -> None:
    now = case(5)
    some = now.original.take(np.arange(3))
    found = nearest_sums(now.published, some, KEY)
    for i in range(3):
        best = -1.0
        for j in range(len(now.published)):
            theirs = now.published.components[now.published.starts[j] : now.published.starts[j + 1]]
            ours = sketch_records(some.take(np.array([i])), np.array([len(theirs)]), KEY).components
            best = max(best, float(ours @ theirs / np.sqrt(float(ours @ ours) * float(theirs @ theirs))))
        assert np.isclose(found[i], best, atol=1e-8)


def test_small_groups_tell_more_than_large_ones() -> None:
    rates = [GroupMembership().run(case(k), np.random.default_rng(0)).details["area_under_curve"] for k in (2, 20)]
    assert rates[0] > rates[1]
    assert rates[0] > 0.6


def test_it_alone_is_run_on_groups_and_says_what_is_missing() -> None:
    found = run_attacks(list(SPARSE_ATTACKS.values()), case(10), seed=1)
    assert [r.attack for r in found.results] == ["group-membership"]
    attack = GroupMembership()
    assert "key" in str(attack.missing(replace(case(10), key=None)))
    assert "hold some out" in str(attack.missing(replace(case(10), control=None)))
    assert not attack.fits(replace(case(10), unit="record"))
