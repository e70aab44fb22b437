"""IL1 to IL5: how far values, means, variances, covariances and correlations move, and their mean.

For numbers x before and x' after, over p attributes and n records:

====  ==========================================================================================
IL1   mean over the n p cells of ``|x - x'| / |x|`` (or of ``|x - x'| / (sqrt(2) S_j)``, see below)
IL2   mean over the p attributes of ``|mean - mean'| / |mean|``
IL3   mean over the p attributes of ``|variance - variance'| / variance``
IL4   mean over the p (p - 1) / 2 pairs of attributes of ``|covariance - covariance'| / |covariance|``
IL5   mean over the same pairs of ``|r - r'|``, the difference of Pearson's correlations
IL    100 (IL1 + IL2 + IL3 + IL4 + IL5) / 5
====  ==========================================================================================

That these are the forms of IL1, IL4 and IL5 was found by computing the paper's table of the Census data
(`reproductions/lecture_il_table.py`). In it the averages run over all 13 attributes of the file, of which those that
were left alone count 0: pass the whole numeric table, not the changed attributes alone, to compare with it.

References
----------
J. Domingo-Ferrer, V. Torra, "Ordinal, continuous and heterogeneous k-anonymity through microaggregation", Data Mining
and Knowledge Discovery 11(2), 2005 (its experiments on continuous attributes). The scale ``sqrt(2) S_j`` is from W.
Yancey, W. Winkler, R. Creecy, "Disclosure risk assessment in perturbative microdata protection", in: Inference Control
in Statistical Databases, LNCS 2316, 2002.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Literal

import numpy as np

from shoal.arrays import Floats, Mask
from shoal.errors import DataError

Variation = Literal["relative", "deviation"]
Numbers = Floats | Sequence[Floats]

AT_ONCE = 1 << 18  # rows
NEGLIGIBLE = 1e-12  # a statistic below this part of what it could be is a rounding error, and nothing is relative to it


@dataclass(frozen=True)
class StatisticsLoss:
    """IL1 to IL5 of a release.

    Attributes
    ----------
    il1, il2, il3, il4, il5 : float
        Mean variations as in the module's table; 0 is the best, and only il5 has a worst value, 2. Of one attribute
        alone, il4 and il5 are 0.
    variation : {"relative", "deviation"}
        What the difference of two values in il1 is divided by.
    n_left_out : int
        Cells, means, variances and covariances that changed from 0, so that no relative change exists. They are in no
        mean: where they are many, the losses tell too little and ``variation="deviation"`` is the better il1.
    """

    il1: float
    il2: float
    il3: float
    il4: float
    il5: float
    variation: Variation
    n_left_out: int

    @property
    def overall(self) -> float:
        """IL: 100 times the mean of the five."""
        return 20.0 * (self.il1 + self.il2 + self.il3 + self.il4 + self.il5)

    def to_dict(self) -> dict[str, float | int | str]:
        """JSON-ready."""
        return {**asdict(self), "overall": self.overall}


def statistics_loss(
    before: Numbers, after: Numbers, *, variation: Variation = "relative", is_paired: bool = True
) -> StatisticsLoss:
    """Compare the numbers of a release with the original ones.

    Parameters
    ----------
    before, after : float64 arrays (n_records, n_attributes), or lists of arrays (n_records,), one an attribute
        Row i of `after` stands for row i of `before`. A cell that is nan in either is passed over: means and variances
        are over the cells that are known in both tables, covariances over the records that know both attributes.
    variation : {"relative", "deviation"}
        ``|x - x'| / |x|`` as in the paper, or ``|x - x'| / (sqrt(2) S_j)``, which does not explode at values near 0.
    is_paired : bool
        Whether row i of `after` stands for row i of `before`. If not, each table's statistics are over its own known
        cells, and il1 is nan.

    Examples
    --------
    >>> x = np.array([[1.0, 2.0], [3.0, 2.0], [5.0, 8.0]])
    >>> round(statistics_loss(x, x * [1, 1.5]).overall, 2)
    32.5
    """
    shape = _shape(before)
    if len(shape) != 2 or shape != _shape(after):
        raise DataError(
            f"the numbers before have the shape {shape} and those after {_shape(after)}; "
            "give two tables of the same records and attributes"
        )
    x = _Moments.of(before, before, after if is_paired else None)
    y = _Moments.of(after, before, before if is_paired else None)
    deviation = np.sqrt(np.diagonal(x.covariances))
    first, second = np.triu_indices(shape[1], 1)
    cells, n_grown = float("nan"), 0
    if is_paired:
        cells, n_grown = _cells(before, after, deviation * x.units if variation == "deviation" else None)
    means = _relative(x.means, y.means, np.abs(x.means) + deviation * x.units)
    variances = _relative(np.diagonal(x.covariances), np.diagonal(y.covariances), np.ones(shape[1]))
    covariances = _relative(
        x.covariances[first, second], y.covariances[first, second], deviation[first] * deviation[second] + NEGLIGIBLE
    )
    r, s = _correlations(x.covariances)[first, second], _correlations(y.covariances)[first, second]
    both = ~(np.isnan(r) | np.isnan(s))
    return StatisticsLoss(
        cells,
        _mean(means),
        _mean(variances),
        _mean(covariances),
        float(np.abs(r - s)[both].mean()) if both.any() else 0.0,
        variation,
        n_grown + sum(int(np.isinf(part).sum()) for part in (means, variances, covariances)),
    )


@dataclass(frozen=True)
class _Moments:
    means: Floats  # in the attribute's own unit
    covariances: Floats  # in units of the original deviations
    units: Floats

    @classmethod
    def of(cls, table: Numbers, original: Numbers, beside: Numbers | None) -> _Moments:
        """Moments about the original's mean, in the original's deviations, so that large numbers do not cancel.

        Where a table is given `beside`, cells that it does not know are passed over in both.
        """
        n_columns = _shape(table)[1]
        n_known, totals = np.zeros(n_columns), np.zeros(n_columns)
        for values, known in _blocks(original, original if beside is None else table, beside):
            n_known += known.sum(axis=0)
            totals += np.where(known, values, 0.0).sum(axis=0)
        centre, squares = totals / np.maximum(n_known, 1), np.zeros(n_columns)
        for values, known in _blocks(original, original if beside is None else table, beside):
            squares += (np.where(known, values - centre, 0.0) ** 2).sum(axis=0)
        spread = np.sqrt(squares / np.maximum(n_known - 1, 1))
        units = np.where(spread > NEGLIGIBLE * np.abs(centre), spread, np.maximum(np.abs(centre), 1.0))
        n_both, sums, products = (np.zeros((n_columns, n_columns)) for _ in range(3))
        count, total = np.zeros(n_columns), np.zeros(n_columns)
        for values, known in _blocks(table, beside):
            z = np.where(known, (values - centre) / units, 0.0)
            seen = known.astype(np.float64)
            n_both += seen.T @ seen
            sums += z.T @ seen  # entry (i, j): attribute i over the records that know j
            products += z.T @ z
            count += known.sum(axis=0)
            total += z.sum(axis=0)
        with np.errstate(divide="ignore", invalid="ignore"):
            covariances = np.where(n_both > 1, (products - sums * sums.T / n_both) / (n_both - 1), 0.0)
        return cls(centre + total / np.maximum(count, 1) * units, covariances, units)


def _shape(table: Numbers) -> tuple[int, ...]:
    return table.shape if isinstance(table, np.ndarray) else (*np.shape(table[0]), len(table))


def _rows(table: Numbers, begin: int) -> Floats:
    """Some rows from one on."""
    if isinstance(table, np.ndarray):
        return np.asarray(table[begin : begin + AT_ONCE], np.float64)
    return np.column_stack([column[begin : begin + AT_ONCE] for column in table])


def _blocks(table: Numbers, *others: Numbers | None) -> Iterator[tuple[Floats, Mask]]:
    """Some rows at a time, so that no copy of a whole table is made, and which cells of them all tables know."""
    for begin in range(0, _shape(table)[0], AT_ONCE):
        values = _rows(table, begin)
        known = ~np.isnan(values)
        for other in others:
            if other is not None and other is not table:
                known &= ~np.isnan(_rows(other, begin))
        yield values, known


def _cells(before: Numbers, after: Numbers, deviation: Floats | None) -> tuple[float, int]:
    """The mean change of a cell, and how many grew out of nothing."""
    total, n_finite, n_grown = 0.0, 0, 0
    for i, (values, known) in enumerate(_blocks(before, after)):
        x, y = values[known], _rows(after, i * AT_ONCE)[known]
        if deviation is None:
            changes = _relative(x, y, np.zeros(len(x)))
        else:
            changes = _ratio(np.abs(x - y), np.broadcast_to(np.sqrt(2) * deviation, values.shape)[known])
        finite = changes[np.isfinite(changes)]
        total, n_finite, n_grown = total + finite.sum(), n_finite + len(finite), n_grown + int(np.isinf(changes).sum())
    return float(total / n_finite) if n_finite else 0.0, n_grown


def _relative(before: Floats, after: Floats, scale: Floats) -> Floats:
    """Changes as a part of what they change; what is negligible on the given scale counts as 0."""
    size, change = np.abs(before), np.abs(after - before)
    return _ratio(np.where(change <= NEGLIGIBLE * scale, 0.0, change), np.where(size <= NEGLIGIBLE * scale, 0.0, size))


def _ratio(change: Floats, size: Floats) -> Floats:
    """The quotient; 0 where nothing changed, infinite where something grew out of nothing."""
    return np.divide(change, size, out=np.where(change > 0, np.inf, 0.0), where=size > 0)


def _mean(variations: Floats) -> float:
    some = variations[np.isfinite(variations)]
    return float(some.mean()) if len(some) else 0.0


def _correlations(covariances: Floats) -> Floats:
    """Pearson's correlations, nan where an attribute is constant.

    Where cells are missing, a covariance and the two variances are of different records, and the quotient can leave
    the range.
    """
    deviation = np.sqrt(np.maximum(np.diagonal(covariances), 0.0))
    product = np.outer(deviation, deviation)
    quotient = np.divide(covariances, product, out=np.full_like(product, np.nan), where=product > NEGLIGIBLE)
    return np.asarray(np.clip(quotient, -1.0, 1.0))
