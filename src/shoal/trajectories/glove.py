"""GLOVE: trajectories merge with those that are cheapest to be made alike, until at least k persons share each.

Every point becomes a box in space and time. Two fingerprints are joined box by box along the cheapest stretch, so that
each box holds at least one point of every trajectory that shares it; what would stretch a box beyond the limits is left
out. The cheapest pair is merged first, until k persons are together.

**Guarantee.** Each published list of boxes is that of at least k persons, every one of whom was in every box of it.
**Not protected.** What all k share: a group that was at one place is published there. Where no group of k can be formed
within the limits, a trajectory is left out, and that it is missing tells that it was unlike others.

How we depart from the paper: points are cells of a round grid from the start, so that the ends of boxes tell nothing
finer; fingerprints are compared within blocks that a coarse signature makes (ends, middle, time), so that the work
grows with the number of trajectories and not its square; those left over are blocked again.

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
from shoal.kernels.trajectories.merge import LOST, glove_block
from shoal.progress import Progress

BLOCK_POINTS = 6000
"""Points of a block: the work on a block grows with their square."""
MOST_IN_BLOCK = 512
N_ROUNDS = 3
MOST_EFFORT = 0.98 * LOST
"""Trajectories are not merged where nearly all their points would be left out."""


@dataclass(frozen=True)
class Glove:
    """What is asked of the method: k persons, the limits of a box, and its grid."""

    k: int
    metres: float
    minutes: float
    grid: Grid3D

    def group(self, data: Trajectories, progress: Progress | None = None) -> tuple[TrajectoryBoxes, Ints]:
        """The boxes to publish, and the published trajectory of each original one; negative where it is left out."""
        cells = self.grid.cells(data.latitude, data.longitude, data.time)
        owners = data.owners
        shown = np.concatenate([owners[:, None], cells[:, [2, 0, 1]]], axis=1)
        unique, counts = np.unique(shown, axis=0, return_counts=True)
        starts = np.searchsorted(unique[:, 0], np.arange(len(data) + 1))
        lowest = unique[:, 1:].min(axis=0)
        t, y, x = (unique[:, 1:] - lowest).T
        fingerprints = np.stack([y, y, x, x, t, t], axis=1).astype(np.int32)
        rows = np.arange(int(y.max()) + 1) + lowest[1] + 0.5
        across = np.cos(np.radians(np.clip(rows * self.grid.cell, -90, 90))) * METRES_A_DEGREE * self.grid.cell
        sizes = np.array(
            [METRES_A_DEGREE * self.grid.cell, self.grid.slot, self.metres, 60 * self.minutes], dtype=np.float64
        )
        features = _signatures(data, self.metres, 60 * self.minutes)
        groups = np.full(len(data), -1, np.int64)
        of_box = np.full(len(unique), -1, np.int64)
        left, n_groups = _by_content(unique, starts), 0
        for round_ in range(N_ROUNDS):
            blocks = _blocks(left, features, np.diff(starts))
            for i, block in enumerate(blocks):
                if progress is not None:
                    progress("merging trajectories", i, len(blocks))
                places, begins = ragged_places(starts, block)
                found, became = glove_block(
                    fingerprints[places],
                    counts[places],
                    begins,
                    data.persons[block],
                    self.k,
                    across,
                    sizes,
                    MOST_EFFORT,
                )
                groups[block] = np.where(found >= 0, found + n_groups, -1)
                of_box[places] = became
                n_groups += int(found.max(initial=-1)) + 1
            left = left[groups[left] < 0]
            if len(np.unique(data.persons[left])) < self.k or round_ == N_ROUNDS - 1:
                break
        group_of_cell = groups[unique[:, 0]]
        is_shown = (group_of_cell >= 0) & (of_box >= 0)
        return _publish(data, cells, groups, unique[is_shown], group_of_cell[is_shown], of_box[is_shown], self.grid)


def _signatures(data: Trajectories, metres: float, seconds: float) -> Floats:
    """Where each trajectory begins, ends and is on average, and when: in units of the limits."""
    starts, sizes = data.starts[:-1], np.diff(data.starts)
    north = data.latitude * METRES_A_DEGREE / metres
    east = data.longitude * METRES_A_DEGREE / metres * np.cos(np.radians(data.latitude.mean()))
    when = (data.time - data.time.min()) / seconds
    means = [np.add.reduceat(v, starts) / sizes for v in (north, east, when)]
    return np.stack(
        [*means, *(v[starts] for v in (north, east)), *(v[data.starts[1:] - 1] for v in (north, east))], axis=1
    )


def _by_content(unique: Ints, starts: Ints) -> Ints:
    """Trajectories in an order that their points tell, and not that of the file."""
    place = np.arange(len(unique)) - np.repeat(starts[:-1], np.diff(starts)) + 1
    odd = np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9], np.uint64)
    mixed = (unique[:, 1:].astype(np.uint64) * odd).sum(axis=1) * (2 * place + 1).astype(np.uint64)
    mixed ^= mixed >> np.uint64(29)
    return np.lexsort((np.add.reduceat(mixed, starts[:-1]), unique[starts[:-1], 1]))


def _blocks(rows: Ints, features: Floats, sizes: Ints) -> list[Ints]:
    """Cut at the median of what is widest, until blocks are small."""
    todo, done = [rows], []
    while todo:
        block = todo.pop()
        if len(block) <= 2 or (len(block) <= MOST_IN_BLOCK and sizes[block].sum() <= BLOCK_POINTS * 8):
            done.append(block)
            continue
        own = features[block]
        widest = int(np.argmax(np.subtract(*np.percentile(own, [90, 10], axis=0))))
        order = block[np.argsort(own[:, widest], kind="stable")]
        todo += [order[: len(order) // 2], order[len(order) // 2 :]]
    return done


def _publish(
    data: Trajectories, cells: Ints, groups: Ints, shown: Ints, of_group: Ints, of_box: Ints, grid: Grid3D
) -> tuple[TrajectoryBoxes, Ints]:
    """The hulls of what became one box, in an order that the boxes tell; and the place of each group in it."""
    keys, first, inverse = np.unique(
        np.stack([of_group, of_box], axis=1), axis=0, return_index=True, return_inverse=True
    )
    inverse = inverse.reshape(-1)
    sides = np.empty((len(keys), 6), np.int64)
    for i, column in enumerate((2, 3, 1)):
        sides[:, 2 * i], sides[:, 2 * i + 1] = shown[first, column], shown[first, column]
        np.minimum.at(sides[:, 2 * i], inverse, shown[:, column])
        np.maximum.at(sides[:, 2 * i + 1], inverse, shown[:, column])
    order = np.lexsort((*sides.T[[1, 0, 3, 2, 5, 4]], keys[:, 0]))
    sides, group = sides[order], keys[order, 0]
    starts = np.searchsorted(group, np.arange(int(group.max(initial=-1)) + 2))
    head = sides[starts[:-1]]
    new_order = np.lexsort((np.diff(starts), *head.T[[1, 0, 3, 2, 5, 4]]))
    rank = np.empty(len(new_order), np.int64)
    rank[new_order] = np.arange(len(new_order))
    places, new_starts = ragged_places(starts, new_order)
    labels = np.where(groups >= 0, rank[groups] if len(rank) else -1, -1)
    members = np.flatnonzero(labels >= 0)
    trips = np.bincount(labels[members], minlength=len(rank))
    pairs = np.unique(np.stack([labels[members], data.persons[members]], axis=1), axis=0)
    persons = np.bincount(pairs[:, 0], minlength=len(rank))
    made = TrajectoryBoxes(sides[places], np.zeros(len(places), np.int64), new_starts, persons, trips, grid)
    return TrajectoryBoxes(
        made.sides, count_points(made, cells, labels[data.owners]), new_starts, persons, trips, grid
    ), labels


def count_points(boxes: TrajectoryBoxes, cells: Ints, labels: Ints) -> Ints:
    """How many points of the trajectories that share a list of boxes lie in each, and in no earlier one of the list."""
    first = first_boxes(boxes, cells, labels)
    return np.bincount(first[first >= 0], minlength=len(boxes.sides))


def first_boxes(boxes: TrajectoryBoxes, cells: Ints, labels: Ints) -> Ints:
    """The first box that each point lies in, of the published trajectory that its own is in; -1 if there is none."""
    found = np.full(len(cells), -1, np.int64)
    n_boxes = np.diff(boxes.starts)
    for i in range(int(n_boxes.max(initial=0))):
        todo = np.flatnonzero((found < 0) & (labels >= 0))
        todo = todo[n_boxes[labels[todo]] > i]
        box = boxes.starts[labels[todo]] + i
        sides, place = boxes.sides[box], cells[todo]
        inside = (sides[:, 0::2] <= place).all(axis=1) & (place <= sides[:, 1::2]).all(axis=1)
        found[todo[inside]] = box[inside]
    return found
