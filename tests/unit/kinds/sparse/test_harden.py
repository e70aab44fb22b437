"""Sparse records are hardened by more variance, then by fewer components."""

from __future__ import annotations

import numpy as np

from shoal.attack.result import AttackResult, Rate
from shoal.data.sparse.records import Sparse
from shoal.harden.step import Step
from shoal.held_out import hold_out
from shoal.kinds.sparse.harden import FEWEST_COMPONENTS, MOST_DELTA, SparseLadder
from shoal.kinds.sparse.kind import KIND
from shoal.kinds.sparse.policy import SparsePolicy

RNG = np.random.default_rng(3)
BASKETS = [[f"item {i}" for i in sorted(set(RNG.integers(0, 60, 8).tolist()))] for _ in range(80)]
POLICY = SparsePolicy.of(k=3, delta=0.5)
RECORDS: Sparse = KIND.load(BASKETS, POLICY)
FAILING = AttackResult("membership", "telling members", "", Rate(500, 1000), Rate(0, 1000))
STEP = Step({}, "attacked", loss=0.5)


def test_variance_grows_then_components_fall() -> None:
    one = SparseLadder(RECORDS, POLICY)
    seen = [one.start]
    while found := one.harder(seen[-1], STEP, (FAILING,), 0.09):
        seen += found
    deltas = [c.policy.delta for c in seen]
    assert deltas == sorted(deltas)
    assert deltas[-1] == MOST_DELTA
    assert seen[-1].policy.method.max_components == FEWEST_COMPONENTS
    assert all(c.policy.k == 3 for c in seen)
    assert [c.policy.delta for c in one.milder(seen[1], STEP)] == [0.866]
    assert list(one.milder(one.start, STEP)) == []
    assert one.ways() == []
    assert one.asked(POLICY) == {"delta": 0.5, "components": 128}


def test_the_loss_is_a_share_of_neighbours() -> None:
    one = SparseLadder(RECORDS, POLICY)
    records, others = hold_out(RECORDS, 0.25, 0)
    assert 0 < one.loss(one.release(records, POLICY, 0, others)) <= 1


def test_the_checksum_is_of_the_records() -> None:
    same = {SparseLadder(RECORDS, p).checksum() for p in (POLICY, SparsePolicy())}
    assert len(same) == 1
    assert SparseLadder(RECORDS.take(np.arange(79)), POLICY).checksum() not in same
