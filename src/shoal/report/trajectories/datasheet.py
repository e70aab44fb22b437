"""The public datasheet of trajectories: made from the published boxes alone, and the number received."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shoal.report.page import classes_shown, draw_datasheet
from shoal.report.trajectories import words
from shoal.report.trajectories.pictures import heat_maps
from shoal.report.trajectories.report import map_of
from shoal.utility.trajectories.measure import box_sizes

if TYPE_CHECKING:
    from shoal.kinds.trajectories.release import TrajectoryRelease


def render_datasheet(release: TrajectoryRelease) -> str:
    """Write the datasheet as one HTML page."""
    boxes, policy = release.published, release.policy
    metres, minutes = box_sizes(boxes)
    cells, cell, after = map_of(boxes)
    return draw_datasheet(
        "trajectories_datasheet.html",
        release,
        words,
        noun="Trajectories",
        unit=policy.input.unit,
        n_trajectories=boxes.n_trajectories,
        n_boxes=len(boxes.sides),
        n_points=int(boxes.points.sum()),
        k=policy.k,
        tau=policy.method.tau,
        piece=policy.method.piece,
        many=policy.many.capitalize(),
        cell=policy.method.cell,
        slot=policy.method.slot,
        largest=(float(metres.max()), float(minutes.max())),
        map=heat_maps(
            cells, None, after, cell, "Where the published points are: the larger a square, the more of them."
        ),
        **classes_shown(None, ()),
        method=words.method(policy),
        uses=words.GOOD_USE,
        limits=words.limits(policy),
    )
