"""An order of records in which groups of about k consecutive ones are close: a path through near records.

The path starts as a Hilbert curve. Segments of few records are moved beside near ones while that makes it shorter. A
short path is good for small groups, but thin and winding: so its records are put together by two or three, their
averages are ordered in the same way, and so on, until the groups that are asked for are made of a few parts.

Distances are those of `shoal.kernels.tables.box_tree`.

References
----------
I. Or, "Traveling salesman-type combinatorial problems and their relation to the logistics of regional blood banking",
1976: moves of short segments. J. Domingo-Ferrer, A. Martinez-Balleste, J. M. Mateo-Sanz, F. Sebe, "Efficient
multivariate data-oriented microaggregation", VLDB Journal 15(4), 2006: paths through the records, cut as one attribute
is. Ours are the neighbours from several curves, and the order by parts.
"""

from __future__ import annotations

import numpy as np

from shoal.arrays import Bytes, Codes, Floats, Ints, Singles
from shoal.kernels.compile import compiled, compiled_beside, compiled_by_element, is_interpreting
from shoal.kernels.tables.curve import curve_order, turned_frames
from shoal.kernels.tables.shortest_path import cut_order

CURVES = 8  # the more, the fewer near records are missed; by trial, as all that follow
WINDOW = 6  # records up to this far on a curve are looked at as neighbours
NEAR = 6  # how many neighbours are kept
SEGMENT = 5  # longest segment that is moved
ROUNDS = 8  # of moves; the first few make nearly all
PART = 2  # smallest size of a part


@compiled
def _squared(points: Floats, weights: Floats, n_metric: int, a: int, b: int) -> float:
    """Squared distance of two records."""
    total = 0.0
    for j in range(n_metric):
        difference = points[a, j] - points[b, j]
        total += difference * difference
    for j in range(n_metric, len(weights)):
        if points[a, j] != points[b, j]:
            total += weights[j]
    return total


def _note_all_neighbours(
    points: Floats, weights: Floats, n_metric: int, order: Ints, near: Codes, gaps: Singles
) -> None:
    steps = np.array([step for step in range(-WINDOW, WINDOW + 1) if step])
    places = np.arange(len(order))[:, None] + steps
    is_there = (places >= 0) & (places < len(order))
    met = order[np.where(is_there, places, 0)]
    total = np.zeros(met.shape)
    for j in range(len(weights)):
        one, other = points[order, j][:, None], points[met, j]
        total += (one - other) * (one - other) if j < n_metric else np.where(one != other, weights[j], 0.0)
    known = near[order]
    is_new = is_there & ~(met[:, :, None] == known[:, None, :]).any(axis=2)
    # Those that were met first stand first among equals.
    listed = np.concatenate([known, np.where(is_new, met, -1)], axis=1)
    apart = np.concatenate([gaps[order], np.where(is_new, total, np.inf).astype(np.float32)], axis=1)
    nearest = np.argsort(apart, axis=1, kind="stable")[:, : near.shape[1]]
    near[order] = np.take_along_axis(listed, nearest, axis=1)
    gaps[order] = np.take_along_axis(apart, nearest, axis=1)


@compiled_beside(_note_all_neighbours)
def _note_neighbours(points: Floats, weights: Floats, n_metric: int, order: Ints, near: Codes, gaps: Singles) -> None:
    """Add those that follow each other closely on a curve to the nearest that are known of each other, in order."""
    n_rows, n_near = near.shape
    for i in range(n_rows):
        for other in range(i + 1, min(i + WINDOW + 1, n_rows)):
            gap = np.float32(_squared(points, weights, n_metric, order[i], order[other]))
            for side in range(2):
                a, b = (order[i], order[other]) if side == 0 else (order[other], order[i])
                if gap >= gaps[a, n_near - 1]:
                    continue
                known = False
                for t in range(n_near):
                    known |= near[a, t] == b
                if known:
                    continue
                t = n_near - 1
                while t > 0 and gaps[a, t - 1] > gap:
                    gaps[a, t], near[a, t] = gaps[a, t - 1], near[a, t - 1]
                    t -= 1
                gaps[a, t], near[a, t] = gap, b


@compiled
def _length(points: Floats, weights: Floats, n_metric: int, a: int, b: int) -> float:
    """Distance of two records on the path; the places beyond its ends are near to all.

    Where ``n_metric`` is negative, ``points`` are the distances of all pairs themselves (`_all_lengths`).
    """
    if n_metric < 0:
        return float(points[a, b])
    if a == len(points) or b == len(points):
        return 0.0
    return float(np.sqrt(_squared(points, weights, n_metric, a, b)))


