"""How a reader takes a published column: at its word, and every value that a label covers equally likely.

A column that still holds single values of the original's domain is read as it is. Of any other the measures
look at the groups: a range is uniform between the ends that it shows, a set uniform over its members, a label
of a hierarchy uniform over the values below it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from shoal.arrays import Codes, Floats, Ints, Rows
from shoal.data.tables.table import Column, count_codes, spell
from shoal.utility.tables.grouping import Grouping, inner, moments
from shoal.utility.tables.loss import meets
from shoal.utility.tables.scale import Scale, positions_of
from shoal.utility.tables.spans import group_spans


@dataclass(frozen=True)
class ReadNumbers:
    """A number of a known position in each published record.

    Attributes
    ----------
    values : float64 array (n_published,)
        nan where missing.
    """

    values: Floats
    grouping: Grouping

    @cached_property
    def present(self) -> Floats:
        """The values that are not missing."""
        return self.values[~np.isnan(self.values)]

    @cached_property
    def _weights(self) -> Codes | None:
        """Of the present ones."""
        return None if self.grouping.weights is None else self.grouping.weights[~np.isnan(self.values)]

    @property
    def n_missing(self) -> int:
        """Published cells without a value."""
        n_present = len(self.present) if self._weights is None else int(self._weights.sum(dtype=np.int64))
        return self.grouping.n_published - n_present

    def moments(self) -> tuple[float, float]:
        """Mean and standard deviation."""
        return moments(self.present, self._weights) if len(self.present) else (float("nan"), float("nan"))

    def masses(self, edges: Floats) -> Floats:
        """Records between each two edges; what lies outside counts for the nearest cell."""
        inside = np.clip(self.present, edges[0], edges[-1])
        return np.histogram(inside, edges, weights=self._weights)[0].astype(np.float64)

    def centres(self) -> Floats:
        """Mean of each group, nan where all are missing."""
        known = ~np.isnan(self.values)
        count = self.grouping.count(known)
        held = self.present if self._weights is None else self.present * self._weights
        total = np.bincount(self.grouping.labels[known], held, minlength=self.grouping.n_groups)
        return np.asarray(np.divide(total, count, out=np.full(len(count), np.nan), where=count > 0))


@dataclass(frozen=True)
class Ranges:
    """A range for each group; ``is_whole`` ranges hold whole numbers only."""

    low: Floats
    high: Floats
    weights: Ints  # present records
    n_missing: int
    is_whole: bool

    def moments(self) -> tuple[float, float]:
        """Mean and standard deviation of the mixture of uniform distributions."""
        total = self.weights.sum()
        if not total:
            return float("nan"), float("nan")
        some = self.weights > 0
        weights, centre, width = self.weights[some], self.centres()[some], (self.high - self.low)[some]
        within = ((width + 1) ** 2 - 1) / 12 if self.is_whole else width**2 / 12
        mean = inner(weights, centre) / float(total)
        return mean, float(np.sqrt(inner(weights, (centre - mean) ** 2 + within) / total))

    def masses(self, edges: Floats) -> Floats:
        """Expected records between each two edges."""
        some = self.weights > 0
        reach = 0.5 if self.is_whole else 0.0
        low, high = self.low[some] - reach, self.high[some] + reach
        weights = self.weights[some].astype(np.float64)
        point = high <= low
        result = np.histogram(np.clip(low[point], edges[0], edges[-1]), edges, weights=weights[point])[0]
        low, high, weights = low[~point], high[~point], weights[~point]
        with np.errstate(over="ignore"):  # of ranges narrower than floats can divide by, infinity is clipped to 1
            below = [inner(weights, np.clip((e - low) / (high - low), 0.0, 1.0)) for e in edges]
        return np.asarray(result + np.diff(below), dtype=np.float64)

    def centres(self) -> Floats:
        """Middle of each range, nan where all values are missing."""
        return (self.low + self.high) / 2


@dataclass(frozen=True)
class Categories:
    """A category in each published record; index n_values is the missing one."""

    codes: Codes
    n_values: int
    grouping: Grouping

    def masses(self) -> Floats:
        """Records of each value, the missing last."""
        return count_codes(self.codes, self.grouping.weights, self.n_values + 1).astype(np.float64)

    @cached_property
    def _shares(self) -> tuple[Ints, Ints, Floats]:
        group, code, count = self.grouping.members(self.codes, self.n_values + 1)
        return group, code, count / self.grouping.sizes[group]

    def lumped(self, lumps: Rows, n_lumps: int, first: int, last: int) -> Floats:
        """Share of each lump of values in the groups first .. last - 1."""
        return _dense(*self._shares, lumps, n_lumps, first, last)


@dataclass(frozen=True)
class Sets:
    """The distinct values of a group stand for each of its records, all equally likely."""

    group: Ints
    code: Ints
    share: Floats
    n_values: int
    grouping: Grouping

    def masses(self) -> Floats:
        """Expected records of each value, the missing last."""
        weights = self.share * self.grouping.sizes[self.group]
        return np.bincount(self.code, weights, minlength=self.n_values + 1).astype(np.float64)

    def lumped(self, lumps: Rows, n_lumps: int, first: int, last: int) -> Floats:
        """Share of each lump of values in the groups first .. last - 1."""
        return _dense(self.group, self.code, self.share, lumps, n_lumps, first, last)


@dataclass(frozen=True)
class Labels:
    """A label for each group, one of few, uniform over some values; a share of the group may be missing."""

    label: Rows  # of each group
    table: tuple[Ints, Ints, Floats]  # (label, code, share), by label
    n_labels: int
    missing: Floats  # share of each group
    n_values: int
    grouping: Grouping

    def masses(self) -> Floats:
        """Expected records of each value, the missing last."""
        present = np.bincount(self.label, (1 - self.missing) * self.grouping.sizes, minlength=self.n_labels)
        label, code, share = self.table
        result = np.bincount(code, present[label] * share, minlength=self.n_values + 1).astype(np.float64)
        result[-1] += inner(self.missing, self.grouping.sizes)
        return result

    def lumped(self, lumps: Rows, n_lumps: int, first: int, last: int) -> Floats:
        """Share of each lump of values in the groups first .. last - 1."""
        used, place = np.unique(self.label[first:last], return_inverse=True)
        label, code, share = self.table
        at = np.full(self.n_labels, -1, dtype=np.int64)
        at[used] = np.arange(len(used))
        keep = at[label] >= 0
        rows = _dense(at[label[keep]], code[keep], share[keep], lumps, n_lumps, 0, len(used), by_group=False)
        missing = self.missing[first:last, None]
        result = np.asarray(rows[place] * (1 - missing))
        result[:, lumps[self.n_values]] += missing[:, 0]
        return result


Reading = ReadNumbers | Ranges | Categories | Sets | Labels


def _dense(
    group: Ints,
    code: Ints,
    share: Floats,
    lumps: Rows,
    n_lumps: int,
    first: int,
    last: int,
    by_group: bool = True,
) -> Floats:
    """Spread (group, code, share) out into a matrix of groups and lumps."""
    part = slice(*np.searchsorted(group, [first, last])) if by_group else slice(None)
    keys = (group[part] - first) * n_lumps + lumps[code[part]]
    cells = np.bincount(keys, share[part], minlength=(last - first) * n_lumps).astype(np.float64)
    return cells.reshape(last - first, n_lumps)


def read_published(scale: Scale, published: Column, kept: Rows, grouping: Grouping) -> Reading:
    """Decide how a published column is read; `kept` are its rows that belong to a group."""
    codes = published.codes[kept]
    used = np.bincount(codes, minlength=len(published.values))[: len(published.values)] > 0
    dictionary = Column(published.name, codes[:0], published.values[used])
    if scale.kind == "number":
        positions = positions_of(dictionary, scale.attribute.type)
        if positions is None and not used.any():
            positions = np.zeros(0)
        if positions is not None:
            spread = np.full(len(published.values) + 1, np.nan)
            spread[:-1][used] = positions
            return ReadNumbers(spread[np.minimum(codes, len(published.values))], grouping)
        return _ranges(scale, grouping, published, kept)
    place = {text: i for i, text in enumerate(scale.texts)}
    mapped = [place.get(text, -1) for text in spell(dictionary.values)]
    if min(mapped, default=0) >= 0:
        to_original = np.full(len(published.values) + 1, scale.n_values, dtype=np.int32)
        to_original[:-1][used] = mapped
        return Categories(to_original[np.minimum(codes, len(published.values))], scale.n_values, grouping)
    if scale.ancestors is not None:
        return _tree_labels(scale, grouping)
    if scale.kind == "order":
        return _spans(scale, grouping)
    group, code, _ = grouping.members(scale.codes[grouping.rows], scale.n_values + 1)
    distinct = np.bincount(group, minlength=grouping.n_groups)
    return Sets(group, code, 1 / distinct[group], scale.n_values, grouping)


def _ranges(scale: Scale, grouping: Grouping, published: Column, kept: Rows) -> Ranges:
    values = scale.numbers()[grouping.rows]
    n_present = grouping.count(~np.isnan(values))
    n_missing = grouping.n_published - int(n_present.sum())
    return Ranges(*group_spans(scale, grouping, published, kept), n_present, n_missing, scale.is_whole)


def _missing_share(scale: Scale, grouping: Grouping) -> Floats:
    return grouping.count(scale.codes[grouping.rows] == scale.n_values) / grouping.sizes


def _tree_labels(scale: Scale, grouping: Grouping) -> Labels:
    assert scale.ancestors is not None
    height, node = meets(scale, grouping)
    widths = [len(leaves) for leaves in scale.leaves]
    offsets = np.concatenate([[0], np.cumsum(widths)])
    label = offsets[np.maximum(height, 0)] + node
    above = (scale.ancestors + offsets[:-1]).T.ravel()  # by height, then by value
    by_label = np.argsort(above, kind="stable")
    below = np.bincount(above, minlength=offsets[-1])
    above, values = above[by_label], np.tile(np.arange(scale.n_values), len(widths))[by_label]
    table = (above, values, 1 / below[above])
    return Labels(label, table, int(offsets[-1]), _missing_share(scale, grouping), scale.n_values, grouping)


def _spans(scale: Scale, grouping: Grouping) -> Labels:
    """Ranges of ordered categories: one label for each pair of extremes that occurs."""
    assert scale.positions is not None
    by_rank = np.argsort(scale.positions, kind="stable")
    ranks = np.empty(scale.n_values + 1)
    ranks[by_rank] = np.arange(scale.n_values)
    ranks[-1] = np.nan
    cells = ranks[scale.codes[grouping.rows]]
    low = np.nan_to_num(grouping.least(cells)).astype(np.int64)
    high = np.nan_to_num(grouping.greatest(cells)).astype(np.int64)
    keys, label = np.unique(low * (scale.n_values + 1) + high, return_inverse=True)
    low, high = keys // (scale.n_values + 1), keys % (scale.n_values + 1)
    widths = high - low + 1
    owner = np.repeat(np.arange(len(keys)), widths)
    inside = np.arange(widths.sum()) - np.repeat(np.cumsum(widths) - widths, widths)
    table = (owner, by_rank[low[owner] + inside], 1 / widths[owner])
    return Labels(label, table, len(keys), _missing_share(scale, grouping), scale.n_values, grouping)
