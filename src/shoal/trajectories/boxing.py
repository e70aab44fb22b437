"""From groups of trajectories to the boxes that are published of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shoal.arrays import Floats, Ints
from shoal.data.ragged import ragged_places
from shoal.data.trajectories.boxes import TrajectoryBoxes
from shoal.data.trajectories.grid import Grid3D
from shoal.data.trajectories.trajectories import METRES_A_DEGREE, Trajectories
from shoal.kernels.trajectories.cuts import cut_groups, first_boxes

UNITS = (1000.0, 5400.0)
"""Metres and seconds of stretch that weigh as much as one another."""


@dataclass(frozen=True)
class LargestBox:
    """The largest box, in metres and seconds."""

    metres: float
    seconds: float

    @property
    def size(self) -> float:
        """What a point costs in the largest box."""
        return 0.5 * (self.metres / UNITS[0] + self.seconds / UNITS[1])


@dataclass(frozen=True)
class GroupedPoints:
    """The points of groups, those of a group one after another.

    Attributes
    ----------
    cells : int64 array (n, 3)
    progress : float64 array (n,)
        How far on its way each is.
    members : int64 array (n,)
        Whose each is, numbered from 0 on within its group.
    groups : int64 array (n,)
        Ascending from 0 on, with none left out.
    """

    cells: Ints
    progress: Floats
    members: Ints
    groups: Ints

    def cut(self, grid: Grid3D, limits: LargestBox, lost: float) -> Ints:
        """The box of each point, numbered within its group; -1 for those left out, each of which costs `lost`."""
        starts = np.searchsorted(self.groups, np.arange(int(self.groups[-1]) + 2))
        lowest = self.cells.min(axis=0)
        rows = np.arange(int(np.ptp(self.cells[:, 0])) + 1) + lowest[0] + 0.5
        across = np.cos(np.radians(np.clip(rows * grid.cell, -90, 90))) * METRES_A_DEGREE * grid.cell
        sizes = np.array([METRES_A_DEGREE * grid.cell, grid.slot, limits.metres, limits.seconds, *UNITS])
        n_members = np.maximum.reduceat(self.members, starts[:-1]) + 1
        return cut_groups(
            self.cells - lowest, self.progress, self.members, starts, n_members, across, sizes, float(lost)
        )


def hulls(cells: Ints, box: Ints, n_boxes: int) -> Ints:
    """The sides of boxes, given points and the box of each."""
    sides = np.empty((n_boxes, 6), np.int64)
    sides[:, ::2], sides[:, 1::2] = np.iinfo(np.int64).max, np.iinfo(np.int64).min
    for axis in range(3):
        np.minimum.at(sides[:, 2 * axis], box, cells[:, axis])
        np.maximum.at(sides[:, 2 * axis + 1], box, cells[:, axis])
    return sides


def in_time(sides: Ints, owners: Ints) -> Ints:
    """The order of boxes: by their lists, then by the middle of their times."""
    y0, y1, x0, x1, t0, t1 = sides.T
    return np.lexsort((x1, x0, y1, y0, t0, t0 + t1, owners))


def publish(data: Trajectories, cells: Ints, groups: Ints, of_box: Ints, grid: Grid3D) -> tuple[TrajectoryBoxes, Ints]:
    """The boxes of groups, in an order that the boxes tell; and the place of each group in it.

    `of_box` is the box of each point, numbered in any way within its group, and -1 where the point is left out.
    """
    of_group = groups[data.owners]
    shown = np.flatnonzero(of_box >= 0)
    keys, box = np.unique(np.stack([of_group[shown], of_box[shown]], axis=1), axis=0, return_inverse=True)
    sides = hulls(cells[shown], box.reshape(-1), len(keys))
    order = in_time(sides, keys[:, 0])
    sides, owners = sides[order], keys[order, 0]
    starts = np.searchsorted(owners, np.arange(int(groups.max(initial=-1)) + 2))
    head = sides[starts[:-1]]
    by_head = np.lexsort((np.diff(starts), *head.T[[1, 0, 3, 2, 5, 4]]))
    rank = np.empty(len(by_head), np.int64)
    rank[by_head] = np.arange(len(by_head))
    places, starts = ragged_places(starts, by_head)
    labels = np.where(groups >= 0, rank[groups] if len(rank) else -1, -1)
    members = np.flatnonzero(labels >= 0)
    trips = np.bincount(labels[members], minlength=len(rank))
    pairs = np.unique(np.stack([labels[members], data.persons[members]], axis=1), axis=0)
    persons = np.bincount(pairs[:, 0], minlength=len(rank))
    sides = sides[places]
    first = first_boxes(sides, starts, cells, labels[data.owners])
    points = np.bincount(first[first >= 0], minlength=len(sides))
    return TrajectoryBoxes(sides, points, starts, persons, trips, grid), labels
