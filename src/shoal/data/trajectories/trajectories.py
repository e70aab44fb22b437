"""Trajectories: where persons were and when, as flat arrays; points that cannot be are refused, others made orderly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal.arrays import Codes, Floats, Ints, Mask
from shoal.data.ragged import ragged_places
from shoal.data.tables.table import Source
from shoal.errors import DataError

METRES_A_DEGREE = 111_195.0
FASTEST = 300 / 3.6
"""Metres a second above which a leg is noted: no road vehicle drives so fast."""


@dataclass(frozen=True)
class Trajectories:
    """Points of several trajectories, one after another, in order of time.

    Attributes
    ----------
    latitude, longitude : float64 array (n_points,)
        In degrees; longitudes beyond 180 where the data crosses that meridian.
    time : int64 array (n_points,)
        Seconds since 1970.
    starts : int64 array (n_trajectories + 1,)
        Where each begins.
    persons : int32 array (n_trajectories,)
        Whose each is, numbered from 0.
    trips : int64 array (n_trajectories,), optional
        Where these are pieces, which trip each is of; see `shoal.data.trajectories.pieces`.
    """

    latitude: Floats
    longitude: Floats
    time: Ints
    starts: Ints
    persons: Codes
    source: Source = field(default_factory=Source)
    trips: Ints | None = None

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def n_persons(self) -> int:
        """How many persons there are."""
        return len(np.unique(self.persons))

    @property
    def owners(self) -> Ints:
        """Which trajectory each point is of."""
        return np.repeat(np.arange(len(self)), np.diff(self.starts))

    def take(self, rows: npt.NDArray[np.integer[Any]]) -> Trajectories:
        """Some of the trajectories."""
        places, starts = ragged_places(self.starts, rows)
        return replace(
            self,
            latitude=self.latitude[places],
            longitude=self.longitude[places],
            time=self.time[places],
            starts=starts,
            persons=self.persons[rows],
            trips=None if self.trips is None else self.trips[rows],
        )

    @classmethod
    def of(
        cls,
        latitude: npt.ArrayLike,
        longitude: npt.ArrayLike,
        time: npt.ArrayLike,
        trip: npt.ArrayLike,
        person: npt.ArrayLike | None = None,
        *,
        source: Source | None = None,
    ) -> Trajectories:
        """From one entry a point, in any order; without persons every trip is of another one.

        >>> made = Trajectories.of([1.0, 1.1, 2.0], [5.0, 5.1, 5.2], [60, 0, 30], ["a", "a", "b"])
        >>> len(made), made.time.tolist(), made.starts.tolist()
        (2, [0, 60, 30], [0, 2, 3])

        Raises
        ------
        DataError
            If there is nothing, a point is not on the earth or has no time, or a trip is of several persons.
        """
        lat, lon = np.asarray(latitude, np.float64), np.asarray(longitude, np.float64)
        when = np.asarray(time, np.int64)
        units, first, codes = np.unique(np.asarray(trip), return_index=True, return_inverse=True)
        if not len(lat):
            raise DataError("there are no points; give at least one trajectory")
        if not len(lat) == len(lon) == len(when) == len(codes):
            raise DataError("latitudes, longitudes, times and trips differ in number; give one of each for a point")
        _refuse_outside(lat, lon)
        owners = (
            np.arange(len(units))[codes] if person is None else np.unique(np.asarray(person), return_inverse=True)[1]
        )
        if (owners[first][codes] != owners).any():
            n = len(np.unique(codes[owners[first][codes] != owners]))
            raise DataError(
                f"the points of {n:,} of the trips are of several persons; name trips so that each is of one person"
            )
        lon, notes = _across_the_meridian(lon)
        n_unordered = int(((np.diff(when) < 0) & (np.diff(codes) == 0)).sum())
        order = np.lexsort((lon, lat, when, codes))
        lat, lon, when, codes = lat[order], lon[order], when[order], codes[order]
        same = np.concatenate([[False], (np.diff(codes) == 0) & (np.diff(when) == 0)])
        is_again = same & np.concatenate([[False], (np.diff(lat) == 0) & (np.diff(lon) == 0)])
        kept = ~is_again
        starts = np.concatenate([[0], np.cumsum(np.bincount(codes[kept], minlength=len(units)))]).astype(np.int64)
        made = cls(lat[kept], lon[kept], when[kept], starts, owners[first].astype(np.int32))
        notes += _noted(made, n_unordered, int(is_again.sum()), int((same & ~is_again).sum()))
        described = source or Source(format="csv")
        return replace(made, source=replace(described, notes=(*described.notes, *notes)))


def leg_metres(data: Trajectories) -> tuple[Floats, Mask]:
    """The metres from each point to the next, and whether that is of the same trajectory."""
    lat = np.radians(data.latitude)
    north = np.diff(data.latitude) * METRES_A_DEGREE
    east = np.diff(data.longitude) * METRES_A_DEGREE * np.cos((lat[1:] + lat[:-1]) / 2)
    return np.hypot(north, east), np.diff(data.owners) == 0


def _refuse_outside(lat: Floats, lon: Floats) -> None:
    for values, most, name in ((lat, 90, "latitude"), (lon, 180, "longitude")):
        n = int((~(np.abs(values) <= most)).sum())
        if n:
            hint = (
                "; they may stand in the wrong columns" if name == "latitude" and not (np.abs(lon) > 90).any() else ""
            )
            raise DataError(
                f"the {name} of {n:,} of the points is missing or beyond {most} degrees{hint}; mend them or leave "
                "them out"
            )


def _across_the_meridian(lon: Floats) -> tuple[Floats, tuple[str, ...]]:
    """Longitudes from 0 to 360 where that keeps together what lies on both sides of the meridian of 180 degrees."""
    turned = np.where(lon < 0, lon + 360.0, lon)
    if np.ptp(lon) <= 180 or np.ptp(turned) > 180:
        return lon, ()
    return turned, (
        "the points lie on both sides of the meridian of 180 degrees; longitudes west of it are 180 and more",
    )


def _noted(data: Trajectories, n_unordered: int, n_again: int, n_clashes: int) -> tuple[str, ...]:
    """What was found and done, a phrase each."""
    metres, is_leg = leg_metres(data)
    seconds = np.diff(data.time)
    n_fast = int((is_leg & (metres > FASTEST * np.maximum(seconds, 1))).sum())
    n_single = int((np.diff(data.starts) == 1).sum())
    is_one_place = bool(np.ptp(data.latitude) == 0 and np.ptp(data.longitude) == 0)
    told: Sequence[tuple[int | bool, str]] = (
        (n_unordered, f"points that stood before an earlier one of their trip: {n_unordered:,}; all were put in order"),
        (n_again, f"points given twice, with the same time and place: {n_again:,}; they count once"),
        (n_clashes, f"points with the time of another point of their trip: {n_clashes:,}; all of them are kept"),
        (n_single, f"trajectories of a single point: {n_single:,}; they are kept"),
        (n_fast, f"legs faster than 300 km/h, which may be errors: {n_fast:,}; their points are kept"),
        (is_one_place, "all points are at one place"),
    )  # fmt: skip
    return tuple(text for is_so, text in told if is_so)
