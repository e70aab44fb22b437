"""A first look at trajectories: how many, how long, stops and gaps, and how few points single one out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from shoal.attack.result import Rate
from shoal.attack.trajectories.unicity import GRIDS, N_POINTS, unicity
from shoal.data.trajectories.pieces import whole_trips
from shoal.data.trajectories.trajectories import Trajectories, leg_metres
from shoal.kind import Profiled
from shoal.kinds.trajectories.policy import TrajectoryPolicy
from shoal.shown import Grid

N_ATTACKS = 300
GAP, STOP = 3600, 600
"""Seconds without a point that are a gap; seconds near one place that are a stop."""
NEAR = 100.0


@dataclass(frozen=True, repr=False)
class TrajectoryProfile(Profiled):
    """What was found; for the owner.

    Attributes
    ----------
    n_trajectories, n_persons, n_points, n_stops, n_gaps, n_pieces : int
        Of pieces 0 where trips stay whole.
    extent : tuple of float
        South, north, west and east, in degrees.
    hours : float
        From the first point to the last.
    curve : tuple of (float, int, tuple of Rate)
        Cell in degrees and slot in seconds, and the share singled out by 1, 2, 3 and 4 points.
    """

    n_trajectories: int
    n_persons: int
    n_points: int
    n_stops: int
    n_gaps: int
    extent: tuple[float, float, float, float]
    hours: float
    curve: tuple[tuple[float, int, tuple[Rate, ...]], ...]
    policy: TrajectoryPolicy
    notes: tuple[str, ...] = ()
    n_pieces: int = 0

    def shown(self) -> list[str | Grid]:
        """For a terminal."""
        south, north, west, east = self.extent
        rows = [
            (f"{cell:g} degrees, {slot // 60} minutes", *(f"{100 * rate.value:.0f} %" for rate in rates))
            for cell, slot, rates in self.curve
        ]
        heads = ("singled out by", *(f"{n} point{'s' * (n > 1)}" for n in N_POINTS))
        return [
            f"{self.n_trajectories:,} trajectories of {self.n_persons:,} persons, {self.n_points:,} points over "
            f"{self.hours:,.1f} hours, from {south:.2f} to {north:.2f} degrees north and {west:.2f} to {east:.2f} east",
            f"{self.n_stops:,} stops of ten minutes and more, {self.n_gaps:,} gaps of an hour and more",
            *(
                [f"cut into {self.n_pieces:,} pieces of up to {self.policy.method.piece} minutes"]
                if self.n_pieces
                else []
            ),
            Grid(heads, rows, heads[1:]),
            *(f"note: {note}" for note in self.notes),
        ]

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        curve = [
            {"degrees": cell, "minutes": slot / 60, "singled_out": [rate.to_dict() for rate in rates]}
            for cell, slot, rates in self.curve
        ]
        counts = {n: getattr(self, f"n_{n}") for n in ("trajectories", "persons", "points", "stops", "gaps", "pieces")}
        return {
            "kind": "trajectories",
            **counts,
            "extent": list(self.extent),
            "unicity": curve,
            "notes": list(self.notes),
        }

    def to_toml(self) -> str:
        """A policy file to be edited."""
        asked, method = self.policy.input, self.policy.method
        named = [
            f'{n} = "{v}"' for n in ("latitude", "longitude", "time", "trip") if (v := getattr(asked, n)) is not None
        ]
        return "\n".join(
            [
                "# Written by `shoal profile`. Read it, correct it, then run",
                "#     shoal anonymize DATA -p THIS_FILE -o out/",
                'kind = "trajectories"',
                "",
                "[input]   # columns that are left out are found by their names",
                f'unit = "{asked.unit}"   # what one trajectory is: trip | person',
                *named,
                *([f'person = ["{asked.person[0]}"]'] if asked.person else []),
                "",
                "[[require]]",
                'model = "k-anonymity"',
                f"k = {self.policy.k}   # every published trajectory is that of at least k persons",
                "",
                "[method]",
                f"metres = {method.metres:g}   # no side of a box is longer; points that would stretch it are left out",
                f"minutes = {method.minutes:g}",
                f"suppression = {method.suppression:g}   # share of points that may be left out, to keep boxes small",
                *(
                    [f"piece = {method.piece:g}   # trips are cut at every so many minutes of the clock"]
                    if method.piece is not None
                    else ["# piece = 2   # cut trips at every so many minutes: smaller boxes, and nothing ties pieces"]
                ),
                f"cell = {method.cell:g}   # degrees of the grid that boxes stand on",
                f"slot = {method.slot:g}   # minutes of it",
                "",
            ]
        )


def profile_of(data: Trajectories, policy: TrajectoryPolicy) -> TrajectoryProfile:
    """Look at trajectories; of pieces at the trips that they are of."""
    pieces, data = data, whole_trips(data)
    metres, is_leg = leg_metres(data)
    seconds = np.diff(data.time)
    rng = np.random.default_rng(0)
    curve = tuple(
        (grid.cell, grid.slot, tuple(unicity(data, grid, n, N_ATTACKS, rng) for n in N_POINTS)) for grid in GRIDS
    )
    ends = [float(f(v)) for v in (data.latitude, data.longitude) for f in (np.min, np.max)]
    return TrajectoryProfile(
        len(data),
        data.n_persons,
        len(data.time),
        int((is_leg & (seconds >= STOP) & (metres < NEAR)).sum()),
        int((is_leg & (seconds >= GAP)).sum()),
        (ends[0], ends[1], ends[2], ends[3]),
        float(np.ptp(data.time)) / 3600,
        curve,
        policy,
        data.source.notes,
        0 if pieces.trips is None else len(pieces),
    )
