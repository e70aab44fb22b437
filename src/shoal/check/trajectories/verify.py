"""Published boxes: each list of them is shared by at least k persons, every one of whom was in every box of it.

From the boxes alone: the persons who share each list are k or more by the counts of the file, list by list, as equal
lists may be of the same persons; no box is larger than the limits. With the original: as many persons as a list tells
of have a point in every box of it. With the groups too, which the owner may have kept:

- the persons and trips of a group are as many as the file says, and k or more;
- every one of them has a point in every box;
- every box is the hull, on the grid, of the points of its group that lie in it, and holds as many as the file says.

References
----------
M. Gramaglia, M. Fiore, "Hiding mobile traffic fingerprints with GLOVE", CoNEXT 2015, section 3.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shoal.arrays import Ints, Mask
from shoal.check.guarantee import Guarantee, count
from shoal.check.trajectories.windows import slide
from shoal.check.verdict import Verdict
from shoal.data.trajectories.boxes import TrajectoryBoxes
from shoal.data.trajectories.trajectories import Trajectories
from shoal.errors import DataError

METRES = 6_371_008.8 * np.pi / 180
"""Of a degree from south to north."""
SLACK = 1.001  # two roundings of the earth
NEEDS_ORIGINAL = (
    "That {k} persons or more were in every box of a trajectory, and that the boxes hold nothing else, needs the "
    "original and the groups that the owner may have kept (--original and --private)."
)
SEVERAL = " To one who knows points in several pieces of a person nothing is promised."
PAIRS_AT_ONCE = 1 << 21


@dataclass(frozen=True)
class TrajectoryAsked:
    """What published boxes are held to: k persons, the largest box, and the minutes of tau or of a piece."""

    k: int
    metres: float
    minutes: float
    tau: float | None = None
    piece: float | None = None


@dataclass(frozen=True)
class TrajectoryEvidence:
    """Secrets to check boxes against: the original, and the published trajectory of each original one, or -1."""

    original: Trajectories | None = None
    groups: Ints | None = None


def verify_boxes(boxes: TrajectoryBoxes, asked: TrajectoryAsked, evidence: TrajectoryEvidence | None = None) -> Verdict:
    """Recompute what can be recomputed."""
    if not boxes.n_trajectories:
        raise DataError("nothing would be published: no trajectories are alike; lower k, or allow larger boxes")
    secrets = evidence or TrajectoryEvidence()
    shared = _shared(boxes, asked) if asked.tau is None else _windows(boxes, asked, asked.tau)
    found = [shared, _sizes(boxes, asked)]
    if secrets.original is None or secrets.groups is None:
        strangers = () if secrets.original is None else _too_few_fit(boxes, secrets.original)
        return Verdict(tuple(found), (NEEDS_ORIGINAL.format(k=asked.k),), strangers)
    if len(secrets.groups) != len(secrets.original) or secrets.groups.max(initial=-1) >= boxes.n_trajectories:
        told = "The groups that were kept do not fit the original and the published trajectories: they are of others."
        return Verdict(tuple(found), (told,))
    covered = _covered if asked.tau is None else _own_covered
    return Verdict((*found, covered(boxes, secrets.original, secrets.groups, asked)))


def _too_few_fit(boxes: TrajectoryBoxes, original: Trajectories) -> tuple[str, ...]:
    """Lists of boxes that fewer persons have been in than they tell of, whoever stands in the group."""
    cell, slot = boxes.grid.cell, boxes.grid.slot
    when = np.floor_divide(original.time, slot)
    order = np.argsort(when, kind="stable")
    place = np.stack([np.floor(original.latitude / cell), np.floor(original.longitude / cell)], axis=1)[order]
    whose = original.persons[original.owners][order].astype(np.int64)
    low = np.searchsorted(when[order], boxes.sides[:, 4], "left")
    n_points = np.searchsorted(when[order], boxes.sides[:, 5], "right") - low
    width = int(original.persons.max()) + 1
    visits = []
    cuts = np.unique(np.searchsorted(np.cumsum(n_points), np.arange(0, int(n_points.sum()) + 1, PAIRS_AT_ONCE)))
    for first, end in zip(cuts, [*cuts[1:], len(n_points)], strict=True):
        box = np.repeat(np.arange(first, end), n_points[first:end])
        point = np.arange(len(box)) - np.repeat(np.cumsum(n_points[first:end]), n_points[first:end])
        point += (low + n_points)[box]
        sides, where = boxes.sides[box], place[point]
        inside = ((sides[:, [0, 2]] <= where) & (where <= sides[:, [1, 3]])).all(axis=1)
        visits.append(np.unique(box[inside] * width + whose[point[inside]]))
    seen = np.concatenate(visits)
    pairs, counts = np.unique(boxes.owners[seen // width] * width + seen % width, return_counts=True)
    in_all = counts == np.diff(boxes.starts)[pairs // width]
    n_short = int((np.bincount(pairs[in_all] // width, minlength=boxes.n_trajectories) < boxes.persons).sum())
    return (f"{n_short:,} published trajectories tell of more persons than have been in all their boxes",) * (
        n_short > 0
    )


def _shared(boxes: TrajectoryBoxes, asked: TrajectoryAsked) -> Guarantee:
    failing = (boxes.persons < asked.k) | (np.diff(boxes.starts) < 1) | (boxes.persons > boxes.trips)
    least, n, n_failing = int(boxes.persons.min()), boxes.n_trajectories, int(failing.sum())
    one, more = ("trajectory", "") if asked.piece is None else (f"piece of {asked.piece:g} minutes", SEVERAL)
    return Guarantee(
        "k-anonymity", "trajectories", "", {"k": asked.k}, float(least), not n_failing, n, n_failing, (),
        f"Every published {one} is shared by at least {count(least, 'person')} (required: {asked.k}).{more}"
        if not n_failing
        else f"Of {n:,} published trajectories {n_failing} are shared by fewer than {asked.k} persons, the least by "
        f"{least}.",
    )  # fmt: skip


def _windows(boxes: TrajectoryBoxes, asked: TrajectoryAsked, tau: float) -> Guarantee:
    n_tau = round(60 * tau / boxes.grid.slot)
    found = slide(boxes, asked.k, n_tau, n_tau)
    is_alone = bool((boxes.persons != 1).any() or (boxes.trips != 1).any())
    minutes, failing = found.most_slots * boxes.grid.slot / 60, found.n_few + found.n_long
    return Guarantee(
        "k-tau-eps", "trajectories", "", {"k": asked.k, "tau": tau, "eps": tau}, float(found.fewest),
        not failing and not is_alone, found.n_windows, failing, (),
        f"In every window of {tau:g} minutes at least {found.fewest} trajectories have the same boxes "
        f"(required: {asked.k}), and share at most {minutes:g} minutes more (required: {tau:g})."
        if not failing and not is_alone
        else f"Of {found.n_windows:,} windows of {tau:g} minutes {found.n_few:,} are those of fewer than {asked.k} "
        f"trajectories, and in {found.n_long:,} these share more than {tau:g} minutes besides.",
    )  # fmt: skip


def _sizes(boxes: TrajectoryBoxes, asked: TrajectoryAsked) -> Guarantee:
    sides, cell = boxes.sides, boxes.grid.cell
    high = (sides[:, 1] - sides[:, 0] + 1) * cell * METRES
    nearest = np.minimum(np.abs(sides[:, 0] + 0.5), np.abs(sides[:, 1] + 0.5)) * cell
    wide = (sides[:, 3] - sides[:, 2] + 1) * cell * METRES * np.cos(np.radians(np.minimum(nearest, 90.0)))
    minutes = (sides[:, 5] - sides[:, 4] + 1) * boxes.grid.slot / 60
    is_large = (np.maximum(high, wide) > asked.metres * SLACK) | (minutes > asked.minutes)
    is_large |= (sides[:, ::2] > sides[:, 1::2]).any(axis=1)
    n_failing = int(is_large.sum())
    largest = f"{np.maximum(high, wide).max():,.0f} m and {minutes.max():,.0f} minutes"
    return Guarantee(
        "box-size", "", "", {"metres": asked.metres, "minutes": asked.minutes}, float(np.maximum(high, wide).max()),
        not n_failing, len(sides), n_failing, (),
        f"No box is larger than {largest} (required: {asked.metres:,.0f} m and {asked.minutes:g} minutes)."
        if not n_failing
        else f"Of {len(sides):,} boxes {n_failing} pass the limits of {asked.metres:,.0f} m and {asked.minutes:g} "
        f"minutes; the largest takes {largest}.",
    )  # fmt: skip


def _covered(boxes: TrajectoryBoxes, original: Trajectories, groups: Ints, asked: TrajectoryAsked) -> Guarantee:
    n = boxes.n_trajectories
    members = np.flatnonzero(groups >= 0)
    trips = np.bincount(groups[members], minlength=n)
    pairs = np.unique(np.stack([groups[members], original.persons[members]], axis=1), axis=0)
    persons = np.bincount(pairs[:, 0], minlength=n)
    hulls, points, visitors = _recomputed(boxes, original, groups)
    bad: dict[str, Mask] = {
        f"fewer than {asked.k} persons stand in the group": persons < asked.k,
        "persons or trips are not as many as the file says": (persons != boxes.persons) | (trips != boxes.trips),
        "not every member was in every box": _any(boxes, visitors != trips[boxes.owners]),
        "a box is not the hull of the points in it": _any(boxes, (hulls != boxes.sides).any(axis=1)),
        "points are not as many as the file says": _any(boxes, points != boxes.points),
        "a piece goes on beyond a cut of the clock": _uncut(original, groups, asked, n),
    }
    failing = np.logical_or.reduce(list(bad.values()))
    reasons = [f"in {int(mask.sum())} {why}" for why, mask in bad.items() if mask.any()]
    least = int(persons.min())
    return Guarantee(
        "boxes-cover", "", "", {"k": asked.k}, float(least), not failing.any(), n, int(failing.sum()), (),
        f"In every box of a published trajectory there were at least {least} persons, the same in all its boxes, and "
        "the box is the hull of their points in it."
        if not failing.any()
        else f"Of {n:,} published trajectories {int(failing.sum())} are not what they stand for: "
        f"{', and '.join(reasons)}.",
    )  # fmt: skip


def _uncut(original: Trajectories, groups: Ints, asked: TrajectoryAsked, n: int) -> Mask:
    """Which published pieces stand for one that was not cut where the clock says."""
    if asked.piece is None:
        return np.zeros(n, dtype=bool)
    seconds = max(round(60 * asked.piece), 1)
    begins, ends = original.time[original.starts[:-1]], original.time[original.starts[1:] - 1]
    is_long = (begins // seconds != ends // seconds) & (groups >= 0)
    return np.asarray(np.bincount(groups[is_long], minlength=n) > 0)


def _own_covered(boxes: TrajectoryBoxes, original: Trajectories, groups: Ints, asked: TrajectoryAsked) -> Guarantee:
    """Of trajectories that are each of one person: who shares a box has a point in it, and it is the hull of theirs."""
    n = boxes.n_trajectories
    members = np.flatnonzero(groups >= 0)
    persons = np.bincount(groups[members], minlength=n)
    hulls, points, visitors = _recomputed(boxes, original, groups)
    kinds, same = np.unique(boxes.sides, axis=0, return_inverse=True)
    same = same.reshape(-1)
    whole = kinds.copy()
    for side in range(6):
        whole[:, side] = hulls[np.lexsort((hulls[:, side], same)), side][
            np.searchsorted(np.sort(same), np.arange(len(kinds)), side="left" if side % 2 == 0 else "right") - side % 2
        ]
    means = np.bincount(same, points).astype(np.int64) // np.bincount(same)
    bad: dict[str, Mask] = {
        "not one person stands behind it": persons != 1,
        "its person was not in every box": _any(boxes, visitors != 1),
        "a box is not the hull of the points of those who share it": _any(boxes, (whole != kinds).any(axis=1)[same]),
        "points are not as many as the file says": _any(boxes, means[same] != boxes.points),
    }
    failing = np.logical_or.reduce(list(bad.values()))
    if len(np.unique(original.persons[members])) != len(members):
        failing[:] = True
    reasons = [f"in {int(mask.sum())} {why}" for why, mask in bad.items() if mask.any()]
    return Guarantee(
        "boxes-cover", "", "", {"k": asked.k}, float(np.bincount(same).min()), not failing.any(), n,
        int(failing.sum()), (),
        "Each published trajectory is that of another person, who was in every box of it, and a box is the hull of the "
        "points of those who share it."
        if not failing.any()
        else f"Of {n:,} published trajectories {int(failing.sum())} are not what they stand for: "
        f"{', and '.join(reasons) or 'some are of one person'}.",
    )  # fmt: skip


def _any(boxes: TrajectoryBoxes, of_boxes: Mask) -> Mask:
    return np.asarray(np.bincount(boxes.owners[of_boxes], minlength=boxes.n_trajectories) > 0)


def _recomputed(boxes: TrajectoryBoxes, original: Trajectories, groups: Ints) -> tuple[Ints, Ints, Ints]:
    """Hull, points that lie in no earlier box, and members that were there, of each box; by all pairs of a group."""
    cell, slot = boxes.grid.cell, boxes.grid.slot
    place = np.stack(
        [np.floor(original.latitude / cell), np.floor(original.longitude / cell), original.time // slot], axis=1
    ).astype(np.int64)
    owners = original.owners
    of_point = groups[owners]
    n_boxes = np.diff(boxes.starts)
    rows = np.flatnonzero(of_point >= 0)
    per_row = n_boxes[of_point[rows]]
    big = np.iinfo(np.int64).max // 4
    hulls = np.tile(np.array([big, -big] * 3), (len(boxes.sides), 1))
    points = np.zeros(len(boxes.sides), np.int64)
    seen: list[Ints] = []
    cuts = np.searchsorted(np.cumsum(per_row), np.arange(0, int(per_row.sum()), PAIRS_AT_ONCE), side="left")
    for low, high in zip(cuts, [*cuts[1:], len(rows)], strict=True):
        mine, n_mine = rows[low:high], per_row[low:high]
        point = np.repeat(mine, n_mine)
        nth = np.arange(len(point)) - np.repeat(np.cumsum(n_mine) - n_mine, n_mine)
        box = boxes.starts[of_point[point]] + nth
        where, sides = place[point], boxes.sides[box]
        inside = np.flatnonzero(((sides[:, ::2] <= where) & (where <= sides[:, 1::2])).all(axis=1))
        _, earliest = np.unique(point[inside], return_index=True)
        points += np.bincount(box[inside[earliest]], minlength=len(points))
        for axis in range(3):
            np.minimum.at(hulls[:, 2 * axis], box[inside], where[inside, axis])
            np.maximum.at(hulls[:, 2 * axis + 1], box[inside], where[inside, axis])
        seen.append(np.unique(box[inside] * len(original) + owners[point[inside]]))
    visits = np.unique(np.concatenate(seen)) if seen else np.zeros(0, np.int64)
    return hulls, points, np.bincount(visits // len(original), minlength=len(points))
