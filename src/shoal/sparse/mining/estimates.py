"""What sketches tell about the records behind them: dot products, lengths, distances, centroids, attributes.

All estimates come with standard errors from the published data alone. A component product s_j t_j has the variance
``|x|^2 |y|^2 + (x.y)^2 - 2 sum_i x_i^2 y_i^2``, exactly, with signs that are 4-wise independent. The two lengths and
the dot product in it are estimated too. The last term cannot be, and is dropped: the standard errors are too large
rather than too small, by little where records have many attributes. They are as uncertain as the lengths that they are
made from; below some ten components an interval of two of them covers less than 95 %.

Real components were rounded to a grid before publication, which adds ``step^2 / 12`` to their mean square. That is
taken off lengths and distances.

References
----------
C. C. Aggarwal, P. S. Yu, "On privacy-preservation of text and sparse binary data with sketches", SDM 2007, sections 2
and 3.3.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal.arrays import Floats, Words
from shoal.data.ragged import ragged_places
from shoal.data.sparse.sketches import Sketches
from shoal.errors import DataError
from shoal.sparse.signs import sign_table

Rows = npt.NDArray[np.integer[Any]]

_CELLS = 1 << 22  # of a block of padded sketches


@dataclass(frozen=True)
class Estimate:
    """Estimates and their standard errors, of one shape.

    Where there was no common component to estimate from, the value is nan and its standard error infinite.
    """

    values: Floats
    standard_errors: Floats


def dot_products(a: Sketches, b: Sketches, pairs: Rows) -> Estimate:
    """Estimate the dot products of records of one set with records of another, or of the same. Eq. (2.6).

    Both sets must come from one key, or the products mean nothing: those of one release do.

    Parameters
    ----------
    a, b : Sketches
    pairs : integer array (n_pairs, 2)
        A row of `a` and a row of `b` each. A record with itself gives its squared length.

    Examples
    --------
    >>> sketches = Sketches(np.array([0, 4, 6]), np.array([2, 0, 2, -2, 1, 1]))
    >>> dot_products(sketches, sketches, np.array([[0, 1]])).values
    array([1.])
    """
    pairs = _checked_pairs(a, b, pairs)
    common, totals = np.minimum(a.counts[pairs[:, 0]], b.counts[pairs[:, 1]]), np.empty(len(pairs))
    for block, x, y in _blocks(a, b, pairs, common):
        totals[block] = np.einsum("ij,ij->i", x, y)
    values = _means(totals, common)
    variances = mean_squares(a)[pairs[:, 0]] * mean_squares(b)[pairs[:, 1]] + values**2
    return Estimate(values, _standard_errors(variances, common))


def squared_lengths(sketches: Sketches) -> Estimate:
    """Estimate the squared length of each record: the mean square of its components, less that of rounding.

    Unbiased, so where rounding is a large part of it a value can be negative.
    """
    squares = mean_squares(sketches)
    return Estimate(squares - rounding_square(sketches), _standard_errors(2 * squares**2, sketches.counts))


def squared_distances(a: Sketches, b: Sketches, pairs: Rows) -> Estimate:
    """Estimate squared Euclidean distances: the mean square of differences of common components.

    Sketches are linear, so the difference of two is the sketch of the records' difference. The paper's Eq. (3.9) puts
    three separate estimates together; on the common components that is the same number, and on more than those its
    errors would no longer cancel for records that are near each other.

    Parameters
    ----------
    a, b, pairs
        As in `dot_products`.
    """
    pairs = _checked_pairs(a, b, pairs)
    common, totals = np.minimum(a.counts[pairs[:, 0]], b.counts[pairs[:, 1]]), np.empty(len(pairs))
    for block, x, y in _blocks(a, b, pairs, common):
        totals[block] = ((x - y) ** 2).sum(axis=1)
    squares = _means(totals, common)
    return Estimate(
        squares - rounding_square(a) - rounding_square(b),
        _standard_errors(2 * squares**2, common),
    )


def distances(a: Sketches, b: Sketches, pairs: Rows) -> Estimate:
    """Estimate Euclidean distances: roots of `squared_distances`, 0 where those are negative.

    A root is biased: with m components too small by about ``1 / (4 m)`` of the distance.
    """
    squared = squared_distances(a, b, pairs)
    values = np.sqrt(np.maximum(squared.values, 0.0))
    # The first-order error of a root, se / 2d, has no bound near 0; the root of the error is one there.
    roots = np.sqrt(squared.standard_errors)
    with np.errstate(invalid="ignore"):
        slopes = squared.standard_errors / np.maximum(2 * values, roots)
    return Estimate(values, np.where(np.isfinite(roots) & (roots > 0), slopes, roots))


def centroid(sketches: Sketches, rows: Rows) -> Estimate:
    """Estimate the components of the sketch of the mean of some records.

    Component j is the mean over the records that have it. Where all have it, it is exact and its standard error 0;
    else the error is that of a mean over some of the records for the mean over all, with the spread of components
    about their means pooled over all components. Records with many components may differ from the others, being long
    ones where the delta rule decides; no standard error tells of that.

    Parameters
    ----------
    sketches : Sketches
    rows : integer array
        The records, at least one.

    Returns
    -------
    Estimate
        As many components as the longest of the sketches has.
    """
    rows = _checked_rows(sketches, np.asarray(rows))
    if not len(rows):
        raise DataError("the centroid of no records is asked for; name at least one")
    places, starts = ragged_places(sketches.starts, rows)
    values = sketches.components[places].astype(np.float64)
    where = np.arange(len(values)) - np.repeat(starts[:-1], np.diff(starts))
    having = np.bincount(where)
    means = np.bincount(where, weights=values) / having
    freedom = int((having - 1).sum())
    spread = float(
        ((values - means[where]) ** 2).sum() / freedom if freedom else (values**2).mean() if len(values) else 0
    )
    return Estimate(means, np.sqrt(spread / having * (1 - having / len(rows))))


def attribute_estimates(sketches: Sketches, item_keys: Words, key: bytes) -> Estimate:
    """Estimate attributes of all records. Eq. (2.2); for whoever holds the key.

    The variance is ``(|x|^2 - x_k^2) / m``; the standard error is the root of ``|x|^2 / m``, estimated, which is no
    less.

    Parameters
    ----------
    sketches : Sketches
    item_keys : uint64 array (n_items,)
        The hashed names of the attributes, from `shoal.data.strings.strings.symbol_keys`.
    key : bytes
        The key of the release.

    Returns
    -------
    Estimate
        Arrays (n_records, n_items); for all attributes of many records see `reconstruct`.
    """
    counts = sketches.counts
    signs = sign_table(item_keys, key, int(counts.max(initial=0)))
    values = _means(sketches.padded() @ signs.T.astype(np.float64), counts[:, None])
    errors = _standard_errors(mean_squares(sketches), counts)
    return Estimate(values, np.repeat(errors[:, None], len(item_keys), axis=1))


def mean_squares(sketches: Sketches) -> Floats:
    """The mean square of each record's components, rounding included; 0 where there are none."""
    owners = np.repeat(np.arange(len(sketches)), sketches.counts)
    totals = np.bincount(owners, weights=sketches.components.astype(np.float64) ** 2, minlength=len(sketches))
    return np.asarray(totals / np.maximum(sketches.counts, 1), np.float64)


