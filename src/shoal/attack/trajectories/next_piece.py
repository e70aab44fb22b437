"""Pieces of one trip tied together: a piece goes on as it went, and the published piece nearest to there is guessed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shoal.arrays import Floats, Ints
from shoal.attack.result import AttackResult, Rate
from shoal.attack.trajectories.case import TrajectoryCase
from shoal.attack.trajectories.others import AgainstOtherTrajectories
from shoal.attack.trajectories.recovery import was_in_all
from shoal.data.trajectories.boxes import TrajectoryBoxes
from shoal.data.trajectories.trajectories import METRES_A_DEGREE, Trajectories

KEPT = 0.7
"""Of the speed of a piece: what is expected in the next one."""
METRES_A_SECOND = 0.7
"""What a second too early or too late weighs, in metres."""


@dataclass(frozen=True)
class NextPiece(AgainstOtherTrajectories):
    """From a piece that is known exactly, guess the published piece that holds what follows.

    Whoever finds it learns where the person was, for all who share a published piece were in each of its boxes. A guess
    is right if the following piece has a point in every box of what was guessed. Near places are guessed without any
    release; so what counts is how much more often that is so of persons in the data than of others.
    """

    n_attacks: int = 600

    name = "next-piece"
    title = "finding the next piece of a trip"
    others = "pairs of pieces"
    knows = "one piece of a trip exactly, and that it continues as it began"
    stopped_by = "nothing that is promised of several pieces; larger k makes it harder"
    remedy = "raise k, or publish whole trips (leave --piece out)"
    reference = "Gruteser, Hoh, On the anonymity of periodic location samples, SPC 2005"

    def n_to_compare(self, original: Trajectories, control: Trajectories) -> int:
        """Of the side that has fewer."""
        return min(len(next_pieces(original)), len(next_pieces(control)))

    def missing(self, case: TrajectoryCase) -> str | None:
        """There must be pieces too."""
        return "Whole trips were published, not pieces." if case.original.trips is None else super().missing(case)

    def compare(
        self, case: TrajectoryCase, sides: tuple[Trajectories, Trajectories], rng: np.random.Generator
    ) -> AttackResult:
        """Guess for persons in the data, and for others."""
        main, control = (self._guessed(case.published, data, rng) for data in sides)
        return self.result(
            main,
            f"For {100 * main.value:.1f} % of the pieces the next one of the same trip lies in all boxes of the "
            f"published piece that was guessed; for those of persons who are not in the data {100 * control.value:.1f} "
            "%.",
            control=control,
        )

    def _guessed(self, boxes: TrajectoryBoxes, data: Trajectories, rng: np.random.Generator) -> Rate:
        pairs = next_pieces(data)
        pairs = pairs[rng.permutation(len(pairs))[: self.n_attacks]]
        east = float(np.cos(np.radians(data.latitude.mean())))
        metres = boxes.grid.cell * METRES_A_DEGREE
        middles = [
            (boxes.sides[:, i] + boxes.sides[:, i + 1] + 1) / 2 * scale
            for i, scale in ((0, metres), (2, metres * east), (4, boxes.grid.slot))
        ]
        owners, sizes, hits = boxes.owners, np.diff(boxes.starts), 0
        for one, two in pairs.tolist():
            y, x, t = _expected(data, one, two, east)
            away = np.hypot(middles[0] - y, middles[1] - x) + METRES_A_SECOND * np.abs(middles[2] - t)
            guess = int(np.argmin(np.bincount(owners, away, len(sizes)) / sizes))
            hits += int(was_in_all(boxes, data, two)[guess])
        return Rate(hits, len(pairs))


def next_pieces(data: Trajectories) -> Ints:
    """Pairs of pieces of one trip, one after the other."""
    assert data.trips is not None
    order = np.lexsort((data.time[data.starts[:-1]], data.trips))
    one, two = order[:-1], order[1:]
    is_next = data.trips[one] == data.trips[two]
    return np.stack([one[is_next], two[is_next]], axis=1)


def _expected(data: Trajectories, one: int, two: int, east: float) -> tuple[float, float, float]:
    """Where one is expected who goes on as before, amid the next piece: metres north and east, and when."""
    first, last = int(data.starts[one]), int(data.starts[one + 1]) - 1
    begins = float(data.time[data.starts[two]])
    when = begins + (begins - float(data.time[first])) / 2  # pieces begin a piece apart
    place: Floats = np.array([data.latitude[[first, last]], data.longitude[[first, last]] * east]) * METRES_A_DEGREE
    took = max(float(data.time[last] - data.time[first]), 1.0)
    y, x = place[:, 1] + KEPT * (place[:, 1] - place[:, 0]) / took * (when - data.time[last])
    return float(y), float(x), when
