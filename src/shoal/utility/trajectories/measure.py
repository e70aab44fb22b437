"""What boxes cost: how far points were stretched, and what became of flows, lengths, the heat map and range counts.

**Stretch** of a published point is the size of its box: the longer side in metres, and its duration in minutes; its
displacement is the way to the middle of the box. An analyst who reads a box as its middle gets the other measures.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from shoal.arrays import Floats, Ints
from shoal.data.trajectories.boxes import TrajectoryBoxes
from shoal.data.trajectories.trajectories import METRES_A_DEGREE, Trajectories, leg_metres
from shoal.kernels.trajectories.cuts import first_boxes
from shoal.utility.measured import Measured

COARSE = 0.01
"""Degrees of the cells of flows and heat maps."""
N_QUERIES = 200
LEAST_COUNT = 0.001  # of all points: sanity bound of a relative error


@dataclass(frozen=True)
class TrajectoryUtility(Measured):
    """What the protection cost.

    Attributes
    ----------
    stretch_metres, stretch_minutes, displacement_metres : (float, float)
        The median and the 95th percentile over published points.
    share_points, share_trajectories : float
        How many of them stand in the release.
    flow_error : float
        Total variation between the shares of pairs of origin and destination, from 0 to 1.
    length_km, duration_minutes : (float, float)
        Medians before and after.
    heat_correlation : float
        Correlation of the numbers of points in cells.
    range_error : float
        Median relative error of counts in random ranges of space and time.
    """

    stretch_metres: tuple[float, float]
    stretch_minutes: tuple[float, float]
    displacement_metres: tuple[float, float]
    share_points: float
    share_trajectories: float
    flow_error: float
    length_km: tuple[float, float]
    duration_minutes: tuple[float, float]
    heat_correlation: float
    range_error: float

    @property
    def sentence(self) -> str:
        """The stretch in plain words."""
        (metres, far), (minutes, long) = self.stretch_metres, self.stretch_minutes
        return (
            f"Half of the published points lie in boxes of up to {metres:,.0f} m and {minutes:,.0f} minutes, 95 of "
            f"100 in boxes of up to {far:,.0f} m and {long:,.0f} minutes."
        )


def middles(boxes: TrajectoryBoxes) -> tuple[Floats, Floats, Floats]:
    """Latitude, longitude and time of the middle of each box."""
    ends = boxes.sides + np.array([0, 1, 0, 1, 0, 1])
    y, x, t = ((ends[:, i] + ends[:, i + 1]) / 2 for i in (0, 2, 4))
    return y * boxes.grid.cell, x * boxes.grid.cell, t * boxes.grid.slot


def box_sizes(boxes: TrajectoryBoxes) -> tuple[Floats, Floats]:
    """The longer side of each box in metres, and how many minutes it lasts."""
    spans = boxes.sides[:, 1::2] - boxes.sides[:, ::2] + 1
    east = np.cos(np.radians(middles(boxes)[0]))
    metres = np.maximum(spans[:, 0], spans[:, 1] * east) * boxes.grid.cell * METRES_A_DEGREE
    return metres, spans[:, 2] * boxes.grid.slot / 60


def measure_trajectories(original: Trajectories, boxes: TrajectoryBoxes, groups: Ints) -> TrajectoryUtility:
    """Compare boxes with what they were made from."""
    owners = original.owners
    cells = boxes.grid.cells(original.latitude, original.longitude, original.time)
    of_point = first_boxes(boxes.sides, boxes.starts, cells, groups[owners])
    shown = np.flatnonzero(of_point >= 0)
    box = of_point[shown]
    metres, minutes = box_sizes(boxes)
    lat, lon, when = middles(boxes)
    north = (lat[box] - original.latitude[shown]) * METRES_A_DEGREE
    east = (lon[box] - original.longitude[shown]) * METRES_A_DEGREE * np.cos(np.radians(original.latitude[shown]))
    first, last = boxes.starts[:-1], boxes.starts[1:] - 1
    begins, ends = original.starts[:-1], original.starts[1:] - 1
    before = _flows(original.latitude, original.longitude, begins, ends, np.ones(len(original)))
    after = _flows(lat, lon, first, last, boxes.trips)
    legs, is_leg = leg_metres(original)
    box_legs = np.hypot(np.diff(lat), np.diff(lon) * np.cos(np.radians(lat[1:]))) * METRES_A_DEGREE
    box_legs[np.diff(boxes.owners) != 0] = 0.0
    lengths = np.bincount(owners[:-1][is_leg], legs[is_leg], len(original)) / 1000
    box_lengths = np.bincount(boxes.owners[:-1], box_legs, boxes.n_trajectories) / 1000
    durations = (original.time[ends] - original.time[begins]) / 60
    box_durations = (when[last] - when[first]) / 60
    return TrajectoryUtility(
        stretch_metres=_half_and_most(metres[box]),
        stretch_minutes=_half_and_most(minutes[box]),
        displacement_metres=_half_and_most(np.hypot(north, east)),
        share_points=len(shown) / len(owners),
        share_trajectories=len(boxes) / len(original),
        flow_error=_variation(before, after),
        length_km=(float(np.median(lengths)), float(np.median(np.repeat(box_lengths, boxes.trips)))),
        duration_minutes=(float(np.median(durations)), float(np.median(np.repeat(box_durations, boxes.trips)))),
        heat_correlation=_correlation(*heat(original, boxes)[:2]),
        range_error=_range_error(original, boxes),
    )


def heat(original: Trajectories, boxes: TrajectoryBoxes, cell: float = COARSE) -> tuple[Floats, Floats, Ints]:
    """The numbers of points in cells before and after, those of boxes at their middles, and the cells."""
    lat, lon, _ = middles(boxes)
    ours = _keys(original.latitude, original.longitude, cell)
    theirs = _keys(lat, lon, cell)
    known, inverse = np.unique(np.concatenate([ours, theirs]), return_inverse=True)
    before = np.bincount(inverse[: len(ours)], minlength=len(known)).astype(np.float64)
    after = np.bincount(inverse[len(ours) :], boxes.points.astype(np.float64), len(known)).astype(np.float64)
    return before, after, known


def _keys(lat: Floats, lon: Floats, cell: float) -> Ints:
    return np.asarray((np.floor(lat / cell) + 2**20).astype(np.int64) << 24) + (np.floor(lon / cell) + 2**20).astype(
        np.int64
    )


def _half_and_most(values: Floats) -> tuple[float, float]:
    return float(np.median(values)), float(np.percentile(values, 95))


def _flows(lat: Floats, lon: Floats, first: Ints, last: Ints, weights: Any) -> dict[tuple[int, int], float]:
    keys = _keys(lat, lon, COARSE)
    pairs, inverse = np.unique(np.stack([keys[first], keys[last]], axis=1), axis=0, return_inverse=True)
    counts = np.bincount(inverse.reshape(-1), weights)
    return dict(zip(map(tuple, pairs.tolist()), (counts / counts.sum()).tolist(), strict=True))


def _variation(before: dict[tuple[int, int], float], after: dict[tuple[int, int], float]) -> float:
    return 0.5 * sum(abs(before.get(key, 0.0) - after.get(key, 0.0)) for key in before.keys() | after.keys())


def _correlation(before: Floats, after: Floats) -> float:
    if len(before) < 2 or not np.ptp(before) or not np.ptp(after):
        return float("nan")
    return float(np.corrcoef(before, after)[0, 1])


def _range_error(original: Trajectories, boxes: TrajectoryBoxes) -> float:
    """Ranges around random points, of a tenth of the spread of most points in space and in time."""
    rng = np.random.default_rng(0)
    sides = (original.latitude, original.longitude, original.time.astype(np.float64))
    centres = rng.integers(len(original.time), size=N_QUERIES)
    shown = middles(boxes)
    n = len(original.time)
    scale = n / max(int(boxes.points.sum()), 1)
    halves = [np.subtract(*np.percentile(ours, [95, 5])) / 10 for ours in sides]
    errors = []
    for centre in centres.tolist():
        inside, held = np.ones(n, bool), np.ones(len(boxes.sides), bool)
        for ours, theirs, half in zip(sides, shown, halves, strict=True):
            inside &= np.abs(ours - ours[centre]) <= half
            held &= np.abs(theirs - ours[centre]) <= half
        true, told = int(inside.sum()), scale * float(boxes.points[held].sum())
        errors.append(abs(told - true) / max(true, LEAST_COUNT * n))
    return float(np.median(errors))
