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
    tau: float | None = None
    """Minutes that an attacker knows in one go, where the release protects against such a one alone."""
    k: int | None = None
    """Persons among whom the release is required to leave one to guess."""

    @property
    def admitted(self) -> float:
        """The chance of a guess that is promised: by what was required, whatever the counts of a file say."""
        return 0.0 if self.k is None else 1 / self.k

    @property
    def granted(self) -> dict[str, int]:
        """What the attacker was given besides the release, by the number of records of each."""
        return {"original": len(self.original), **({} if self.control is None else {"others": len(self.control)})}
