"""Aggregate: every record of a group gets the group's average record.

The mean of numbers and dates, the median of ordered categories, the most frequent of plain ones (Domingo-Ferrer and
Torra, "Ordinal, Continuous and Heterogeneous k-Anonymity Through Microaggregation", DMKD 11, 2005).

Averages are of present values, and of at least k of them. Groups with fewer share one average with groups beside them
in the column's own order: each value counts in one published average of the column, so none can be subtracted from
another, whoever knows which cells are missing.

**Guarantee.** The published quasi-identifiers of a group are equal, so a partition into groups of at least k is
k-anonymous, and every published average is of at least k present values. **Not protected.** The sensitive values inside
a group; k times a mean is a sum over k records; a group of which more than half is missing says that it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from shoal.arrays import Floats, Ints, Mask, Rows
from shoal.data.tables.attribute import Attribute
from shoal.data.tables.parse import parse_dates
from shoal.data.tables.table import Column
from shoal.errors import Infeasible
from shoal.report.points import Point
from shoal.tables.encoding import Ranked, rank
from shoal.tables.groups import Groups, n_persons_in
from shoal.tables.publish.base import PUBLICATIONS, GroupedRecords, Publication, PublishedGroups

if TYPE_CHECKING:
    from shoal.kinds.tables.policy import Method

SIGNIFICANT_DIGITS = 12


@dataclass(frozen=True)
class Aggregated:
    """A column of averages, and how many records share that of other groups, as theirs had no value or fewer than k."""

    column: Column
    n_imputed: int
    n_widened: int


def aggregate(
    source: Column,
    ranked: Ranked,
    groups: Groups,
    *,
    k: int,
    missing: str,
    restore_variance: bool,
    persons: Ints | None = None,
) -> Aggregated:
    """Replace a column by the average of each group, or of several where one has fewer than k values.

    A group of which more than half is missing publishes a missing value; under ``missing="any"`` that would tell the
    records apart, so it shares the average of groups beside it, and one without any value that of those in the middle
    of the column. Values of a group that publishes a missing value count nowhere. With `persons`, whose each record is,
    an average is of values of at least k of them.
    """
    is_missing = np.isnan(ranked.positions)[ranked.ranks]
    n_present = groups.sum(~is_missing)
    present = np.flatnonzero(~is_missing)
    whose = None if persons is None else persons[present]

    def n_held(of_group: npt.NDArray[np.integer[Any]], n: int) -> Ints:
        """The values under each number that groups have, or the persons of these; of a negative one none."""
        number = of_group[groups.labels[present]]
        some = number >= 0
        return n_persons_in(number[some], None if whose is None else whose[some], n)

    n_each = n_held(np.arange(len(n_present)), len(n_present))
    if missing == "any" and n_held(np.zeros(len(n_present), dtype=np.int64), 1)[0] < k:
        of = "records" if whose is None else "persons"
        raise Infeasible(
            f"column {ranked.name!r} holds values of fewer than {k} {of}, and an average of so few would reveal "
            "single ones; drop it or publish by generalising"
        )
    blank = np.zeros(len(n_present), dtype=bool) if missing == "any" else 2 * n_present < groups.sizes
    if n_held(np.where(blank, -1, 0), 1)[0] < k:
        blank[:] = True
    joined = _joined(_averages(ranked, groups, n_present, is_missing), n_each, ~blank, k, n_held)
    wide = Groups.of(joined[groups.labels])
    n_present_wide = np.bincount(joined, weights=n_present).astype(np.int64)
    blank_wide = np.zeros(len(wide.sizes), dtype=bool)
    blank_wide[joined[blank]] = True
    average = _averages(ranked, wide, n_present_wide, is_missing)
    if ranked.kind == "number" and restore_variance:
        counted = ~is_missing & ~blank_wide[wide.labels]
        average = _restore_variance(average, ranked.positions[ranked.ranks[counted]], n_present_wide * ~blank_wide)
    is_few = (n_each < k) & ~blank
    return Aggregated(
        _column(source, ranked, average, blank_wide, wide),
        n_imputed=int(groups.sizes[is_few & (n_present == 0)].sum()),
        n_widened=int(groups.sizes[is_few & (n_present > 0)].sum()),
    )


def group_means(ranked: Ranked, groups: Groups) -> Floats:
    """The mean of each group in a column of numbers or dates, all of them present."""
    return _means(ranked, groups, groups.sizes, np.zeros(len(ranked.ranks), dtype=bool))


def published_means(source: Column, ranked: Ranked, means: Floats) -> Column:
    """The column that is published of such means, with a row for each."""
    each = Groups(np.arange(len(means), dtype=np.int32), np.ones(len(means), dtype=np.int64))
    return _column(source, ranked, means, np.zeros(len(means), dtype=bool), each)


def _joined(
    average: Floats,
    n_present: Ints,
    some: Mask,
    k: int,
    n_held: Callable[[npt.NDArray[np.integer[Any]], int], Ints],
) -> Rows:
    """Which groups share an average: a number for each, from 0.

    Along the averages, a group with fewer than k present values takes in the next ones until there are k; what is left
    at the end joins those before. Groups without any present value join those in the middle. Groups that are not among
    `some` stay alone. The loop runs over groups, never over records. A person may have values in several groups, so
    where persons count, those that were joined may still have values of fewer than k, and take in the next ones again.
    """
    alone = np.arange(len(n_present))
    if not (some & (n_present < k)).any():
        return alone
    held = np.flatnonzero(some & (n_present > 0))
    order = held[np.argsort(average[held], kind="stable")]
    opens, total = np.zeros(len(order), dtype=bool), k
    for i, n in enumerate(n_present[order].tolist()):
        if total >= k:
            opens[i], total = True, 0
        total += n
    if total < k:
        opens[np.flatnonzero(opens)[-1]] = False
    while np.count_nonzero(opens) > 1:
        run = np.full(len(n_present), -1)
        run[order] = np.cumsum(opens) - 1
        starts = np.flatnonzero(opens)
        few = np.flatnonzero(n_held(run, len(starts)) < k)
        if not len(few):
            break
        opens[starts[np.minimum(few + 1, len(starts) - 1)]] = False
    first = order[np.flatnonzero(opens)]
    alone[order] = first[np.cumsum(opens) - 1]
    middle = order[np.searchsorted(np.cumsum(n_present[order]), n_present[order].sum() / 2)]
    alone[some & (n_present == 0)] = alone[middle]
    return np.asarray(np.unique(alone, return_inverse=True)[1])


def _averages(ranked: Ranked, groups: Groups, n_present: Ints, is_missing: Mask) -> Floats:
    """The average of each group in the manner of the column's kind; of one without values it means nothing."""
    if ranked.kind == "number":
        return _means(ranked, groups, n_present, is_missing)
    if ranked.kind == "order":
        return groups.median_rank(ranked.ranks, ~is_missing).astype(np.float64)
    return groups.mode_rank(ranked.ranks, ~is_missing, ranked.n_values).astype(np.float64)


