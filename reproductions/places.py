"""Trajectories of San Francisco's cabs: what GLOVE costs and stops, by k and the limits of boxes.

Run ``python -m reproductions.places``; it writes docs/reproductions/places.md from ../shared/data/sf_cabs.
"""

from __future__ import annotations

import resource
import time
from pathlib import Path

import shoal
from shoal.kinds.trajectories.policy import TrajectoryPolicy
from shoal.kinds.trajectories.release import TrajectoryRelease

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT.parent / "shared" / "data" / "sf_cabs" / "cabs_20080608.parquet"
PAGE = ROOT / "docs" / "reproductions" / "places.md"
RUNS = ((2, 1000.0), (5, 1000.0), (5, 500.0))
HEADINGS = (
    "k",
    "limit, m",
    "CPU, s",
    "trips",
    "points",
    "stretch, m (95 %)",
    "stretch, min (95 %)",
    "to the middle, m",
    "singled out by 4 points",
    "home and work",
    "top places",
    "membership, area",
    "flows",
    "heat map",
)
TEXT = """# Trajectories of cabs

{n_points:,} points of {n_trips:,} trips of {n_persons:,} cabs on one day; a fifth of the cabs, with all their trips,
was held out, so that attacks have others to be compared on. Boxes last an hour at most and stand on a grid of 0.001
degrees and 5 minutes. Made by `python -m reproductions.places`.

{table}

*Trips* and *points* are the shares that stand in the release. *Stretch* is the longer side and the duration of the
box of a published point: the median and the 95th percentile. *To the middle* is the median way from a point to the
middle of its box. *Singled out* is before (by cells of 0.001 degrees and 15 minutes) and after. *Home and work* and
*top places* are how often a guess among those who fit is right, at most. *Membership* is the area under the curve
against held-out cabs (0.5 is blind). *Flows* is the total variation between origins and destinations, *heat map* the
correlation of points in cells of 0.01 degrees. The process took {memory:,} MB at most.

None of the 300 trips that each attack drew is singled out. The median stretch of 500 m and 30 minutes that was aimed at
is met by none of them at k = 5: boxes of at most 500 m keep the metres, but not the minutes, and lose most points. At
k = 5 a list has about two boxes, so lengths and durations of trips are not kept. At k = 2 whoever has a whole trip can
often tell whether it was in the data.
"""


def row(k: int, metres: float) -> tuple[str, ...]:
    """One release, and what was measured of it."""
    start = time.process_time()
    release: TrajectoryRelease = shoal.anonymize(DATA, TrajectoryPolicy.of(k=k, metres=metres), hold_out=0.2, seed=1)
    seconds = time.process_time() - start
    u, found = release.utility, {r.attack: r for r in release.attacked.results}
    points = found["known-points"].details
    return (
        str(k),
        f"{metres:g}",
        f"{seconds:.0f}",
        f"{100 * u.share_trajectories:.0f} %",
        f"{100 * u.share_points:.0f} %",
        f"{u.stretch_metres[0]:.0f} ({u.stretch_metres[1]:.0f})",
        f"{u.stretch_minutes[0]:.0f} ({u.stretch_minutes[1]:.0f})",
        f"{u.displacement_metres[0]:.0f}",
        f"{100 * points['singled_out_of_original']:.0f} % → {100 * points['singled_out']:.0f} %",
        f"{100 * found['home-and-work'].main.value:.1f} %",
        f"{100 * found['top-places'].main.value:.1f} %",
        f"{found['membership'].details['area_under_curve']:.2f}",
        f"{100 * u.flow_error:.0f} %",
        f"{u.heat_correlation:.2f}",
    )


def main() -> None:
    """Write the page."""
    profile = shoal.profile(DATA, TrajectoryPolicy())
    rows = [HEADINGS, ("---:",) * len(HEADINGS), *(row(k, metres) for k, metres in RUNS)]
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    table = "\n".join(f"| {' | '.join(cells)} |" for cells in rows)
    counts = {"n_points": profile.n_points, "n_trips": profile.n_trajectories, "n_persons": profile.n_persons}
    PAGE.write_text(TEXT.format(table=table, memory=memory, **counts), encoding="utf-8")


if __name__ == "__main__":
    main()
