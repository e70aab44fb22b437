"""How strongly attributes belong together, before and after.

Pearson's correlation for two numbers, Cramér's V for two categories, the correlation ratio for a number and a
category. All three come from the same sums: of products of standardised numbers, of numbers by category, of
records by two categories. Of a release those sums are taken over groups, for a label says the same of each
record of its group.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal.arrays import Codes, Floats, Ints, Rows
from shoal.data.tables.table import count_codes
from shoal.utility.tables.grouping import Grouping, inner, moments
from shoal.utility.tables.reading import Categories, Ranges, Reading, ReadNumbers
from shoal.utility.tables.scale import Scale

N_ATTRIBUTES = 12
N_CATEGORIES = 50
GROUPS_A_CHUNK = 8192
# Matrix products of up to so many steps are done by one thread; see `inner`.
STEPS_ALONE = 1 << 18


Lumps = tuple[Rows, int]


@dataclass(frozen=True)
class Association:
    """Matrices of association between attributes.

    Attributes
    ----------
    kinds : tuple of {"number", "category"}
        What each attribute was taken for.
    before, after : tuple of tuple of float
        Symmetric, 1 on the diagonal. Pearson's correlation keeps its sign, the others lie in 0 .. 1; an
        attribute with one value has 0 with all others.
    mean_change : float
        Mean absolute difference over all pairs of attributes.
    left_out : tuple of str
        Attributes beyond the first twelve.
    """

    names: tuple[str, ...]
    kinds: tuple[str, ...]
    before: tuple[tuple[float, ...], ...]
    after: tuple[tuple[float, ...], ...]
    mean_change: float
    left_out: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return {
            "names": list(self.names),
            "kinds": list(self.kinds),
            "before": [list(row) for row in self.before],
            "after": [list(row) for row in self.after],
            "mean_change": self.mean_change,
            "left_out": list(self.left_out),
        }


def associate(scales: Sequence[Scale], readings: Sequence[Reading], grouping: Grouping) -> Association:
    """Associations among the first twelve attributes of the original and of the release.

    Categories beyond the 49 most frequent of the original are one. A missing number counts as the mean, a
    missing category as a category.
    """
    names = tuple(s.name for s in scales[:N_ATTRIBUTES])
    pairs = list(zip(scales[:N_ATTRIBUTES], readings[:N_ATTRIBUTES], strict=True))
    lumps = [_lumps(s) for s, _ in pairs]
    weights = pairs[0][0].weights if pairs else None
    before = _of_rows([_row_values(s, lump) for (s, _), lump in zip(pairs, lumps, strict=True)], weights)
    after = _of_release(pairs, lumps, grouping)
    upper = np.triu_indices(len(names), 1)
    change = float(np.abs(before - after)[upper].mean()) if len(upper[0]) else 0.0
    return Association(
        names,
        tuple("number" if s.kind == "number" else "category" for s, _ in pairs),
        tuple(tuple(float(v) for v in row) for row in before),
        tuple(tuple(float(v) for v in row) for row in after),
        change,
        tuple(s.name for s in scales[N_ATTRIBUTES:]),
    )


def cramers_v(table: Floats) -> float:
    """Cramér's V of a contingency table, uncorrected: ``sqrt(chi2 / n / min(rows - 1, columns - 1))``.

    References
    ----------
    H. Cramér, "Mathematical Methods of Statistics", Princeton 1946.
    """
    rows, columns = table.sum(axis=1), table.sum(axis=0)
    freedom = min(np.count_nonzero(rows > 0), np.count_nonzero(columns > 0)) - 1
    if freedom < 1:
        return 0.0
    expected = np.outer(rows, columns)
    # sum of n_ij^2 / (n_i n_j) - 1 is chi2 / n, whatever the scale of the table.
    phi2 = float(np.divide(table**2, expected, out=np.zeros_like(table), where=expected > 0).sum()) - 1.0
    return float(np.sqrt(np.clip(phi2 / freedom, 0.0, 1.0)))


def correlation_ratio(sums: Floats, counts: Floats) -> float:
    """Eta of a standardised number by category: ``sqrt(sum of n_c mean_c^2 / n)``.

    References
    ----------
    K. Pearson, "On the general theory of skew correlation and non-linear regression", London 1905.
    """
    between = np.divide(sums**2, counts, out=np.zeros_like(sums), where=counts > 0).sum()
    return float(np.sqrt(np.clip(between / counts.sum(), 0.0, 1.0))) if counts.sum() else 0.0


def _lumps(scale: Scale) -> Lumps:
    """Lump of each code of a category, the missing one included, and the number of lumps."""
    if scale.kind == "number":
        return np.zeros(0, dtype=np.intp), 1
    n_codes = scale.n_values + 1
    if n_codes <= N_CATEGORIES:
        return np.arange(n_codes), n_codes
    lumps = np.full(n_codes, N_CATEGORIES - 1, dtype=np.intp)
    top = np.argsort(-scale.counts, kind="stable")[: N_CATEGORIES - 1]
    lumps[top] = np.arange(len(top))
    return lumps, N_CATEGORIES


@dataclass(frozen=True)
class _Rows:
    """Standardised numbers, or lumps below n_lumps, of each record."""

    values: npt.NDArray[Any]
    n_lumps: int = 0


def _row_values(scale: Scale, lumps: Lumps) -> _Rows:
    if scale.kind == "number":
        return _Rows(_standardised(scale.numbers(), scale.weights))
    return _Rows(lumps[0][scale.codes], lumps[1])


def _standardised(numbers: Floats, weights: Codes | None) -> Floats:
    known = ~np.isnan(numbers)
    held = None if weights is None else weights[known]
    mean, sd = moments(numbers[known], held) if known.any() else (0.0, 0.0)
    # A constant column of floats may have a deviation that is rounding alone.
    if sd <= 1e-12 * max(1.0, abs(mean)):
        return np.zeros(len(numbers))
    return np.asarray(np.nan_to_num((numbers - mean) / sd, nan=0.0))


def _strength(a: _Rows, b: _Rows, weights: Codes | None) -> float:
    n_records = max(1, len(a.values) if weights is None else int(weights.sum(dtype=np.int64)))
    if not a.n_lumps and not b.n_lumps:
        first, second = (side if weights is None else side * weights for side in (a.values, b.values))
        norm = np.sqrt(inner(first, a.values) * inner(second, b.values))
        return float(np.clip(inner(first, b.values) / norm, -1.0, 1.0)) if norm else 0.0
    if a.n_lumps and b.n_lumps:
        cells = count_codes(a.values * b.n_lumps + b.values, weights, a.n_lumps * b.n_lumps)
        return cramers_v(cells.reshape(a.n_lumps, b.n_lumps) / n_records)
    number, category = (b, a) if a.n_lumps else (a, b)
    held = number.values if weights is None else number.values * weights
    counts = count_codes(category.values, weights, category.n_lumps).astype(np.float64)
    sums = np.bincount(category.values, held, minlength=category.n_lumps).astype(np.float64)
    return correlation_ratio(sums, counts)


def _of_rows(columns: Sequence[_Rows | None], weights: Codes | None, into: Floats | None = None) -> Floats:
    """Associations of all pairs of columns that are given by record."""
    matrix = np.eye(len(columns)) if into is None else into
    for i, a in enumerate(columns):
        for j, b in enumerate(columns[:i]):
            if a is not None and b is not None:
                matrix[i, j] = matrix[j, i] = _strength(a, b, weights)
    return matrix


def _of_release(pairs: Sequence[tuple[Scale, Reading]], lumps: Sequence[Lumps], grouping: Grouping) -> Floats:
    by_row: list[_Rows | None] = []
    for (_, reading), (lump, n_lumps) in zip(pairs, lumps, strict=True):
        if isinstance(reading, ReadNumbers):
            by_row.append(_Rows(_standardised(reading.values, grouping.weights)))
        elif isinstance(reading, Categories):
            by_row.append(_Rows(lump[reading.codes], n_lumps))
        else:
            by_row.append(None)
    matrix = np.eye(len(pairs))
    if any(r is None for r in by_row):
        _by_group(matrix, [r for _, r in pairs], lumps, grouping)
    return _of_rows(by_row, grouping.weights, matrix)


def _by_group(matrix: Floats, readings: Sequence[Reading], lumps: Sequence[Lumps], grouping: Grouping) -> None:
    """Associations from the products of group-wise expectations, a chunk of groups at a time.

    Column 0 of a block is 1, so that the products with it are the margins; then come the standardised
    centre of a number, or the shares of a category's lumps, of each attribute.
    """
    widths = [n for _, n in lumps]
    ends = 1 + np.cumsum(widths)
    parts = [slice(e - w, e) for e, w in zip(ends, widths, strict=True)]
    numbers = {i: _standard_centres(r, grouping) for i, r in enumerate(readings) if isinstance(r, ReadNumbers | Ranges)}
    products = np.zeros((int(ends[-1]), int(ends[-1])))
    for first in range(0, grouping.n_groups, GROUPS_A_CHUNK):
        last = min(first + GROUPS_A_CHUNK, grouping.n_groups)
        block = np.ones((last - first, int(ends[-1])))
        for i, reading in enumerate(readings):
            if isinstance(reading, ReadNumbers | Ranges):
                block[:, parts[i]] = numbers[i][0][first:last, None]
            else:
                block[:, parts[i]] = reading.lumped(*lumps[i], first, last)
        products += _products(block, grouping.sizes[first:last])
    total = max(1, grouping.n_published)
    for i in range(len(readings)):
        for j in range(i):
            cells = products[parts[i], parts[j]]
            if i in numbers and j in numbers:
                n_both = np.sqrt(float(numbers[i][1]) * numbers[j][1])
                value = float(np.clip(cells[0, 0] / n_both, -1.0, 1.0)) if n_both else 0.0
            elif i in numbers or j in numbers:
                value = correlation_ratio(cells.ravel(), products[0, parts[j] if i in numbers else parts[i]])
            else:
                value = cramers_v(cells / total)
            matrix[i, j] = matrix[j, i] = value


def _products(block: Floats, weights: Ints) -> Floats:
    """Weighted sums over rows of the products of all pairs of columns, in stacks of a few rows."""
    n_rows, width = block.shape
    size = max(1, STEPS_ALONE // width**2)
    n_stacks = -(-n_rows // size)
    padded = np.zeros((n_stacks * size, width))
    padded[:n_rows] = block * np.sqrt(weights)[:, None]
    stacks = padded.reshape(n_stacks, size, width)
    return np.asarray((stacks.transpose(0, 2, 1) @ stacks).sum(axis=0))


def _standard_centres(reading: ReadNumbers | Ranges, grouping: Grouping) -> tuple[Floats, int]:
    """Expected standardised number of each group's records, 0 for a missing one, and how many are present."""
    mean, sd = reading.moments()
    n_present = grouping.n_published - reading.n_missing
    if not n_present or sd <= 1e-12 * max(1.0, abs(mean)):
        return np.zeros(grouping.n_groups), n_present
    present = reading.weights if isinstance(reading, Ranges) else grouping.count(~np.isnan(reading.values))
    return np.nan_to_num((reading.centres() - mean) / sd) * present / grouping.sizes, n_present
