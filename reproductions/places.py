"""Trajectories of San Francisco's cabs: what GLOVE and k^(tau, eps) cost and stop, beside simpler ways.

Run ``python -m reproductions.places``; it writes docs/reproductions/places.md from ../shared/data/sf_cabs. Parts can be
measured one at a time, such as ``python -m reproductions.places curve``; ``page`` only writes it anew.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import shoal
from benchmarks.places_growth import exponent, grown
from reproductions.place_baselines import found_whole, mean_path, moved_within, nearest_is_own, swapped
from shoal.arrays import Floats
from shoal.attack.attack import Attacked
from shoal.attack.run import attack_case
from shoal.attack.trajectories import TRAJECTORY_ATTACKS
from shoal.attack.trajectories.case import TrajectoryCase
from shoal.attack.trajectories.recovery import TrajectoryRecovery
from shoal.data.trajectories.files import read_trajectories
from shoal.data.trajectories.grid import Grid3D
from shoal.data.trajectories.pieces import in_pieces
from shoal.data.trajectories.trajectories import METRES_A_DEGREE, Trajectories
from shoal.kernels.trajectories.cuts import first_boxes
from shoal.kinds.trajectories.policy import TrajectoryPolicy
from shoal.kinds.trajectories.release import TrajectoryRelease
from shoal.report.verdict import judge_release
from shoal.trajectories.glove import Glove
from shoal.utility.trajectories.measure import box_sizes, measure_trajectories, middles

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT.parent / "shared" / "data" / "sf_cabs" / "cabs_20080608.parquet"
PAGE = ROOT / "docs" / "reproductions" / "places.md"
KEPT = Path(__file__).resolve().parent / "results" / "places.json"
PARTS = ("curve", "readings", "pieces", "day", "baselines", "growth")
GRID = Grid3D(0.0005, 300)
HOURS = (6, 10)
DELTAS = (200, 500, 1000)
SHARES = (0.0, 0.05, 0.1, 0.2, 0.4)
PIECES = (None, 30, 10, 5, 3, 2)
RELEASES: tuple[dict[str, Any], ...] = (
    {"k": 5},
    {"k": 2},
    {"k": 2, "unit": "person", "suppression": 1.0},
    {"k": 2, "unit": "person", "tau": 30, "suppression": 1.0},
)
DAY: tuple[dict[str, Any], ...] = ({"k": 5, "piece": 2}, {"k": 2, "piece": 2})
OF_DAY = (
    "k", "pieces", "CPU, s", "points left out", "stretch, m (95 %)", "stretch, min (95 %)", "to the middle, m",
    "singled out by 4 points", "next by speed", "next piece", "membership, area", "heat map", "verdict",
)  # fmt: skip
HEADINGS = (
    "trajectories", "k", "CPU, s", "points left out", "stretch, m (95 %)", "stretch, min (95 %)", "to the middle, m",
    "singled out by 4 points", "home and work", "top places", "next trip", "membership, area", "flows", "heat map",
)  # fmt: skip
READINGS = (
    "published", "k", "left out", "longer side, m (95 %)", "both sides more than a cell, m (95 %)",
    "to the middle, m (95 %)", "lasts, min (95 %)", "to the middle, min (95 %)",
)  # fmt: skip
CURVE = ("k", "points that may be left out", "left out", "stretch, m (95 %)", "stretch, min (95 %)", "flows")
MISSING = "Whole releases with their attacks were not measured yet: `python -m reproductions.places 0 1 2 3` does it."
MEANINGS = """

*Stretch* is the longer side and the duration of the box of a published point: the median and the 95th percentile. *To
the middle* is the median way from a point to the middle of its box. *Singled out* is before (by cells of 0.001 degrees
and 15 minutes) and after; with tau, only points that lie within tau of one another are known. *Home and work* and *top
places* are how often a guess among those who fit is right, at most, and behind the stroke the same for held-out cabs.
*Next trip* is how often the published trajectory of the next trip of a cab is guessed, and behind the stroke by chance.
*Membership* is the area under the curve against held-out cabs (0.5 is blind). *Flows* is the total variation between
origins and destinations, *heat map* the correlation of points in cells of 0.01 degrees. The process took {memory:,} MB
at most."""
TEXT = """# Trajectories of cabs

