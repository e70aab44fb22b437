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
from shoal.tables.encoding import Ranked
from shoal.tables.groups import Groups
from shoal.tables.limits import Limit, violations

CHUNK_CELLS = 4_000_000


def satisfy(
    labels: Codes,
    ranked: Sequence[Ranked],
    limits: Sequence[Limit],
    suppression: float,
    relimit: Callable[[Rows], Sequence[Limit]],
) -> tuple[Codes, Rows]:
    """Suppress as far as allowed, then merge.

    Parameters
    ----------
    suppression : float
        At most this share of the records may be left out: whole failing groups, those farthest from any other first.
    relimit : callable
        The limits over some of the rows: the whole table's distribution changes when records are left out.

    Returns
    -------
    labels, rows
        The groups of the records that stay, and which these are.
    """
    rows = np.arange(len(labels))
    failing = violations(labels, limits)
    budget = int(suppression * len(labels))
    if failing.any() and budget:
        left = _left_after_suppression(labels, ranked, failing, budget)
        limits_left = relimit(left)
        # What is left may be too uniform to be saved by merging; then nothing is left out.
        if len(left) < len(labels) and not violations(np.zeros(len(left), dtype=np.int32), limits_left)[0]:
            rows, limits = left, limits_left
            labels = _dense(labels[rows])
            ranked = [r.take(rows) for r in ranked]
            failing = violations(labels, limits)
    while failing.any() and len(failing) > 1:
        was_failing, labels = failing[labels], merge_round(labels, ranked, failing)
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


def _left_after_suppression(labels: Codes, ranked: Sequence[Ranked], failing: Mask, budget: int) -> Rows:
    groups = Groups.of(labels)
    candidates = np.flatnonzero(failing)
    _, distance = _nearest(groups, ranked, candidates)
    farthest = candidates[np.lexsort((candidates, -distance))]
    within = np.cumsum(groups.sizes[farthest]) <= budget
    dropped = farthest[within]
    if len(dropped) == len(groups.sizes):  # never everything
        return np.arange(len(labels))
    return np.flatnonzero(~np.isin(labels, dropped))


def merge_round(labels: Codes, ranked: Sequence[Ranked], failing: Mask) -> Codes:
    """Join each failing group to its nearest group."""
    groups = Groups.of(labels)
    candidates = np.flatnonzero(failing)
    nearest, _ = _nearest(groups, ranked, candidates)
    root = np.arange(len(groups.sizes))
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


def _nearest(groups: Groups, ranked: Sequence[Ranked], candidates: Rows) -> tuple[Rows, Floats]:
    """The nearest other group of each candidate by the distance of their average records, and that squared distance."""
    averages = [_averages(groups, r) for r in ranked]
    nearest = np.empty(len(candidates), dtype=np.intp)
    distance = np.empty(len(candidates))
    n_chunk = max(1, CHUNK_CELLS // len(groups.sizes))
    for start in range(0, len(candidates), n_chunk):
        chunk = candidates[start : start + n_chunk]
        total = np.zeros((len(chunk), len(groups.sizes)))
        for average, is_ordered in averages:
            gap = average[chunk, None] - average[None, :]
            total += gap**2 if is_ordered else gap != 0
        total[np.arange(len(chunk)), chunk] = np.inf
        nearest[start : start + n_chunk] = total.argmin(axis=1)
        distance[start : start + n_chunk] = total.min(axis=1)
    return nearest, distance


def _averages(groups: Groups, ranked: Ranked) -> tuple[Floats, bool]:
    """One coordinate a group, scaled as MDAV's distance scales it; the most frequent rank of unordered attributes."""
    present = ~np.isnan(ranked.positions)[ranked.ranks]
    if ranked.kind in ("category", "tree"):
        everyone = np.ones(len(ranked.ranks), dtype=bool)
        return groups.mode_rank(ranked.ranks, everyone, ranked.n_values).astype(np.float64), False
    largest = np.nanmax(np.abs(ranked.positions), initial=0.0, where=~np.isnan(ranked.positions)) or 1.0
    values = (ranked.positions / largest)[ranked.ranks]
    if not present.any():
        return np.zeros(len(groups.sizes)), True
    scale = float(np.std(values[present])) if ranked.kind == "number" else ranked.n_values / largest
    middle = float(np.mean(values[present]))
    sums = groups.sum(np.where(present, values - middle, 0.0))
    return sums / np.maximum(groups.sum(present), 1) / (scale or 1.0), True
