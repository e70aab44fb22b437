"""What attacks work on: the published boxes, the trajectories that they were made from, and others not among them."""

from __future__ import annotations

from dataclasses import dataclass, field

from shoal.data.trajectories.boxes import TrajectoryBoxes
from shoal.data.trajectories.trajectories import Trajectories


@dataclass(frozen=True)
class TrajectoryCase:
    """Published boxes under attack, with the originals, and the controls if there are any."""

    published: TrajectoryBoxes
    original: Trajectories = field(repr=False)
    control: Trajectories | None = field(default=None, repr=False)

    @property
    def granted(self) -> dict[str, int]:
        """What the attacker was given besides the release, by the number of records of each."""
        return {"original": len(self.original), **({} if self.control is None else {"others": len(self.control)})}
