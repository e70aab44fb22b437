"""Was someone's trajectory in the data that the release was made from?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shoal.arrays import Floats
from shoal.attack.result import AttackResult
from shoal.attack.roc import Roc
from shoal.attack.trajectories.case import TrajectoryCase
from shoal.attack.trajectories.known_points import matches
from shoal.attack.trajectories.others import AgainstOtherTrajectories
from shoal.data.trajectories.trajectories import Trajectories


@dataclass(frozen=True)
class TrajectoryMembership(AgainstOtherTrajectories):
    """Score a trajectory by the share of its points that lie in the boxes of one published trajectory.

    Many trajectories score the same, all of their points, and there are seldom hundreds of others; so what counts is
    how many members lie above the middle of the others, and not the hits at few false alarms.
    """

    n_attacks: int = 300

    name = "membership"
    title = "telling who is in the data"
    knows = "the whole of a trajectory, and those of others that were not in the data to compare with"
    stopped_by = "nothing that is promised here; larger boxes and groups make it harder"
    remedy = "raise k and the limits of boxes; if being in the data is itself a secret, do not publish trajectories"
    reference = "Pyrgelis, Troncoso, De Cristofaro, Knock knock, who's there?, NDSS 2018"

    def compare(
        self, case: TrajectoryCase, sides: tuple[Trajectories, Trajectories], rng: np.random.Generator
    ) -> AttackResult:
        """Compare the scores of members and others."""
        roc = Roc.of(*(self._scores(case, data, rng) for data in sides))
        return self.membership_result(
            roc,
            "A member has more of its points in the boxes of one published trajectory than another trajectory has, "
            "with a chance of {area:.2f} (0.5 is no better than chance). {main:.0f} % of the members score above the "
            "median of the others.",
            false_alarms=0.5,
        )

    def _scores(self, case: TrajectoryCase, data: Trajectories, rng: np.random.Generator) -> Floats:
        targets = rng.permutation(len(data))[: self.n_attacks].tolist()
        places = [np.arange(data.starts[t], data.starts[t + 1]) for t in targets]
        return np.array([matches(case.published, data, own).max(initial=0) / len(own) for own in places])
