"""Strings are hardened by larger groups, then by a lower order."""

from __future__ import annotations

from shoal.attack.result import AttackResult, Rate
from shoal.data.samples.proteins import protein_families
from shoal.harden.step import Step
from shoal.held_out import hold_out
from shoal.kinds.strings.harden import StringLadder
from shoal.kinds.strings.policy import StringPolicy

MADE = protein_families(80, n_families=1, mean_length=20.0, seed=1)
FAILING = AttackResult("membership", "telling members", "", Rate(500, 1000), Rate(0, 1000))
STEP = Step({}, "attacked", loss=0.5)


def ladder(k: int = 5) -> StringLadder:
    return StringLadder(MADE, StringPolicy.of(k=k))


def test_groups_grow_while_some_are_left_then_symbols_depend_on_fewer() -> None:
    one = ladder()
    seen = [one.start]
    while found := one.harder(seen[-1], STEP, (FAILING,), 0.09):
        seen += found
    assert [(c.policy.k, c.policy.method.order) for c in seen] == [(5, 2), (10, 2), (20, 2), (20, 1)]
    assert seen[-1].reasons["method.order"].startswith("was 2; telling members added")
    assert [c.policy.k for c in one.milder(seen[2], STEP)] == [10, 15]
    assert list(one.milder(one.start, STEP)) == []
    assert one.ways() == []
    assert one.asked(seen[-1].policy) == {"k": 20, "order": 1}


def test_the_loss_is_a_share() -> None:
    one = ladder()
    strings, others = hold_out(MADE, 0.25, 0)
    assert 0 < one.loss(one.release(strings, one.start.policy, 0, others)) < 1


def test_the_checksum_is_of_the_strings() -> None:
    assert ladder().checksum() == ladder(9).checksum()
    other = StringLadder(MADE.take(range(79)), StringPolicy())
    assert other.checksum() != ladder().checksum()
