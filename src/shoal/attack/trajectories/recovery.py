"""Trips of one person tied together: the next one begins where the last one ended, as far as speed allows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shoal.arrays import Floats, Ints, Mask
from shoal.attack.attack import Attack
from shoal.attack.result import AttackResult, Rate
from shoal.attack.trajectories.case import TrajectoryCase
from shoal.data.trajectories.boxes import TrajectoryBoxes
from shoal.data.trajectories.trajectories import METRES_A_DEGREE, Trajectories

FASTEST = 130 / 3.6
"""Metres a second."""
SOON = 7200
"""Seconds within which a next trip is looked for."""


@dataclass(frozen=True)
class TrajectoryRecovery(Attack[TrajectoryCase]):
    """From a known trip, guess the published trajectory of the next one: the nearest that speed allows."""

    n_attacks: int = 300

    name = "recovery"
    title = "finding a person's next trip or piece"
    knows = "one trip or piece of a person as a whole, and how fast people travel"
    stopped_by = "nothing that is promised of several trips; a guess is one among at least k persons"
    remedy = "raise k, or publish all points of a person as one trajectory (--unit person)"
    reference = "Xu, Tu, Li, Zhang, Fu, Jin, Trajectory recovery from Ash, WWW 2017"

    def missing(self, case: TrajectoryCase) -> str | None:
        """There must be persons with several trips."""
        return None if len(_next_trips(case.original)) else "It needs persons with several trips."

    def run(self, case: TrajectoryCase, rng: np.random.Generator) -> AttackResult:
        """Count the next trips that stand in the published trajectory that was guessed, and in a random one."""
        data, boxes = case.original, case.published
        what = "trips" if data.trips is None else "pieces"
        pairs = _next_trips(data)
        hits, by_chance, n_tried = 0, 0.0, 0
        for trip, following in pairs[rng.permutation(len(pairs))[: self.n_attacks]].tolist():
            mine, theirs = (np.flatnonzero(was_in_all(boxes, data, t)) for t in (trip, following))
            n_tried += 1
            if not len(mine):
                continue
            reached, costs = _reachable(boxes, int(mine[0]))
            if len(reached):
                hits += int(reached[np.argmin(costs)] in theirs)
                by_chance += float(np.isin(reached, theirs).mean())
        return self.result(
            Rate(hits, n_tried),
            f"Of {n_tried:,} {what} the next one of the same person stands in the published trajectory that was "
            f"guessed for it in {hits:,}, and in {by_chance:.1f} of as many drawn from all that could be reached.",
            baseline=Rate(by_chance, n_tried),
            admitted=case.admitted if data.trips is None else 0.0,  # of several pieces nothing is promised
        )


def _next_trips(data: Trajectories) -> Ints:
    """Pairs of trips of one person, one after the other and soon."""
    begins, ends = data.time[data.starts[:-1]], data.time[data.starts[1:] - 1]
    order = np.lexsort((begins, data.persons))
    one, two = order[:-1], order[1:]
    gap = begins[two] - ends[one]
    is_next = (data.persons[one] == data.persons[two]) & (gap >= 0) & (gap <= SOON)
    return np.stack([one[is_next], two[is_next]], axis=1)


def was_in_all(boxes: TrajectoryBoxes, data: Trajectories, trip: int) -> Mask:
    """Of each published trajectory, whether a trip has a point in every box of it."""
    own = slice(data.starts[trip], data.starts[trip + 1])
    cells = boxes.grid.cells(data.latitude[own], data.longitude[own], data.time[own])
    near = np.flatnonzero((boxes.sides[:, 4] <= cells[:, 2].max()) & (boxes.sides[:, 5] >= cells[:, 2].min()))
    sides = boxes.sides[near][:, None]
    inside = np.asarray((sides[..., ::2] <= cells) & (cells <= sides[..., 1::2]))
    holds = np.any(np.all(inside, axis=2), axis=1)
    n_held = np.bincount(boxes.owners[near[holds]], minlength=boxes.n_trajectories)
    return np.asarray(n_held == np.diff(boxes.starts))


def _reachable(boxes: TrajectoryBoxes, one: int) -> tuple[Ints, Floats]:
    """The published trajectories that begin soon after the end of one and not too far; and how unlikely each is."""
    first, last = boxes.starts[:-1], boxes.starts[1:] - 1
    y, x, t = ((boxes.sides[:, i] + boxes.sides[:, i + 1] + 1) / 2 for i in (0, 2, 4))
    north = (y[first] - y[last[one]]) * boxes.grid.cell * METRES_A_DEGREE
    narrow = np.cos(np.radians(y[last[one]] * boxes.grid.cell))
    east = (x[first] - x[last[one]]) * boxes.grid.cell * METRES_A_DEGREE * narrow
    metres, seconds = np.hypot(north, east), (t[first] - t[last[one]]) * boxes.grid.slot
    is_reached = (seconds >= 0) & (seconds <= SOON) & (metres <= FASTEST * np.maximum(seconds, boxes.grid.slot))
    is_reached[one] = False
    reached = np.flatnonzero(is_reached)
    return reached, metres[reached] / FASTEST * 10 + seconds[reached]
