"""Attacks on trajectories that are compared with others."""

from __future__ import annotations

import numpy as np

from shoal.attack.trajectories.case import TrajectoryCase
from shoal.attack.trajectories.others import FEWEST, AgainstOtherTrajectories
from shoal.data.trajectories.trajectories import Trajectories
from tests.unit.attack.trajectories.test_next_piece import boxes_of, walkers


class Lengths(AgainstOtherTrajectories):
    name = "lengths"

    def compare(self, case: TrajectoryCase, sides: tuple[Trajectories, Trajectories], rng: np.random.Generator):
        return [len(side) for side in sides]


class Few(Lengths):
    name, others = "few", "quiet trips"

    def n_to_compare(self, original: Trajectories, control: Trajectories) -> int:
        return 1


def test_others_have_to_be_enough() -> None:
    data = walkers(FEWEST, 10.0)
    case, alone = TrajectoryCase(boxes_of(data), data, data), TrajectoryCase(boxes_of(data), data)
    few = TrajectoryCase(boxes_of(data), data, walkers(FEWEST // 2 - 1, 10.0))
    assert Lengths().missing(case) is None
    assert Few().missing(case) == (
        f"It needs at least {FEWEST} quiet trips that were not in the release (--control, or --hold-out before)."
    )
    for lacking in (alone, few):
        assert f"at least {FEWEST} trajectories" in str(Lengths().missing(lacking))


def test_both_sides_are_compared() -> None:
    data, others = walkers(FEWEST, 10.0), walkers(FEWEST + 5, 20.0)
    found = Lengths().run(TrajectoryCase(boxes_of(data), data, others), np.random.default_rng(0))
    assert found == [len(data), len(others)]
