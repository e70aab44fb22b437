"""Trips cut at times of the clock into pieces, each of which is a trajectory of its own."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from shoal.data.trajectories.trajectories import Trajectories


def in_pieces(data: Trajectories, minutes: float) -> Trajectories:
    """The same points, cut at every so many minutes of the clock, in UTC; those that were pieces are cut anew.

    >>> trips = Trajectories.of([1.0, 1.1, 1.2], [5.0, 5.1, 5.2], [0, 119, 120], ["a", "a", "a"])
    >>> cut = in_pieces(trips, 2)
    >>> cut.starts.tolist(), cut.trips.tolist(), len(whole_trips(cut))
    ([0, 2, 3], [0, 0], 1)
    """
    trips = whole_trips(data)
    owners, window = trips.owners, trips.time // max(round(60 * minutes), 1)
    begins = np.flatnonzero(np.append(True, (np.diff(owners) != 0) | (np.diff(window) != 0)))
    of_trip = owners[begins]
    return replace(trips, starts=np.append(begins, len(window)), persons=trips.persons[of_trip], trips=of_trip)


def whole_trips(data: Trajectories) -> Trajectories:
    """The trips that pieces were cut from; trips as they are."""
    if data.trips is None:
        return data
    order = np.lexsort((data.time[data.starts[:-1]], data.trips))
    pieces = data.take(order)
    assert pieces.trips is not None
    first = np.flatnonzero(np.append(True, np.diff(pieces.trips) != 0))
    return replace(
        pieces, starts=np.append(pieces.starts[first], len(data.time)), persons=pieces.persons[first], trips=None
    )
