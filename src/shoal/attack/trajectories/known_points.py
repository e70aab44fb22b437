"""Attacks by what is known of a person's whereabouts: some points, home and work, the places seen most."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from shoal.arrays import Floats, Ints
from shoal.attack.attack import Attack
from shoal.attack.result import AttackResult, Rate
from shoal.attack.trajectories.case import TrajectoryCase
from shoal.attack.trajectories.unicity import GRIDS, unicity
from shoal.data.trajectories.boxes import TrajectoryBoxes
from shoal.data.trajectories.pieces import whole_trips
from shoal.data.trajectories.trajectories import Trajectories

PLACE = 0.005
"""Degrees of a place that somebody may know: a block of houses."""
DAY = 86_400
NIGHT, WORK = (22 * 3600, 6 * 3600), (9 * 3600, 17 * 3600)


@dataclass(frozen=True)
class _ByWhereabouts(Attack[TrajectoryCase]):
    """Look for published trajectories that fit best what is known; those who share them are the candidates."""

    n_attacks: int = 300

    stopped_by = "k-anonymity: at least k persons share each published trajectory"
    remedy = "raise k"

    @abstractmethod
    def known(self, data: Trajectories, target: int, rng: np.random.Generator) -> Ints:
        """Which of its points the attacker knows, by their places in the data; none where there is nothing."""

    knows_times: ClassVar[bool] = True

    def run(self, case: TrajectoryCase, rng: np.random.Generator) -> AttackResult:
        """Count the persons who are left: a guess among them is right once in so many times."""
        main, n_single, left = self._tried(case, case.original, rng)
        control = None if case.control is None else self._tried(case, case.control, rng)[0]
        details = {"singled_out": n_single / max(main.attempts, 1), "candidates": float(np.median(left or [0]))}
        return self.result(
            main,
            f"{n_single:,} of {main.attempts:,} trajectories were singled out; half of those found in the release left "
            f"{details['candidates']:,.0f} persons or more to guess among.",
            control=control,
            details=details | self.before(case, rng),
            admitted=case.admitted,
        )

    def _tried(self, case: TrajectoryCase, data: Trajectories, rng: np.random.Generator) -> tuple[Rate, int, list[int]]:
        """How often a guess would be right if the one sought were among those who fit, and how many are left."""
        hits, n_single, n_tried, left = 0.0, 0, 0, []
        for target in rng.permutation(len(data))[: self.n_attacks].tolist():
            points = self.known(data, target, rng)
            if case.tau is not None and len(points):
                points = points[np.abs(data.time[points] - data.time[points[0]]) <= 30 * case.tau]
            if not len(points):
                continue
            n_tried += 1
            fits = matches(case.published, data, points, knows_times=self.knows_times)
            if not fits.max(initial=0):
                continue
            n_persons = int(case.published.persons[fits == fits.max()].sum())
            left.append(n_persons)
            hits += 1 / n_persons
            n_single += n_persons == 1
        return Rate(hits, n_tried), n_single, left

    def before(self, case: TrajectoryCase, rng: np.random.Generator) -> dict[str, float]:
        """What the same knowledge gets from the original: how many of those tried hold it alone."""
        data = case.original
        targets = rng.permutation(len(data))[: self.n_attacks].tolist()
        known = [self.known(data, target, rng) for target in targets]
        tried = [points for points in known if len(points)]
        n_single = held_alone(data, tried)
        return {"singled_out_of_original": n_single / max(len(tried), 1)}


class KnownPoints(_ByWhereabouts):
    """Four points of a trajectory, with their times."""

    name = "known-points"
    title = "finding a trajectory by four points"
    knows = "four random points of a trajectory, exactly, with their times"
    reference = "de Montjoye, Hidalgo, Verleysen, Blondel, Scientific Reports 3, 2013"

    def known(self, data: Trajectories, target: int, rng: np.random.Generator) -> Ints:
        """Four at random."""
        own = points_of_trip(data, target)
        return rng.permutation(own)[:4]

    def before(self, case: TrajectoryCase, rng: np.random.Generator) -> dict[str, float]:
        """The unicity of the original."""
        return {"singled_out_of_original": unicity(whole_trips(case.original), GRIDS[0], 4, self.n_attacks, rng).value}


class HomeAndWork(_ByWhereabouts):
    """Where a person is most at night, and most by day, without a date."""

    knows_times = False
    name = "home-and-work"
    title = "finding a trajectory by home and work"
    knows = "where a person is most often at night and by day, but not when"
    reference = "Golle, Partridge, On the anonymity of home/work location pairs, Pervasive 2009"

    def known(self, data: Trajectories, target: int, rng: np.random.Generator) -> Ints:
        """A point of the mode of each."""
        own = points_of_trip(data, target)
        clock = data.time[own] % DAY
        night, day = own[(clock >= NIGHT[0]) | (clock < NIGHT[1])], own[(clock >= WORK[0]) & (clock < WORK[1])]
        return np.concatenate([_most_seen(data, part, 1) for part in (night, day)])


class TopPlaces(_ByWhereabouts):
    """The three places where a person was seen most often."""

    knows_times = False
    name = "top-places"
    title = "finding a trajectory by its three places"
    knows = "the three places where a person was seen most often, but not when"
    reference = "Zang, Bolot, Anonymization of location data does not work, MobiCom 2011"

    def known(self, data: Trajectories, target: int, rng: np.random.Generator) -> Ints:
        """A point of each."""
        return _most_seen(data, points_of_trip(data, target), 3)


def points_of_trip(data: Trajectories, target: int) -> Ints:
    """The points of a trajectory; of a piece those of the whole trip, as an attacker knows no pieces."""
    if data.trips is None:
        return np.arange(data.starts[target], data.starts[target + 1])
    return np.flatnonzero(data.trips[data.owners] == data.trips[target])


def matches(boxes: TrajectoryBoxes, data: Trajectories, points: Ints, *, knows_times: bool = True) -> Ints:
    """How many of some points lie in a box of each published trajectory."""
    fits = np.zeros(boxes.n_trajectories, np.int64)
    cells = boxes.grid.cells(data.latitude[points], data.longitude[points], data.time[points])
    axes = slice(0, 3 if knows_times else 2)
    low, high = boxes.sides[:, ::2][:, axes], boxes.sides[:, 1::2][:, axes]
    for cell in cells[:, axes]:
        inside = ((low <= cell) & (cell <= high)).all(axis=1)
        fits[np.unique(boxes.owners[inside])] += 1
    return fits


def held_alone(data: Trajectories, known: Sequence[Ints]) -> int:
    """How many sets of points have places that only one person was at all of, at whatever time."""
    place = np.floor(np.stack([data.latitude, data.longitude], axis=1) / PLACE).astype(np.int64)
    cells = np.unique(place, axis=0, return_inverse=True)[1].reshape(-1)
    pairs = np.unique(np.stack([cells, data.persons[data.owners]], axis=1), axis=0)
    starts = np.searchsorted(pairs[:, 0], np.arange(int(cells.max()) + 2))
    n_alone = 0
    for points in known:
        _, counts = np.unique(
            np.concatenate([pairs[starts[c] : starts[c + 1], 1] for c in np.unique(cells[points])]), return_counts=True
        )
        n_alone += int((counts == len(np.unique(cells[points]))).sum()) == 1
    return n_alone


def _most_seen(data: Trajectories, points: Ints, n: int) -> Ints:
    """One point at each of the places that most of some points are at."""
    if not len(points):
        return points
    place: Floats = np.floor(np.stack([data.latitude[points], data.longitude[points]], axis=1) / PLACE)
    _, first, counts = np.unique(place, axis=0, return_index=True, return_counts=True)
    return points[first[np.argsort(-counts, kind="stable")[:n]]]