def _all_lengths(points: Floats, weights: Floats, n_metric: int) -> Floats:
    squares = np.zeros((len(points) + 1, len(points) + 1))
    for j, column in enumerate(points.T):  # one after the other, as in `_squared`
        apart = column[:, None] - column
        squares[:-1, :-1] += apart * apart if j < n_metric else np.where(apart != 0.0, weights[j], 0.0)
    return np.asarray(np.sqrt(squares))


@compiled
def _move_segment(
    points: Floats,
    weights: Floats,
    n_metric: int,
    near: Codes,
    links: Codes,
    awake: Bytes,
    row: int,
) -> bool:
    """Move the shortest segment that has an end at ``row``, either way round, to the best place beside a neighbour.

    ``links[row]`` holds the rows before and after; ``len(points)`` stands for none, and has a place in ``links``. The
    path must become shorter; tell whether it did. Rows whose links change are ``awake`` afterwards.
    """
    n_rows, n_near = near.shape
    for way in range(2):
        end, found, side, most = row, -1, 0, 1e-9
        before = links[row, 1 - way]
        first_edge = _length(points, weights, n_metric, before, row)
        for size in range(1, SEGMENT + 1):
            if size > 1:
                end = links[end, way]
            if end == n_rows:
                break
            after = links[end, way]
            freed = first_edge + _length(points, weights, n_metric, end, after)
            freed -= _length(points, weights, n_metric, before, after)
            for t in range(n_near):
                beside = near[row, t]
                if beside < 0:
                    break
                edge = _length(points, weights, n_metric, row, beside)
                if edge >= freed:
                    break
                inside, member = False, row
                for _ in range(size):
                    inside |= member == beside
                    member = links[member, way]
                if inside:
                    continue
                for s in range(2):
                    beyond = links[beside, s]
                    if beyond == row and s == way:
                        beyond = after
                    elif beyond == end and s != way:
                        beyond = before
                    gain = freed - edge - _length(points, weights, n_metric, end, beyond)
                    gain += _length(points, weights, n_metric, beside, beyond)
                    if gain > most:
                        most, found, side = gain, beside, s
            if found < 0:
                continue
            links[before, way], links[after, 1 - way] = after, before
            if side != way:
                member = row
                for _ in range(size):
                    following = links[member, way]
                    links[member, 0], links[member, 1] = links[member, 1], links[member, 0]
                    member = following
            beyond = links[found, side]
            links[found, side], links[row, 1 - side] = row, found
            links[end, side], links[beyond, 1 - side] = beyond, end
            awake[before], awake[after], awake[row] = 1, 1, 1
            awake[end], awake[found], awake[beyond] = 1, 1, 1
            return True
    return False


@compiled_by_element
def _shorten(points: Floats, weights: Floats, n_metric: int, near: Codes, links: Codes, awake: Bytes) -> None:
    """Move segments while that makes the path shorter; rows with unchanged links are not looked at again."""
    for _ in range(ROUNDS):
        is_shorter = False
        for row in range(len(near)):
            if awake[row]:
                awake[row] = 0
                is_shorter |= _move_segment(points, weights, n_metric, near, links, awake, row)
        if not is_shorter:
            return


@compiled
def _follow(links: Codes, order: Ints) -> None:
    """Write the rows of a path from its start on."""
    n_rows = len(order)
    row = 0
    while links[row, 0] != n_rows:
        row = links[row, 0]
    for i in range(n_rows):
        order[i] = row
        row = links[row, 1]


@compiled
def _average_parts(points: Floats, n_metric: int, order: Ints, stops: Ints, out: Floats) -> None:
    """Mean of each part of a path in metric columns, most frequent value in the others; of equals the first."""
    start = 0
    for part in range(len(stops)):
        stop = stops[part]
        for j in range(points.shape[1]):
            if j < n_metric:
                total = 0.0
                for i in range(start, stop):
                    total += points[order[i], j]
                out[part, j] = total / (stop - start)
                continue
            most = 0
            for i in range(start, stop):
                count = 0
                for other in range(start, stop):
                    count += points[order[other], j] == points[order[i], j]
                if count > most:
                    most, out[part, j] = count, points[order[i], j]
        start = stop


@compiled
def _join_parts(
    points: Floats, weights: Floats, n_metric: int, order: Ints, stops: Ints, part_order: Ints, out: Ints
) -> None:
    """Write the parts of a path in another order, each with its nearer end first."""
    placed = 0
    for part in part_order:
        start, stop = stops[part - 1] if part > 0 else 0, stops[part]
        turn = False
        if placed > 0:
            last = out[placed - 1]
            nearer = _squared(points, weights, n_metric, last, order[stop - 1])
            turn = nearer < _squared(points, weights, n_metric, last, order[start])
        for i in range(start, stop):
            out[placed] = order[start + stop - 1 - i] if turn else order[i]
            placed += 1


