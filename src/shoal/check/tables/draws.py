"""Which pseudo-records could have been drawn from the statistics of their group, recomputed from the original.

A group's numbers are reduced to mean and covariance, on one scale: each attribute in units of its deviation over all
grouped records. A draw is ``mean + sum_i u_i sqrt(3 lambda_i) v_i`` with eigenvalues ``lambda_i``, eigenvectors ``v_i``
and ``|u_i| <= 1``, so it lies in a box around the mean. A missing number stands at its group's mean, and the deviations
of the n - m others are widened by ``sqrt(n / (n - m))``.

What is written is not quite what was drawn, so a cell is read as all the numbers that could have become it: half a step
of rounding to both sides (the decimals of the original, at most six, whole days for dates in texts; else twelve
significant digits), everything below where 0 stands in a column without negative originals, everything beyond the first
and last date that can be written, and any number where the cell is missing. A record is possible if, along every axis
and along every eigenvector, some of these numbers lie in the box. This never finds fault with a true draw; where
cells are missing or 0 it may let a false one pass.

Categories are possible if a member of the group has them, missing cells if a member lacks them, and where all members
have one number, that number alone is.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from shoal.arrays import Floats, Ints, Mask, Rows
from shoal.check.tables.alongside import Alongside

MOST_DECIMALS = 6
HALF_DIGIT = 0.5e-11  # of twelve significant ones
FIRST_DAY, LAST_DAY = -719_162.0, 2_932_896.0  # of the years 1 and 9999
LARGEST = float(np.finfo(np.float64).max)
BLOCK_CELLS = 2**22
# Eigenvalues that lie so near have eigenvectors that rounding may turn in their plane.
ALIKE = 1e-6
SLACK = 1e-7


def possible(columns: Sequence[Alongside], labels: Ints, original_labels: Ints) -> Mask:
    """Which published records could be draws of their group.

    Parameters
    ----------
    columns : sequence of Alongside
        The quasi-identifiers.
    labels : int64 array (n_published,)
        The group of each published record, 0 .. n_groups - 1.
    original_labels : int64 array (n_original,)
        The group of each original; negative where it was suppressed. Every group has a member.
    """
    member = original_labels >= 0
    result = np.ones(len(labels), dtype=bool)
    for column in columns:
        if column.original_numbers is None:
            result &= _occurs(column.published, labels, column.original[member], original_labels[member])
        else:
            gap = (column.published < 0).astype(np.int64)
            of_members = (column.original[member] < 0).astype(np.int64)
            result &= _occurs(gap, labels, of_members, original_labels[member])
            result &= _is_shared_value(column, labels, original_labels)
    numeric = [c for c in columns if c.original_numbers is not None]
    if numeric:
        result &= _in_boxes(numeric, labels, original_labels)
    return result


def _occurs(codes: Ints, labels: Ints, member_codes: Ints, member_labels: Ints) -> Mask:
    """Whether a member of its group has the code of each published cell."""
    width = int(max(codes.max(initial=-1), member_codes.max(initial=-1))) + 2
    pairs = np.unique(member_labels * width + member_codes + 1)
    return np.isin(labels * width + codes + 1, pairs)


def _is_shared_value(column: Alongside, labels: Ints, original_labels: Ints) -> Mask:
    """Whether a published number is the one that all of its group have, where they have one alone."""
    values, shown = column.original_numbers, column.published_numbers
    assert values is not None
    assert shown is not None
    if column.is_date and column.is_text:  # of a time that all share the text shows the day
        return np.ones(len(shown), dtype=bool)
    known = np.flatnonzero((original_labels >= 0) & ~np.isnan(values))
    n_groups = int(original_labels.max(initial=-1)) + 1
    least, most = np.full(n_groups, np.inf), np.full(n_groups, -np.inf)
    np.minimum.at(least, original_labels[known], values[known])
    np.maximum.at(most, original_labels[known], values[known])
    return np.asarray((least != most)[labels] | np.isnan(shown) | (shown == least[labels]))


def _in_boxes(columns: Sequence[Alongside], labels: Ints, original_labels: Ints) -> Mask:
    member = np.flatnonzero(original_labels >= 0)
    member = member[np.argsort(original_labels[member], kind="stable")]
    groups = original_labels[member]
    sizes = np.bincount(groups)
    scaled = [_Scaled(c, member) for c in columns]
    z = np.column_stack([s.members for s in scaled])
    starts = np.cumsum(sizes) - sizes
    present = ~np.isnan(z)
    n_present = np.add.reduceat(present.astype(np.int64), starts, axis=0)
    means = np.add.reduceat(np.where(present, z, 0.0), starts, axis=0) / np.maximum(n_present, 1)
    widened = np.sqrt(sizes[:, None] / np.maximum(n_present, 1))
    away = np.where(present, (z - means[groups]) * widened[groups], 0.0)
    low = np.column_stack([s.low for s in scaled])
    high = np.column_stack([s.high for s in scaled])
    rounding = np.array([s.rounding for s in scaled])

    result = np.ones(len(labels), dtype=bool)
    order = np.argsort(labels, kind="stable")
    ends = np.cumsum(np.bincount(labels, minlength=len(sizes)))
    first, n_numbers = 0, len(columns)
    reach = np.cumsum(sizes)
    while first < len(sizes):  # as many groups at a time as keep the products of their records small
        most = (reach[first - 1] if first else 0) + BLOCK_CELLS // n_numbers**2
        last = max(first + 1, int(np.searchsorted(reach, most, side="right")))
        part = slice(int(starts[first]), int(reach[last - 1]))
        products = away[part, :, None] * away[part, None, :]
        covariances = np.add.reduceat(products, starts[first:last] - starts[first], axis=0)
        covariances /= sizes[first:last, None, None]
        rows = order[(int(ends[first - 1]) if first else 0) : int(ends[last - 1])]
        at = labels[rows]
        result[rows] = _inside(covariances, at - first, low[rows] - means[at], high[rows] - means[at], rounding)
        first = last
    return result


def _inside(covariances: Floats, at: Ints, low: Floats, high: Floats, rounding: Floats) -> Mask:
    """Whether some point between low and high (less the mean) lies in the box, along each axis and eigenvector."""
    values, vectors = np.linalg.eigh(covariances)
    values = np.maximum(values, 0.0)
    largest = values[:, -1:]
    alike = np.abs(values[:, :, None] - values[:, None, :]) <= ALIKE * largest[:, :, None]
    # In the plane of m like eigenvalues the box may be turned; no point of it is farther out than its corners.
    half = np.sqrt(3 * np.max(np.where(alike, values[:, None, :], 0.0), axis=2) * alike.sum(axis=2))
    slack = SLACK * np.sqrt(largest) + float(rounding.max())
    extent = np.einsum("gij,gj->gi", np.abs(vectors), half) + slack
    low, high = np.maximum(low, -extent[at]), np.minimum(high, extent[at])
    fits: Mask = np.all(low <= high, axis=1)
    low, high = (np.where(fits[:, None], end, 0.0) for end in (low, high))
    turned = np.swapaxes(vectors, 1, 2)[at]
    a, b = turned * low[:, None, :], turned * high[:, None, :]
    reach = (half + slack * np.sqrt(len(rounding)))[at]
    fits &= (np.minimum(a, b).sum(axis=2) <= reach).all(axis=1)
    fits &= (np.maximum(a, b).sum(axis=2) >= -reach).all(axis=1)
    return np.asarray(fits)


class _Scaled:
    """One attribute in units of its deviation: what the members have, and between what the published cells lie."""

    def __init__(self, column: Alongside, member: Rows) -> None:
        shown, values = column.published_numbers, column.original_numbers
        assert shown is not None
        assert values is not None
        values = values[member]
        known = values[~np.isnan(values)]
        middle = known.min() / 2 + known.max() / 2 if len(known) else 0.0
        reach = float(np.abs(known - middle).max(initial=0.0)) or 1.0
        unit = (float(np.std((known - middle) / reach)) if len(known) else 0.0) or 1.0
        self.members = (values - middle) / reach / unit
        decimals = _decimals(column, known)
        half = np.abs(shown) * HALF_DIGIT if decimals is None else np.full(len(shown), 0.5 * 10.0**-decimals)
        with np.errstate(over="ignore", invalid="ignore"):
            low, high = shown - half, shown + half
        least, most = (FIRST_DAY, LAST_DAY) if column.is_date else (-LARGEST, LARGEST)
        if not column.is_date and len(known) and known.min() >= 0:
            least = 0.0
        low = np.where(np.isnan(shown) | (low <= least), -np.inf, low)
        high = np.where(np.isnan(shown) | (high >= most), np.inf, high)
        unreadable = np.isinf(shown)
        if decimals is not None:
            with np.errstate(over="ignore", invalid="ignore"):
                unreadable |= ~np.isnan(shown) & (np.round(shown, decimals) != shown)
        with np.errstate(over="ignore"):
            self.low = np.where(unreadable, np.inf, (low - middle) / reach / unit)
            self.high = np.where(unreadable, -np.inf, (high - middle) / reach / unit)
        self.rounding = 1e-12 / unit  # sums of floats on this scale are not known better


def _decimals(column: Alongside, known: Floats) -> int | None:
    """How many decimals draws were rounded to; None for twelve significant digits."""
    if column.is_date and column.is_text:
        return 0
    with np.errstate(over="ignore", invalid="ignore"):
        fits = (d for d in range(MOST_DECIMALS + 1) if (np.round(known, d) == known).all())
        return next(fits, None)
