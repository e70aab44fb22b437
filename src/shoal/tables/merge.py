"""Merge groups until each meets the diversity requirements: for partitions that do not look at sensitive values.

Every model that Shoal knows is monotone: a union of two groups is never worse than the worse of them (the property that
Machanavajjhala et al. 2007 and Li et al. 2007 prove for theirs). So merging a failing group
with its nearest neighbour, again and again, ends with every group passing or with the whole table, which was tested
before.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from shoal.arrays import Codes, Floats, Mask, Rows
from shoal.data.tables.table import count_codes
from shoal.tables.encoding import Ranked
from shoal.tables.groups import Groups
from shoal.tables.limits import Limit, violations

CHUNK_CELLS = 4_000_000
MOST_PAIRS = 40_000_000  # of a failing group and any other; of more the nearest are looked for in a tree
STEP_BITS = 22  # of the range of a number: sums of two thousand million such steps are exact, in whatever order


def satisfy(
    labels: Codes,
    ranked: Sequence[Ranked],
    limits: Sequence[Limit],
    suppression: float,
    relimit: Callable[[Rows], Sequence[Limit]],
    weights: Codes | None = None,
) -> tuple[Codes, Rows]:
    """Suppress as far as allowed, then merge.

    Parameters
    ----------
    suppression : float
        At most this share of the records may be left out: whole failing groups, those farthest from any other first.
    relimit : callable
        The limits over some of the rows: the whole table's distribution changes when records are left out.
    weights : int32 array (n_rows,), optional
        How many records each row stands for.

    Returns
    -------
    labels, rows
        The groups of the records that stay, and which these are.
    """
    rows = np.arange(len(labels))
    failing = violations(labels, limits)
    budget = int(suppression * (len(labels) if weights is None else weights.sum(dtype=np.int64)))
    if failing.any() and budget:
        left = _left_after_suppression(labels, ranked, failing, budget, weights)
        limits_left = relimit(left)
        # What is left may be too uniform to be saved by merging; then nothing is left out.
        if len(left) < len(labels) and not violations(np.zeros(len(left), dtype=np.int32), limits_left)[0]:
            rows, limits = left, limits_left
            labels = _dense(labels[rows])
            ranked = [r.take(rows) for r in ranked]
            weights = None if weights is None else weights[rows]
            failing = violations(labels, limits)
    while failing.any() and len(failing) > 1:
        was_failing, labels = failing[labels], merge_round(labels, ranked, failing, weights)
        failing = _failing_among(labels, limits, was_failing)
    return labels, rows


def _failing_among(labels: Codes, limits: Sequence[Limit], was_failing: Mask) -> Mask:
    """Which groups fail, when those without a record that failed before are as they were."""
    failing = np.zeros(int(labels.max()) + 1, dtype=bool)
    joined = np.unique(labels[was_failing])
    changed = failing.copy()
    changed[joined] = True
    some = np.flatnonzero(changed[labels])
    failing[joined] = violations(_dense(labels[some]), [limit.of_rows(some) for limit in limits])
    return failing


def _left_after_suppression(
    labels: Codes, ranked: Sequence[Ranked], failing: Mask, budget: int, weights: Codes | None
) -> Rows:
    candidates = np.flatnonzero(failing)
    _, distance = _nearest(labels, ranked, candidates, weights)
    farthest = candidates[np.lexsort((candidates, -distance))]
    within = np.cumsum(count_codes(labels, weights)[farthest]) <= budget
    dropped = farthest[within]
    if len(dropped) == len(failing):  # never everything
        return np.arange(len(labels))
    return np.flatnonzero(~np.isin(labels, dropped))


def merge_round(labels: Codes, ranked: Sequence[Ranked], failing: Mask, weights: Codes | None = None) -> Codes:
    """Join each failing group to its nearest group; rows may stand for several records each."""
    candidates = np.flatnonzero(failing)
    nearest, _ = _nearest(labels, ranked, candidates, weights)
    root = np.arange(len(failing))
    for a, b in zip(candidates.tolist(), nearest.tolist(), strict=True):
        low, high = sorted((_find(root, a), _find(root, b)))
        root[high] = low
    for g in range(len(root)):
        root[g] = root[root[g]]  # a root's number is the least of its set, so it is final when reached
    return _dense(root[labels])


def _find(root: Rows, g: int) -> int:
    while root[g] != g:
        root[g] = root[root[g]]
        g = int(root[g])
    return g


def _dense(labels: npt.NDArray[np.integer]) -> Codes:
    return np.asarray(np.unique(labels, return_inverse=True)[1], dtype=np.int32)


def _nearest(labels: Codes, ranked: Sequence[Ranked], candidates: Rows, weights: Codes | None) -> tuple[Rows, Floats]:
    """The nearest other group of each candidate by the distance of their average records, and that squared distance.

    Of equally near ones it is the one of the least number.
    """
    averages = [_averages(labels, r, weights) for r in ranked]
    averages.sort(key=lambda found: not found[1])  # as the tree has them, which adds up in this order too
    places = np.column_stack([average for average, _ in averages])
    n_ordered = sum(is_ordered for _, is_ordered in averages)
    if len(candidates) * len(places) > MOST_PAIRS:
        from shoal.kernels.tables.neighbours import nearest_others

        return nearest_others(places, n_ordered, candidates)
    nearest = np.empty(len(candidates), dtype=np.intp)
    distance = np.empty(len(candidates))
    n_chunk = max(1, CHUNK_CELLS // len(places))
    for start in range(0, len(candidates), n_chunk):
        chunk = candidates[start : start + n_chunk]
        total = np.zeros((len(chunk), len(places)))
        for j, average in enumerate(places.T):
            gap = average[chunk, None] - average[None, :]
            total += gap**2 if j < n_ordered else gap != 0
        total[np.arange(len(chunk)), chunk] = np.inf
        nearest[start : start + n_chunk] = total.argmin(axis=1)
        distance[start : start + n_chunk] = total.min(axis=1)
    return nearest, distance


def _averages(labels: Codes, ranked: Ranked, weights: Codes | None) -> tuple[Floats, bool]:
    """One coordinate a group, scaled as MDAV's distance scales it; the most frequent rank of unordered attributes.

    It is the same to the last bit whether a row stands for several records or each of these has its own.
    """
    if ranked.kind in ("category", "tree"):
        everyone = np.ones(len(labels), dtype=bool)
        modes = Groups.of(labels).mode_rank(ranked.ranks, everyone, ranked.n_values, weights)
        return modes.astype(np.float64), False
    units, present = _units(ranked), ~np.isnan(ranked.positions)
    n_present = np.bincount(labels, _times(present[ranked.ranks].astype(np.float64), weights))
    averages = np.bincount(labels, _times(units[ranked.ranks], weights)) / np.maximum(n_present, 1)
    if ranked.kind == "order":
        return averages / ranked.n_values, True
    counts = np.where(present, count_codes(ranked.ranks, weights, ranked.n_values), 0)
    n_counted = max(1, counts.sum())
    middle = (counts * units).sum() / n_counted
    return averages / (np.sqrt((counts * (units - middle) ** 2).sum() / n_counted) or 1.0), True


def _times(values: Floats, weights: Codes | None) -> Floats:
    return values if weights is None else values * weights


def _units(ranked: Ranked) -> Floats:
    """The place of each rank in whole steps, of which sums are exact; a missing one at 0.

    The steps of a number are powers of two, so that whole numbers keep their differences.
    """
    if ranked.kind == "order":
        return np.nan_to_num(ranked.positions)
    quarter = ranked.positions / 4  # the range of the largest numbers does not overflow
    offsets = quarter - np.fmin.reduce(quarter, initial=np.inf)
    _, height = np.frexp(np.fmax.reduce(offsets, initial=0.0))
    return np.asarray(np.nan_to_num(np.rint(offsets / np.ldexp(1.0, max(int(height) - STEP_BITS, -1000)))))