def _curve_neighbours(points: Floats, axes: Floats, weights: Floats, n_metric: int, n_near: int) -> tuple[Ints, Codes]:
    """Rows on a first curve, and for each place on it the places of near records, nearest first; -1 where none is."""
    n_rows = len(points)
    frames = turned_frames(axes.shape[1], CURVES)
    first = curve_order(axes, *frames[0])
    points, axes = points[first], axes[first]  # near records lie near in memory, too
    near, gaps = np.full((n_rows, n_near), -1, np.int32), np.full((n_rows, n_near), np.inf, np.float32)
    for i, (frame, shift) in enumerate(frames):
        order = curve_order(axes, frame, shift) if i else np.arange(n_rows)
        _note_neighbours(points, weights, n_metric, order, near, gaps)
    return first, near


def grid_axes(points: Floats, weights: Floats, n_metric: int) -> Floats:
    """Columns as axes of a grid: those of categories get the length that they have in distances."""
    axes: Floats = points.copy()
    for j in range(n_metric, points.shape[1]):
        axes[:, j] *= np.sqrt(weights[j]) / max(1.0, float(points[:, j].max(initial=1.0)))
    return axes


def _shortened(points: Floats, weights: Floats, n_metric: int, first: Ints, near: Codes) -> Ints:
    """Rows along a short path: a Hilbert curve, improved by moves beside the nearest of the listed neighbours."""
    n_rows = len(points)
    links = np.empty((n_rows + 1, 2), np.int32)
    links[:, 0], links[:, 1] = np.arange(n_rows + 1) - 1, np.arange(n_rows + 1) + 1
    links[0, 0] = links[n_rows] = n_rows
    nearest, along = np.ascontiguousarray(near[:, :NEAR]), points[first]
    if is_interpreting():  # of few records: to look a distance up takes less time than to reckon it
        along, n_metric = _all_lengths(along, weights, n_metric), -1
    _shorten(along, weights, n_metric, nearest, links, np.ones(n_rows + 1, np.uint8))
    path = np.empty(n_rows, np.int64)
    _follow(links, path)
    return np.asarray(first[path])


def _by_parts(points: Floats, axes: Floats, weights: Floats, n_metric: int, k: float, path: Ints) -> Ints:
    """A short path, its parts put in order by their averages where groups are made of several."""
    if k < 2 * PART or len(points) < 4 * k:
        return path
    stops = np.cumsum(np.bincount(cut_order(points, weights, n_metric, path, PART)[0]))
    parts, part_axes = np.empty((len(stops), points.shape[1])), np.empty((len(stops), axes.shape[1]))
    _average_parts(points, n_metric, path, stops, parts)
    _average_parts(axes, axes.shape[1], path, stops, part_axes)
    first, near = _curve_neighbours(parts, part_axes, weights, n_metric, NEAR)
    part_path = _shortened(parts, weights, n_metric, first, near)
    part_order = _by_parts(parts, part_axes, weights, n_metric, k / PART, part_path)
    order = np.empty(len(points), np.int64)
    _join_parts(points, weights, n_metric, path, stops, part_order, order)
    return order


def near_order(points: Floats, weights: Floats, n_metric: int, k: int) -> Ints:
    """Order the rows so that groups of about k consecutive ones are close.

    Parameters
    ----------
    points, weights, n_metric
        As for `shoal.kernels.tables.shortest_path.cut_order`.
    k : int

    Returns
    -------
    int64 array (n_rows,)
        The rows; where nothing else decides, the smaller first.
    """
    return near_order_and_places(points, weights, n_metric, k, NEAR)[0]


def near_order_and_places(points: Floats, weights: Floats, n_metric: int, k: int, n_near: int) -> tuple[Ints, Codes]:
    """The order of `near_order`, and near records of each: what was looked up for the one serves the other.

    Parameters
    ----------
    n_near : int
        How many to list; at least `NEAR` are.

    Returns
    -------
    order : int64 array (n_rows,)
    near : int32 array (n_rows, n_near)
        For each place in the order the places of near records, nearest first, and its own where no more are known.
    """
    axes = grid_axes(points, weights, n_metric)
    first, near = _curve_neighbours(points, axes, weights, n_metric, max(n_near, NEAR))
    order = _by_parts(points, axes, weights, n_metric, float(k), _shortened(points, weights, n_metric, first, near))
    place = np.empty(len(points), np.int32)
    place[order] = np.arange(len(points), dtype=np.int32)
    of_first = place[first]
    placed = np.empty_like(near)
    placed[of_first] = np.where(near >= 0, of_first[near], of_first[:, None])
    return order, placed