def rounding_square(sketches: Sketches) -> float:
    """The mean square that rounding to the grid adds to a component."""
    return 0.0 if sketches.is_integral else sketches.step**2 / 12


def _means(totals: Floats, counts: npt.NDArray[np.integer[Any]]) -> Floats:
    return np.asarray(np.where(counts > 0, totals / np.maximum(counts, 1), np.nan), np.float64)


def _standard_errors(variances: Floats, counts: npt.NDArray[np.integer[Any]]) -> Floats:
    return np.asarray(np.where(counts > 0, np.sqrt(variances / np.maximum(counts, 1)), np.inf), np.float64)


def _blocks(a: Sketches, b: Sketches, pairs: Rows, common: Rows) -> Iterator[tuple[slice, Floats, Floats]]:
    """The common components of some pairs at a time, padded with zeros."""
    size = max(_CELLS // max(int(common.max(initial=0)), 1), 1)
    for begin in range(0, len(pairs), size):
        block = slice(begin, begin + size)
        yield block, _heads(a, pairs[block, 0], common[block]), _heads(b, pairs[block, 1], common[block])


def _heads(sketches: Sketches, rows: Rows, counts: Rows) -> Floats:
    columns = np.arange(int(counts.max(initial=0)))
    is_there = columns < counts[:, None]
    out = np.zeros(is_there.shape)
    out[is_there] = sketches.components[(sketches.starts[:-1][rows][:, None] + columns)[is_there]]
    return out


def _checked_rows(sketches: Sketches, rows: Rows) -> Rows:
    if rows.dtype.kind not in "iu" or (len(rows) and not 0 <= rows.min() <= rows.max() < len(sketches)):
        raise DataError(f"a row is none of the {len(sketches):,} sketches; count them from 0")
    return rows


def _checked_pairs(a: Sketches, b: Sketches, pairs: Rows) -> Rows:
    pairs = np.asarray(pairs)
    if pairs.ndim != 2 or pairs.shape[1] != 2:
        raise DataError("the pairs of records are not an array of two columns; give a row of each set in every line")
    _checked_rows(a, pairs[:, 0])
    _checked_rows(b, pairs[:, 1])
    return pairs