{n_points:,} points of {n_trips:,} trips of {n_persons:,} cabs on one day. For the attacks a fifth of the cabs, with all
their trips, was held out. Boxes stand on a grid of 0.0005 degrees and 5 minutes; none is larger than 5 km and 4 hours.
Made by `python -m reproductions.places`.

{releases}

## Three readings of stretch

GLOVE on the whole day, nobody held out, a tenth of the points may be left out.

{readings}

The *longer side* of a box, and how long it *lasts*, are how coarse a published point is: what this page calls stretch.
Gramaglia and Fiore's effort of a merge (section 4), as we read it, adds up by how much a sample has to be stretched
along both axes: *both sides more than a cell* of the grid, the cell being the sample. *To the middle* is how far off
the middle of the box is from the point, the error of an analyst who takes one for the other. A median of 500 m and 30
minutes was aimed at, without saying of which. Whole trips at k = 2 and pieces of two minutes at k = 5 meet it by the
first and the last reading, whole trips at k = 5 by the last alone, and nothing does by the second.

## What is left out, and how large boxes are

Trips that begin between {first} and {last} o'clock (UTC), {n_window:,} points, without limits of boxes: the more points
may be left out, the smaller the boxes of the others.

{curve}

*Stretch* is the longer side and the duration of the box of a published point: the median and the 95th percentile.
*Flows* is the total variation between origins and destinations in cells of 0.01 degrees.

A median stretch below 500 m and 30 minutes was aimed at. At k = 2 it is met where a twentieth of the points or more may
be left out. At k = 5 the minutes are about met, the metres by none of these: whole trips of five cabs that go the same
way within half an hour are rare, so boxes must hold ways that are some streets apart.

## Pieces of trips

The same window, k = 5, a tenth of the points may be left out, no box larger than 5 km and 4 hours; trips are cut at
every so many minutes of the clock, and each piece stands for itself: the k pieces of a group are of k cabs.

{pieces}

*Next piece* is how often the published trajectory of the next piece of a cab is guessed, and behind the stroke by
chance. In this window pieces of two minutes meet the aim at k = 5, and those of three minutes nearly do, at the price
that no way is published for longer, and that nothing is promised to one who knows points in several pieces.

Releases of the whole day with `piece = 2`, a fifth of the cabs held out:

{day}

*Singled out* is by four points of a whole trip, from several pieces. *Next by speed* is the attack `recovery`, with
chance behind the stroke. *Next piece* is the attack `next-piece`: how often the piece that follows a known one is
in all boxes of the guess, and behind the stroke the same for held-out cabs, who are not in the release: only what is
more comes from it.

## Growth

Days of the same cabs, one after another, each point moved a little; GLOVE alone, k = 5.

{growth}

The time grows with the points to the power of {exponent:.2f}.

## Beside simpler ways

The same window, k = 5.

{baselines}

