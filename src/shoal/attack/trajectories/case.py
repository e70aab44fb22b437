"""What attacks work on: the published boxes, the trajectories that they were made from, and others not among them."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from shoal.data.trajectories.boxes import TrajectoryBoxes
from shoal.data.trajectories.trajectories import Trajectories


@dataclass(frozen=True)
class TrajectoryCase:
    """Published boxes under attack, with the originals, and the controls if there are any."""

    published: TrajectoryBoxes
    original: Trajectories = field(repr=False)
    control: Trajectories | None = field(default=None, repr=False)
    tau: float | None = None
    """Minutes that an attacker knows in one go, where the release protects against such a one alone."""

    @property
    def least(self) -> int:
        """Fewest persons among whom a release leaves one to guess, by its own counts."""
        if self.tau is None:
            return int(self.published.persons.min())
        shared = np.unique(self.published.sides, axis=0, return_counts=True)[1]
        return int(np.sqrt(shared.min()))  # k times k share a period, and k two of them

    @property
    def granted(self) -> dict[str, int]:
        """What the attacker was given besides the release, by the number of records of each."""
        return {"original": len(self.original), **({} if self.control is None else {"others": len(self.control)})}
