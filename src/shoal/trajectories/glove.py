"""GLOVE: trajectories stand with those that are cheapest to be made alike, at least k persons in a group.

Every point becomes a box in space and time. The points of a group are cut into boxes along the cheapest stretch, so
that each box holds at least one point of every trajectory that shares it; what would stretch a box too much is left
out.

**Guarantee.** Each published list of boxes is that of at least k persons, every one of whom was in every box of it.
**Not protected.** What all k share: a group that was at one place is published there. Where no group of k can be formed
within the limits, a trajectory is left out, and that it is missing tells that it was unlike others.

How we depart from the paper: points are cells of a round grid from the start, so that the ends of boxes tell nothing
finer. The paper merges the cheapest pair of fingerprints, again and again, which compares all pairs and fixes boxes
early. Here groups of k are made at once, from candidates whose ways are near at some stations, and those left over join
the nearest; then the points of a group are cut into boxes from the top, so that every cut sees all members. What boxes
cost on San Francisco's cabs stands in docs/reproductions/places.md.

References
----------
M. Gramaglia, M. Fiore, "Hiding mobile traffic fingerprints with GLOVE", CoNEXT 2015, sections 4 and 5.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shoal.arrays import Floats, Ints
from shoal.data.ragged import ragged_places
from shoal.data.trajectories.boxes import TrajectoryBoxes
from shoal.data.trajectories.grid import Grid3D
from shoal.data.trajectories.trajectories import METRES_A_DEGREE, Trajectories
from shoal.kernels.trajectories.near import grow_groups
from shoal.progress import Progress
from shoal.trajectories.boxing import UNITS, GroupedPoints, LargestBox, publish

N_STATIONS, MOST_STATIONS = 4, 16
N_NEAR = 100
N_ROUNDS = 6
FAR = 0.6
"""Of the largest box: a station that is so far off counts as lost when groups are made."""
PRICES = np.geomspace(0.25, 16.0, 19)
"""What it may cost to leave a point out, in the units of the sizes of boxes."""


@dataclass(frozen=True)
class Glove:
    """What is asked of the method: k persons, the limits of a box, its grid, and the share of points to leave out.

    The more points may be left out, the smaller are the boxes of the others; where the limits leave out more of them,
    more are.
    """

    k: int
    metres: float
    minutes: float
    grid: Grid3D
    suppression: float = 0.1

    def group(self, data: Trajectories, progress: Progress | None = None) -> tuple[TrajectoryBoxes, Ints]:
        """The boxes to publish, and the published trajectory of each original one; negative where it is left out."""
        cells = self.grid.cells(data.latitude, data.longitude, data.time)
        order = by_content(data, cells)
        ordered = data.take(order)
        places, _ = ragged_places(data.starts, order)
        groups, of_box = np.empty(len(data), np.int64), np.empty(len(cells), np.int64)
        groups[order], of_box[places] = self._cut(ordered, self._grouped(ordered, progress), progress)
        return publish(data, cells, groups, of_box, self.grid)

    @property
    def _limits(self) -> LargestBox:
        return LargestBox(self.metres, 60 * self.minutes)

    def _grouped(self, data: Trajectories, progress: Progress | None) -> Ints:
        """The group of each trajectory; those of groups without a box within the limits are grouped anew."""
        groups = np.full(len(data), -1, np.int64)
        left, n_groups = np.arange(len(data)), 0
        for round_ in range(N_ROUNDS):
            if len(np.unique(data.persons[left])) < self.k:
                break
            if progress is not None:
                progress("grouping trajectories", round_, N_ROUNDS)
            found, begun_by = near_groups(data.take(left), self.k, self._limits)
            if not len(begun_by):
                break
            tried = np.full(len(data), -1, np.int64)
            tried[left] = found
            _, grouped = points_of(data, tried, self.grid)
            labels = grouped.cut(self.grid, self._limits, PRICES[-1])
            has_box = np.bincount(grouped.groups, labels >= 0, len(begun_by)) > 0
            is_kept = (found >= 0) & has_box[found]
            groups[left[is_kept]] = n_groups + found[is_kept]
            n_groups += len(begun_by)
            is_left = ~is_kept
            is_left[begun_by[~has_box]] = False  # nobody is near these
            left = left[is_left]
        return _numbered(_joined_by_the_left(data, groups, left, FAR * self._limits.size))

    def _cut(self, data: Trajectories, groups: Ints, progress: Progress | None) -> tuple[Ints, Ints]:
        """Groups, and the box of each point, at the lowest price at which no more are left out than may be."""
        of_box = np.full(len(data.time), -1, np.int64)
        if groups.max(initial=-1) < 0:
            return groups, of_box
        points, grouped = points_of(data, groups, self.grid)
        low, high = 0, len(PRICES) - 1
        while low < high:
            if progress is not None:
                progress("cutting boxes", 0, 0)
            labels = grouped.cut(self.grid, self._limits, PRICES[(low + high) // 2])
            if len(of_box) - (labels >= 0).sum() <= self.suppression * len(of_box):
                high = (low + high) // 2
            else:
                low = (low + high) // 2 + 1
        of_box[points] = grouped.cut(self.grid, self._limits, PRICES[high])
        has_box = np.bincount(grouped.groups, of_box[points] >= 0) > 0
        return _numbered(np.where((groups >= 0) & has_box[groups], groups, -1)), of_box


def _joined_by_the_left(data: Trajectories, groups: Ints, left: Ints, far: float) -> Ints:
    """Those for whom no group was left join the nearest, each another one, unless it is far or has their person."""
    from scipy.spatial import cKDTree

    made: Ints = groups.copy()
    inside = np.flatnonzero(groups >= 0)
    if not len(left) or not len(inside):
        return made
    flat = ways(data, N_STATIONS).reshape(len(data), -1)
    distances, near = cKDTree(flat[inside]).query(flat[left], min(N_NEAR, len(inside)))
    taken = set(zip(groups[inside].tolist(), data.persons[inside].tolist(), strict=True))
    grown: set[int] = set()
    for one, others, away in zip(
        left.tolist(), near.reshape(len(left), -1), distances.reshape(len(left), -1), strict=True
    ):
        for group in groups[inside[others[away <= far]]].tolist():
            if group not in grown and (group, int(data.persons[one])) not in taken:
                made[one] = group
                grown.add(group)
                break
    return made


def near_groups(data: Trajectories, k: int, limits: LargestBox, labels: Ints | None = None) -> tuple[Ints, Ints]:
    """Groups of exactly k trajectories whose ways are near, -1 for the others; and who began each.

    Two of one label, which is the person unless others are given, never stand in one group.
    """
    from scipy.spatial import cKDTree

    few = ways(data, N_STATIONS)
    typical = int(np.median(np.diff(data.starts)))
    many = ways(data, min(max(typical // 4, N_STATIONS), MOST_STATIONS))
    flat = few.reshape(len(data), -1)
    near = cKDTree(flat).query(flat, min(N_NEAR + 1, len(data)))[1].reshape(len(data), -1)
    seeds = np.argsort(-np.linalg.norm(flat - flat.mean(axis=0), axis=1), kind="stable")
    apart = data.persons if labels is None else np.unique(labels, return_inverse=True)[1].astype(np.int32)
    return grow_groups(many, near, seeds, apart, k, FAR * limits.size)


def points_of(data: Trajectories, groups: Ints, grid: Grid3D) -> tuple[Ints, GroupedPoints]:
    """The points of all that stand in a group, those of a group one after another; and where they stand in the data."""
    owners = data.owners
    points = np.flatnonzero(groups[owners] >= 0)
    points = points[np.argsort(groups[owners[points]], kind="stable")]
    who = owners[points]
    share = (points - data.starts[who]) / np.maximum(np.diff(data.starts)[who] - 1, 1)
    cells = grid.cells(data.latitude[points], data.longitude[points], data.time[points])
    return points, GroupedPoints(cells, share, _numbered_within(groups)[who], groups[who])


def ways(data: Trajectories, n_stations: int) -> Floats:
    """Where each trajectory is at equally spaced shares of its points, and when, in `UNITS`."""
    first, sizes = data.starts[:-1], np.diff(data.starts)
    place = first[:, None] + np.linspace(0, 1, n_stations) * (sizes - 1)[:, None]
    low = np.floor(place).astype(np.int64)
    high, part = np.minimum(low + 1, (first + sizes - 1)[:, None]), place - low
    east = np.cos(np.radians(data.latitude.mean()))
    axes = (
        data.latitude * (METRES_A_DEGREE / UNITS[0]),
        data.longitude * (METRES_A_DEGREE / UNITS[0] * east),
        (data.time - data.time.min()) / UNITS[1],
    )
    return np.stack([axis[low] * (1 - part) + axis[high] * part for axis in axes], axis=2)


def _numbered(groups: Ints) -> Ints:
    """The same groups with no number left out."""
    made: Ints = groups.copy()
    made[groups >= 0] = np.unique(groups[groups >= 0], return_inverse=True)[1]
    return made


def _numbered_within(groups: Ints) -> Ints:
    """The place of each trajectory within its group."""
    order = np.argsort(groups, kind="stable")
    first = np.searchsorted(groups[order], groups[order])
    numbers = np.empty(len(groups), np.int64)
    numbers[order] = np.arange(len(groups)) - first
    return numbers


def by_content(data: Trajectories, cells: Ints) -> Ints:
    """Trajectories in an order that their points tell, and not that of the file."""
    place = np.arange(len(cells)) - data.starts[data.owners] + 1
    odd = np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9], np.uint64)
    exact = np.stack([data.latitude, data.longitude], axis=1).view(np.uint64)
    mixed = ((cells.astype(np.uint64) * odd).sum(axis=1) + (exact * odd[:2]).sum(axis=1)) * (2 * place + 1).astype(
        np.uint64
    )
    mixed ^= mixed >> np.uint64(29)
    return np.asarray(np.lexsort((np.add.reduceat(mixed, data.starts[:-1]), data.time[data.starts[:-1]])))
