"""Published trajectories: boxes in space and time, whose ends stand on a round grid, and how many share each."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal.arrays import Ints
from shoal.data.ragged import ragged_places
from shoal.data.tables.table import Column, Source, Table, encode_cells
from shoal.data.tables.write import file_name, read_back, write_table
from shoal.data.trajectories.columns import numbers_in, times_in
from shoal.data.trajectories.grid import Grid3D
from shoal.errors import DataError

COLUMNS = (
    "trajectory",
    "persons",
    "trips",
    "lat_from",
    "lat_to",
    "lon_from",
    "lon_to",
    "time_from",
    "time_to",
    "points",
)
_OFF_THE_GRID = 1e-4  # of a cell


@dataclass(frozen=True)
class TrajectoryBoxes:
    """Published trajectories, each a list of boxes in order of time that stands for several original ones.

    Attributes
    ----------
    sides : int64 array (n_boxes, 6)
        ``(y0, y1, x0, x1, t0, t1)`` in cells of the grid, both ends in the box.
    points : int64 array (n_boxes,)
        How many original points lie in each and in no earlier one of its trajectory.
    starts : int64 array (n_trajectories + 1,)
    persons, trips : int64 array (n_trajectories,)
        How many persons and how many trips share each.
    """

    sides: Ints
    points: Ints
    starts: Ints
    persons: Ints
    trips: Ints
    grid: Grid3D
    source: Source = field(default_factory=Source)

    def __len__(self) -> int:
        """How many original trajectories these stand for."""
        return int(self.trips.sum())

    @property
    def n_trajectories(self) -> int:
        """How many different ones are published."""
        return len(self.starts) - 1

    @property
    def owners(self) -> Ints:
        """Which trajectory each box is of."""
        return np.repeat(np.arange(self.n_trajectories), np.diff(self.starts))

    def take(self, rows: npt.NDArray[np.integer[Any]]) -> TrajectoryBoxes:
        """Some of the published trajectories."""
        places, starts = ragged_places(self.starts, rows)
        return replace(
            self,
            sides=self.sides[places],
            points=self.points[places],
            starts=starts,
            persons=self.persons[rows],
            trips=self.trips[rows],
        )

    def columns(self) -> Mapping[str, npt.NDArray[Any]]:
        """The boxes as a table has them, a row each; the upper ends lie outside the boxes."""
        cell, slot, sides = self.grid.cell, self.grid.slot, self.sides
        ends = [(sides[:, i] + i % 2) * step for i, step in enumerate((cell, cell, cell, cell, slot, slot))]
        degrees = [np.round(end, 7) for end in ends[:4]]
        times = [end.astype("datetime64[s]").astype("datetime64[us]") for end in ends[4:]]
        who = self.owners
        made = [who + 1, self.persons[who], self.trips[who], *degrees, *times, self.points]
        return dict(zip(COLUMNS, made, strict=True))


def boxes_file_name(boxes: TrajectoryBoxes) -> str:
    """data.csv or data.parquet and their like."""
    return file_name(Table.of([], boxes.source))


def table_of(boxes: TrajectoryBoxes) -> Table:
    """Boxes as a table, a row each."""
    return Table.of([encode_cells(name, cells) for name, cells in boxes.columns().items()], boxes.source)


def write_boxes(boxes: TrajectoryBoxes, path: str | os.PathLike[str]) -> None:
    """Write boxes, a row each."""
    write_table(table_of(boxes), path)


def read_boxes(path: str | os.PathLike[str], grid: Grid3D, source: Source | None = None) -> TrajectoryBoxes:
    """Read a file that `write_boxes` wrote.

    Raises
    ------
    DataError
        If it is no such file, or a box does not stand on the grid.
    """
    table = read_back(path, COLUMNS, markers=("",))
    if tuple(table.names) != COLUMNS:
        raise DataError(f"{path}: does not have the columns of published trajectories; restore it from the release")
    ends = [numbers_in(table[name]) / grid.cell for name in COLUMNS[3:7]]
    ends += [times_in(table[name])[0] / grid.slot for name in COLUMNS[7:9]]
    whole = np.round(np.stack(ends, axis=1))
    if (np.abs(np.stack(ends, axis=1) - whole) > _OFF_THE_GRID).any():
        raise DataError(f"{path}: ends of boxes do not stand on the grid that the manifest tells; restore the release")
    sides = whole.astype(np.int64) - np.array([0, 1, 0, 1, 0, 1])
    number, persons, trips = (_whole(path, table[name], 1) for name in COLUMNS[:3])
    points = _whole(path, table[COLUMNS[9]], 0)
    first = np.flatnonzero(np.diff(number, prepend=0))
    is_kept = (np.repeat(persons[first], np.diff(np.append(first, len(number)))) == persons).all() and (
        np.repeat(trips[first], np.diff(np.append(first, len(number)))) == trips
    ).all()
    if not np.array_equal(number[first], np.arange(1, len(first) + 1)) or not is_kept:
        raise DataError(
            f"{path}: trajectories are not numbered in order, or differ in their counts; restore the release"
        )
    starts = np.append(first, len(number)).astype(np.int64)
    return TrajectoryBoxes(sides, points, starts, persons[first], trips[first], grid, source or table.source)


def _whole(path: str | os.PathLike[str], column: Column, least: int) -> Ints:
    numbers = numbers_in(column)
    if (numbers != np.round(numbers)).any() or (numbers < least).any():
        raise DataError(
            f"{path}: the column {column.name!r} holds something that is not a count; restore it from the release"
        )
    return numbers.astype(np.int64)