def _means(ranked: Ranked, groups: Groups, n_present: Ints, is_missing: Mask) -> Floats:
    """Group means, summed from the least value of each group, so that no other group's values take digits from them.

    Units are powers of two, and halves are added, so that nothing overflows and no division rounds.
    """
    low, high = groups.span(ranked.ranks, ~is_missing)
    is_known = n_present > 0
    least, most = (ranked.positions[np.where(is_known, ends, 0)] / 2 for ends in (low, high))
    unit = np.ldexp(1.0, np.frexp(np.where(is_known, most - least, 0.0))[1] - 1)
    above = (ranked.positions[ranked.ranks] / 2 - least[groups.labels]) / unit[groups.labels]
    half = groups.sum(np.where(is_missing, 0.0, above)) / np.maximum(n_present, 1) * unit
    means = (2 * least + half) + half
    # A mean of equal values is that value, to the last bit.
    same = (low == high) & is_known
    means[same] = ranked.positions[low[same]]
    return np.asarray(means)


def _restore_variance(average: Floats, values: Floats, n_present: Ints) -> Floats:
    """Stretch the averages about their mean until they vary as the values did (the lecture's IL3 = 0)."""
    if len(values) == 0:
        return average
    unit = float(np.abs(values).max()) or 1.0  # no square overflows
    scaled, values = average / unit, values / unit
    mean = np.average(scaled, weights=n_present)
    spread = np.sqrt(np.average((scaled - mean) ** 2, weights=n_present))
    if spread <= 1e-9 * np.std(values):  # averages that differ by rounding alone are one
        return average
    stretched = np.asarray((mean + (scaled - mean) * (np.std(values) / spread)) * unit)
    return stretched if np.isfinite(stretched).all() else average


