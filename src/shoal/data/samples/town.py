"""A town that does not exist: persons with a home and a work who go from one to the other, and sometimes elsewhere."""

from __future__ import annotations

import numpy as np

from shoal.data.trajectories.trajectories import METRES_A_DEGREE, Trajectories

CENTRE = (49.0, 8.0)
MONDAY = 1_212_364_800  # 2 June 2008
METRES_A_SECOND = 8.0
SECONDS_A_POINT = 120


def town(n_persons: int = 200, n_days: int = 1, seed: int = 0) -> Trajectories:
    """Trips of persons on some days: to work in the morning, home in the evening, and to a shop by one in three.

    Homes lie in some quarters around the centre, works in a few places of it. A way is straight, with a point every two
    minutes, and each point is some metres off.

    Examples
    --------
    >>> made = town(20)
    >>> made.n_persons, len(made) >= 40
    (20, True)
    """
    rng = np.random.default_rng(seed)
    quarters, works, shops = (rng.normal(0, spread, (n, 2)) for n, spread in ((8, 4000), (5, 1500), (4, 2500)))
    home = quarters[rng.integers(8, size=n_persons)] + rng.normal(0, 250, (n_persons, 2))
    work = works[rng.integers(5, size=n_persons)] + rng.normal(0, 60, (n_persons, 2))
    starts, ends, times, persons = [], [], [], []
    for day in range(n_days):
        midnight = MONDAY + 86_400 * day
        morning, evening = (midnight + 3600 * hour + rng.normal(0, 2400, n_persons) for hour in (8, 17))
        shopping = np.flatnonzero(rng.random(n_persons) < 1 / 3)
        shop = shops[rng.integers(4, size=len(shopping))]
        starts += [home, work, home[shopping]]
        ends += [work, home, shop]
        times += [morning, evening, evening[shopping] + 7200]
        persons += [np.arange(n_persons), np.arange(n_persons), shopping]
    start, end, when, person = (np.concatenate(parts) for parts in (starts, ends, times, persons))
    n_points = 2 + (np.hypot(*(end - start).T) / (METRES_A_SECOND * SECONDS_A_POINT)).astype(np.int64)
    trip = np.repeat(np.arange(len(start)), n_points)
    step = np.arange(len(trip)) - np.repeat(np.cumsum(n_points) - n_points, n_points)
    share = (step / (n_points - 1)[trip])[:, None]
    place = start[trip] * (1 - share) + end[trip] * share + rng.normal(0, 20, (len(trip), 2))
    latitude = CENTRE[0] + place[:, 0] / METRES_A_DEGREE
    longitude = CENTRE[1] + place[:, 1] / METRES_A_DEGREE / np.cos(np.radians(CENTRE[0]))
    seconds = (when[trip] + step * SECONDS_A_POINT).astype(np.int64)
    return Trajectories.of(latitude.round(6), longitude.round(6), seconds, trip, person[trip])
