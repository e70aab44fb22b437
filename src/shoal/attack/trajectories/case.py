"""What attacks work on: the published boxes, the trajectories that they were made from, and others not among them."""

from __future__ import annotations

from dataclasses import dataclass

from shoal.attack.attack import AttackCase
from shoal.data.trajectories.boxes import TrajectoryBoxes
from shoal.data.trajectories.trajectories import Trajectories


@dataclass(frozen=True)
class TrajectoryCase(AttackCase[TrajectoryBoxes, Trajectories]):
    """Published boxes under attack, with the originals, and the controls if there are any."""

    tau: float | None = None
    """Minutes that an attacker knows in one go, where the release protects against such a one alone."""
    k: int | None = None
    """Persons among whom the release is required to leave one to guess."""

    @property
    def admitted(self) -> float:
        """The chance of a guess that is promised: by what was required, whatever the counts of a file say."""
        return 0.0 if self.k is None else 1 / self.k
