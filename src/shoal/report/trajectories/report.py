"""The owner's report of trajectories: original and release side by side. Aggregates only, never a trajectory."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from shoal.report.content import ReportContent, draw_page, picture
from shoal.report.page import points
from shoal.report.tables.words import number, percent
from shoal.report.trajectories import words

if TYPE_CHECKING:
    from shoal.arrays import Floats, Ints
    from shoal.data.trajectories.boxes import TrajectoryBoxes
    from shoal.kinds.trajectories.release import TrajectoryRelease

N_ACROSS = 32
_STEPS = (1, 2, 5)


def render_trajectory_report(release: TrajectoryRelease) -> str:
    """Write the report as one HTML page."""
    return draw_page(report_content(release), release.attacked)


def report_content(release: TrajectoryRelease) -> ReportContent:
    """Collect what the report shows."""
    boxes, policy, u = release.published, release.policy, release.utility
    return ReportContent.of_release(
        release,
        title=f"{len(boxes):,} {policy.many}",
        facts=[
            (f"{policy.many.capitalize()} published", f"{len(boxes):,}", f"of {len(release._original):,}"),
            ("Fewest persons", f"{release.guarantees[0].achieved:,.0f}", _sharing(release)),
            ("Stretch", f"{u.stretch_metres[0]:,.0f} m", f"and {u.stretch_minutes[0]:,.0f} minutes, the median"),
            ("Points left out", percent(1 - u.share_points), f"of {release.n_points:,}"),
        ],
        suppressed_sentence=release.suppressed_sentence,
        limits=points(words.limits(policy)),
        maps=_maps(release),
        stretch_sentence=u.sentence,
        measures=[
            (name, f"{one:,.{digits}f}", f"{two:,.{digits}f}", words.MEANINGS[name])
            for name, (one, two), digits in (
                ("Stretch, metres", u.stretch_metres, 0),
                ("Stretch, minutes", u.stretch_minutes, 0),
                ("Displacement, metres", u.displacement_metres, 0),
                ("Length, km", u.length_km, 1),
                ("Duration, minutes", u.duration_minutes, 0),
            )
        ],
        others=[
            (name, told, words.MEANINGS[name])
            for name, told in (
                ("Origins and destinations", percent(u.flow_error)),
                ("Heat map", number(u.heat_correlation)),
                ("Counts in ranges", percent(u.range_error)),
            )
        ],
        method=words.method(policy),
    )


def _sharing(release: TrajectoryRelease) -> str:
    """Of what the fewest persons share one."""
    tau = release.policy.method.tau
    return f"share one of {release.published.n_trajectories:,} lists" if tau is None else f"alike in {tau:g} minutes"


def map_of(boxes: TrajectoryBoxes) -> tuple[list[tuple[float, float]], float, list[float]]:
    """The cells of a map of the published points, how wide they are in degrees, and the share of points in each."""
    from shoal.utility.trajectories.measure import middles

    lat, lon, _ = middles(boxes)
    cell = _cell(max(_most(lat), _most(lon)))
    places, inverse = np.unique(_squares(lat, lon, cell), axis=0, return_inverse=True)
    shares = np.bincount(inverse.reshape(-1), boxes.points) / boxes.points.sum()
    return [tuple(p) for p in (places * cell).round(6).tolist()], cell, shares.tolist()


def _maps(release: TrajectoryRelease) -> dict[str, object]:
    """Both maps, over the cells that hold published points: a cell that is left out is not shown before either."""
    cells, cell, after = map_of(release.published)
    original = release._original
    known = {(round(s / cell), round(w / cell)): i for i, (s, w) in enumerate(cells)}
    places, counts = np.unique(_squares(original.latitude, original.longitude, cell), axis=0, return_counts=True)
    before = np.zeros(len(cells))
    for place, n in zip(places.astype(np.int64).tolist(), counts.tolist(), strict=True):
        if tuple(place) in known:
            before[known[tuple(place)]] = n
    shown = before.sum() / counts.sum()
    return picture(
        "heat_maps", cells=cells, before=(before / max(before.sum(), 1)).tolist(), after=after, cell=cell,
        alt=f"Where points are, before and after: the larger a square, the more of them. {percent(shown)} of the "
        "original points lie in the squares that are drawn.",
    )  # fmt: skip


def _squares(lat: Floats, lon: Floats, cell: float) -> Ints:
    return np.floor(np.stack([lat, lon], axis=1) / cell).astype(np.int64)


def _most(values: Floats) -> float:
    return float(np.subtract(*np.percentile(values, [99, 1])))


def _cell(span: float) -> float:
    """A round width of which some dozens span the map."""
    power = 10.0 ** np.floor(np.log10(max(span, 1e-4) / N_ACROSS))
    return float(next(s * power for s in (*_STEPS, 10) if s * power >= span / N_ACROSS * 0.999))