*Mean path* is microaggregation: every trip is replaced by the mean of its group of GLOVE at ten stations; *moved* is
the way from a station to its mean. All k of a group get the same path, and its points are where nobody was.
*SwapMob* swaps what follows where two cabs meet, in a cell of 0.001 degrees and a minute: every point is true, and
four points still stand on one published trajectory alone as often as the last column says. *(k, delta)* is the
definition of Never Walk Alone and W4M (Abul, Bonchi and Nanni, ICDE 2008 and Information Systems 2010): each trip is
moved towards the mean of its group until it lies within half of delta, at the same times. The k of a group stay k
different lines, and the one nearest to four known stations is that person's as often as the last column says, as
Trujillo-Rasua and Domingo-Ferrer (Information Sciences 2013) warned. None of them promises what can be checked from
what is published, so they are not offered. mdl-anonymizer is not on the package index, so it was not run.
"""


def released(asked: dict[str, Any]) -> tuple[TrajectoryRelease, float, Attacked[Any]]:
    """A release, the seconds that it took, and what attacks found, however long they take."""
    start = time.process_time()
    release: TrajectoryRelease = shoal.anonymize(DATA, TrajectoryPolicy.of(**asked), hold_out=0.2, seed=1)
    seconds = time.process_time() - start
    return release, seconds, attack_case("trajectories", release.case, seed=0, has_others=True)


def _singled_out(details: dict[str, float]) -> str:
    return f"{100 * details['singled_out_of_original']:.0f} % → {100 * details['singled_out']:.0f} %"


def release_row(asked: dict[str, Any]) -> tuple[str, ...]:
    """One release, and what was measured of it."""
    release, seconds, attacked = released(asked)
    u, found = release.utility, {r.attack: r for r in attacked.results}
    points = found["known-points"].details
    return (
        {"trip": "trips", "person": "cabs"}[asked.get("unit", "trip")] + (", tau = 30 min" if "tau" in asked else ""),
        str(asked["k"]),
        f"{seconds:.0f}",
        f"{100 * (1 - u.share_points):.0f} %",
        *_stretch(u),
        f"{u.displacement_metres[0]:.0f}",
        _singled_out(points),
        *(_rates(found, name) for name in ("home-and-work", "top-places", "recovery")),
        f"{found['membership'].details['area_under_curve']:.2f}",
        f"{100 * u.flow_error:.0f} %",
        f"{u.heat_correlation:.2f}",
    )


def _rates(found: dict[str, Any], name: str) -> str:
    if name not in found:
        return "–"
    other = found[name].control or found[name].baseline
    return f"{100 * found[name].main.value:.1f} / {100 * other.value:.1f} %"


def _stretch(u: Any) -> tuple[str, str]:
    metres, minutes = u.stretch_metres, u.stretch_minutes
    return f"{metres[0]:.0f} ({metres[1]:.0f})", f"{minutes[0]:.0f} ({minutes[1]:.0f})"


def curve_row(data: Trajectories, k: int, share: float) -> tuple[str, ...]:
    """One point of the curve."""
    boxes, groups = Glove(k, 1e6, 1e5, GRID, share).group(data)
    u = measure_trajectories(data, boxes, groups)
    lost = f"{100 * (1 - u.share_points):.1f} %"
    return str(k), f"{100 * share:g} %", lost, *_stretch(u), f"{100 * u.flow_error:.0f} %"


def readings_row(name: str, data: Trajectories, k: int) -> tuple[str, ...]:
    """How far points were stretched, read in three ways."""
    boxes, groups = Glove(k, 5000, 240, GRID, 0.1).group(data)
    cells = GRID.cells(data.latitude, data.longitude, data.time)
    of_point = first_boxes(boxes.sides, boxes.starts, cells, groups[data.owners])
    shown = np.flatnonzero(of_point >= 0)
    box = of_point[shown]
    metres, minutes = box_sizes(boxes)
    latitude, longitude, when = middles(boxes)
    spans, north = boxes.sides[:, 1::2] - boxes.sides[:, ::2], GRID.cell * METRES_A_DEGREE
    both = (spans[:, 0] + spans[:, 1] * np.cos(np.radians(latitude))) * north
    off = np.hypot(
        latitude[box] - data.latitude[shown],
        (longitude[box] - data.longitude[shown]) * np.cos(np.radians(data.latitude[shown])),
    )
    early = np.abs(when[box] - data.time[shown]) / 60
    side, lasts = _moved(metres[box], minutes[box])
    middle, apart = _moved(off * METRES_A_DEGREE, early)
    lost = f"{100 * (1 - len(shown) / len(of_point)):.1f} %"
    return name, str(k), lost, side, _moved(both[box], early)[0], middle, lasts, apart


def pieces_row(data: Trajectories, minutes: int | None) -> tuple[str, ...]:
    """Trips, or pieces of them, made alike."""
    pieces = data if minutes is None else in_pieces(data, minutes)
    boxes, groups = Glove(5, 5000, 240, GRID, 0.1).group(pieces)
    pairs = np.unique(np.column_stack([groups, pieces.persons])[groups >= 0], axis=0)
    assert np.bincount(pairs[:, 0]).min() >= 5
    u = measure_trajectories(pieces, boxes, groups)
    found = TrajectoryRecovery().run(TrajectoryCase(boxes, pieces, None), np.random.default_rng(0))
    lost = f"{100 * (1 - u.share_points):.1f} %"
    told = _rates({"recovery": found}, "recovery")
    return "whole trips" if minutes is None else f"{minutes} min", f"{len(pieces):,}", lost, *_stretch(u), told


def day_row(asked: dict[str, Any]) -> tuple[str, ...]:
    """A release of pieces of the whole day, and what was measured of it."""
    release, seconds, attacked = released(asked)
    u, found = release.utility, {r.attack: r for r in attacked.results}
    points = found["known-points"].details
    return (
        str(asked["k"]),
        f"{release.records['out']:,}",
        f"{seconds:.0f}",
        f"{100 * (1 - u.share_points):.0f} %",
        *_stretch(u),
        f"{u.displacement_metres[0]:.0f}",
        _singled_out(points),
        *(_rates(found, name) for name in ("recovery", "next-piece")),
        f"{found['membership'].details['area_under_curve']:.2f}",
        f"{u.heat_correlation:.2f}",
        judge_release(release.grounds(), attacked, TRAJECTORY_ATTACKS).level,
    )


def baseline_rows(data: Trajectories) -> list[tuple[str, ...]]:
    """The mean path, swapping, and (k, delta)."""
    groups = Glove(5, 1e6, 1e5, GRID, 0.0).group(data)[1]
    metres, minutes = mean_path(data, groups)
    rng = np.random.default_rng(0)
    before = found_whole(data, data.persons[data.owners].astype(np.int64), 300, rng)
    after = found_whole(data, swapped(data, rng), 300, rng)
    rows: list[tuple[str, ...]] = [
        ("as it stands", "0", "0", f"{100 * before:.0f} %"),
        ("mean path", *_moved(metres, minutes), "none: k share each path"),
        ("SwapMob", "0", "0", f"{100 * after:.0f} %"),
    ]
    for delta in DELTAS:
        path, shown, *moved = moved_within(data, groups, delta)
        rows.append((f"(k, delta), {delta} m", *_moved(*moved), f"{100 * nearest_is_own(path, shown, 300, rng):.0f} %"))
    return rows


def _moved(metres: Floats, minutes: Floats) -> tuple[str, str]:
    (half, most), (long, longest) = (np.percentile(v, [50, 95]) for v in (metres, minutes))
    return f"{half:.0f} ({most:.0f})", f"{long:.0f} ({longest:.0f})"


def table(headings: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    """As Markdown."""
    lines = [headings, ("---:",) * len(headings), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def measure(part: str) -> Any:
    """The figures of one part of the page."""
    if part == "growth":
        measured = list(grown())
        told = [(f"{n:,}", f"{cpu:.1f}", f"{mb:,}", f"{100 * lost:.1f} %") for n, cpu, mb, lost in measured]
        return {"rows": told, "exponent": exponent(measured)}
    if part == "day":
        return [day_row(asked) for asked in DAY]
    if part not in PARTS:
        return [*release_row(RELEASES[int(part)]), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10]
    data = read_trajectories(DATA)
    hour = data.time[data.starts[:-1]] % 86_400 / 3600
    window = data.take(np.flatnonzero((hour >= HOURS[0]) & (hour < HOURS[1])))
    if part == "baselines":
        return baseline_rows(window)
    if part == "readings":
        pieces = in_pieces(data, 2)
        return [readings_row(*way) for way in (("trips", data, 5), ("trips", data, 2), ("2 min", pieces, 5))]
    if part == "pieces":
        return [pieces_row(window, minutes) for minutes in PIECES]
    counts = {"n_points": len(data.time), "n_trips": len(data), "n_persons": data.n_persons}
    rows = [curve_row(window, k, share) for k in (5, 2) for share in SHARES]
    return {"counts": counts | {"n_window": len(window.time)}, "rows": rows}


def main(parts: Sequence[str]) -> None:
    """Measure some parts, or all, keep their figures, and write the page from what is there."""
    for part in parts or (*PARTS, *map(str, range(len(RELEASES)))):
        made = {} if part == "page" else {part: measure(part)}
        known = (json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.exists() else {}) | made
        KEPT.write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")
    rows = [known[str(i)] for i in range(len(RELEASES)) if str(i) in known]
    if set(PARTS) - set(known):
        return
    memory = max((row[-1] for row in rows), default=0)
    page = TEXT.format(
        **known["curve"]["counts"], first=HOURS[0], last=HOURS[1],
        releases=table(HEADINGS, [row[:-1] for row in rows]) + MEANINGS.format(memory=memory) if rows else MISSING,
        readings=table(READINGS, known["readings"]), curve=table(CURVE, known["curve"]["rows"]),
        pieces=table(("pieces", "number", "left out", *CURVE[3:5], "next piece"), known["pieces"]),
        day=table(OF_DAY, known["day"]),
        growth=table(("points", "CPU, s", "memory of the process, MB", "left out"), known["growth"]["rows"]),
        exponent=known["growth"]["exponent"],
        baselines=table(("way", "moved, m (95 %)", "moved, min (95 %)", "singled out by 4 points"), known["baselines"]),
    )  # fmt: skip
    PAGE.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
