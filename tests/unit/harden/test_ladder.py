"""Sizes of groups to go up and down by."""

from __future__ import annotations

import numpy as np

from shoal.attack.result import AttackResult, Rate
from shoal.harden.ladder import RUNGS, because, rungs_above, rungs_between
from tests.unit.harden.toy import Guess, ToyData, ToyLadder, ToyPolicy, ToyRelease


def test_rungs_go_up_to_the_most_and_back_to_the_least() -> None:
    assert rungs_above(5, 20) == [7, 10, 15, 20]
    assert rungs_above(20, 20) == []
    assert rungs_between(5, 20) == [10, 15]
    assert rungs_between(6, 15) == [7, 10]
    assert rungs_between(5, 5) == []
    assert rungs_between(20, 5) == []
    assert all(np.diff(RUNGS) > 0)


def test_a_reason_names_the_attack_and_what_it_added() -> None:
    found = AttackResult("guess", "guessing one of k", "nothing", Rate(500, 1000), Rate(0, 1000))
    assert because(found) == f"guessing one of k added {found.risk}"


def test_by_default_a_release_is_attacked_as_it_is() -> None:
    ladder, attacks = ToyLadder(), (Guess(),)
    release = ToyRelease(ToyPolicy(), ToyData((1, 2)))
    assert list(ladder.cases(release, attacks)) == [(release, attacks)]
    assert ladder.measured(release) == {}
    assert ladder.advice(()) == ""
    assert not ladder.notes