def _column(source: Column, ranked: Ranked, average: Floats, blank: Mask, groups: Groups) -> Column:
    """The published column: numbers as floats, dates as they were spelled, categories as they were."""
    marker = source.markers[:1] or (None,)
    if ranked.kind != "number":
        assert ranked.labels is not None
        values = ranked.labels[: ranked.n_values - ranked.has_missing]
        return _sorted(source.name, values, np.where(blank, len(values), average).astype(np.int64), marker, groups)
    dates = parse_dates(source.values)
    if dates is not None:
        days = np.round(np.where(blank, 0.0, average)).astype("datetime64[D]")
        spelled, codes = np.unique(days, return_inverse=True)
        if source.is_text:
            texts = np.array([d.strftime(dates.form) for d in spelled.tolist()], dtype=object)
            return _sorted(source.name, texts, np.where(blank, len(texts), codes), marker, groups)
        return _sorted(
            source.name, spelled.astype("datetime64[us]"), np.where(blank, len(spelled), codes), marker, groups
        )
    numbers, codes = np.unique(_rounded(np.where(blank, 0.0, average)), return_inverse=True)
    return _sorted(source.name, numbers, np.where(blank, len(numbers), codes), marker, groups)


def _sorted(
    name: str,
    values: npt.NDArray[np.generic],
    codes: Ints,
    marker: tuple[str | None, ...],
    groups: Groups,
) -> Column:
    """A column of the groups' values with the dictionary in ascending order and nothing in it that no group has."""
    used = np.unique(codes[codes < len(values)])
    order = used[np.argsort(values[used], kind="stable")]
    new_code = np.full(len(values) + 1, len(order), dtype=np.int32)
    new_code[order] = np.arange(len(order), dtype=np.int32)
    of_group = new_code[codes]
    return Column(name, of_group[groups.labels], values[order], marker if (of_group == len(order)).any() else ())


def _rounded(numbers: Floats) -> Floats:
    """Numbers to twelve significant digits: sums of k floats are not known better."""
    return np.array([float(f"{v:.{SIGNIFICANT_DIGITS}g}") for v in numbers], dtype=np.float64)


class Aggregation(Publication):
    """The average of each group."""

    name = "aggregate"
    help = "Each record carries the average of its group"
    technique = "microaggregation"
    place = 0

    def publish(self, records: GroupedRecords) -> PublishedGroups:
        """Average every group."""
        policy, columns = records.policy, {}
        for r in records.ranked:
            source = records.table[r.name]
            # A hierarchy is for labels: numbers with one still have a mean, and ordered categories a median.
            values = rank(source, replace(records.attributes[r.name], hierarchy=None)) if r.kind == "tree" else r
            made = aggregate(
                source,
                values,
                records.groups,
                k=policy.k,
                missing=policy.missing,
                restore_variance=policy.method.restore_variance,
                persons=records.persons,
            )
            columns[r.name] = made.column
            if made.n_widened:
                records.note(
                    f"{made.n_widened:,} records of groups with {r.name!r} of fewer than {policy.k} "
                    f"{'records' if records.persons is None else 'persons'} got the average of several groups."
                )
            if made.n_imputed:
                records.note(f"{made.n_imputed:,} records of groups without any {r.name!r} got the average of others.")
        return PublishedGroups(columns, records.groups)

    def words(self, method: Method) -> dict[str, str]:
        """Whether averages are stretched."""
        restored = "averages are stretched so that each column keeps its variance"
        return {"Variance": restored if method.restore_variance else "averages are published as they are"}

    def treatment(self, attribute: Attribute, *, by_hierarchy: bool) -> str:
        """The kind of average."""
        average = {"continuous": "mean", "date": "mean", "ordinal": "median category"}
        return f"replaced by the {average.get(attribute.type, 'most frequent value')} of its group"

    def not_protected(self, kept: Sequence[str]) -> list[Point]:
        """Sums."""
        return [
            Point(
                "Averages add up",
                "An average times the number of values in it is their sum: whoever knows all others of a group can "
                "work out the last one. Where many cells of a group are missing, it shares the average of others.",
            )
        ]

    def good_use(self, has_kept: bool) -> list[Point]:
        """What averages are good for."""
        return [
            Point(
                "Means and totals",
                "of averaged numbers, over the whole table or many groups, stay close to the truth.",
            ),
            Point(
                "Spread",
                "inside groups is gone: extremes, and standard errors unless the variance was restored, are too small.",
            ),
            *super().good_use(has_kept),
        ]


PUBLICATIONS.register(Aggregation())
