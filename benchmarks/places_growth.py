"""How GLOVE grows with the number of points: days of San Francisco's cabs, each moved a little, one after another.

Run ``python -m benchmarks.places_growth [POINTS ...]``; it prints CPU seconds, peak memory and the exponent.
"""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from shoal.data.trajectories.files import read_trajectories
from shoal.data.trajectories.grid import Grid3D
from shoal.data.trajectories.trajectories import Trajectories
from shoal.trajectories.glove import Glove

DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "sf_cabs" / "cabs_20080608.parquet"
SIZES = (60_000, 120_000, 240_000, 480_000, 1_000_000)
DAY = 86_400


def cabs(n_points: int) -> Trajectories:
    """About so many points: a part of the trips of the day, or several days of them, each point moved a little."""
    day = read_trajectories(DATA)
    rng = np.random.default_rng(0)
    n_days = -(-n_points // len(day.time))
    lat, lon, when, trip, person = [], [], [], [], []
    for i in range(n_days):
        lat.append(day.latitude + rng.normal(0, 0.0005, len(day.time)))
        lon.append(day.longitude + rng.normal(0, 0.0005, len(day.time)))
        when.append(day.time + DAY * i)
        trip.append(day.owners + len(day) * i)
        person.append(day.persons[day.owners])
    made = Trajectories.of(*(np.concatenate(parts) for parts in (lat, lon, when, trip, person)))
    kept = round(len(made) * n_points / len(made.time))
    return made.take(np.sort(rng.permutation(len(made))[:kept])) if n_points < len(made.time) else made


def grown(sizes: Sequence[int] = SIZES) -> Iterator[tuple[int, float, int, float]]:
    """Of each size the points, CPU seconds, the process's greatest memory so far in MB, and the share left out."""
    glove = Glove(5, 5000, 240, Grid3D(0.0005, 300))
    glove.group(cabs(2000))  # compiled before it is timed
    for size in sizes:
        data = cabs(size)
        start = time.process_time()
        boxes, _ = glove.group(data)
        seconds = time.process_time() - start
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
        yield len(data.time), seconds, memory, 1 - int(boxes.points.sum()) / len(data.time)


def exponent(measured: Sequence[tuple[float, ...]]) -> float:
    """The power of the number of points that the time grows with."""
    points, times = np.log([row[:2] for row in measured]).T
    return float(np.polyfit(points, times, 1)[0])


def main(sizes: Sequence[int]) -> None:
    """Print a line for each size."""
    measured = []
    for points, seconds, memory, lost in grown(sizes):
        measured.append((points, seconds))
        print(f"{points:,} points: {seconds:.1f} s, {memory:,} MB, {100 * lost:.1f} % left out", flush=True)
    if len(measured) > 1:
        print(f"exponent {exponent(measured):.2f}")


if __name__ == "__main__":
    main(tuple(int(size) for size in sys.argv[1:]) or SIZES)
