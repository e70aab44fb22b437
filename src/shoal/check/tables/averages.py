"""Averages of present values: whoever knows which cells are missing must not find an average of few.

Within a column, all groups that publish one value are taken together. Their present originals must be at least k, and
the value must be their average: the mean, or the mean after one stretching of all means about their own mean to the
variance of the values; the most frequent value; of ordered categories the median, where the order is known, and else
one of the values. (Groups that have equal averages by chance have it together too.) Each original then counts in one
published average of the column, so that no two can be subtracted.

**Guarantee.** No published value of a quasi-identifier is the average of fewer than k present originals; where persons
count, of those of fewer than k persons.
**Not protected.** Who knows all of them but one can work the last one out.

Pseudo-records are drawn from means and shares instead: there, a group of which fewer than k originals have a value of a
column must publish none.

With the original alone, a value that stands in more published records than cells of the column are missing in all is
known to be of the rest at least; for everything else the groups are needed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal.arrays import Codes, Floats, Ints, Rows
from shoal.check.evidence import Evidence
from shoal.check.guarantee import count
from shoal.check.tables.alongside import Alongside, alongside
from shoal.check.tables.cells import published as readable
from shoal.check.verdict import Asked, Verdict
from shoal.data.tables.coded_rows import CodedRows
from shoal.data.tables.dictionary import objects
from shoal.data.tables.table import Table, spell
from shoal.models import least_size

DIGITS = 1e-11  # twelve significant ones are written
_UNSTRETCHED = 1e-9  # by less, means are not stretched but lost among larger ones
SUMMED = 1e-11  # of the span of what is summed, what sums of floats are known by

NEEDS_ORIGINAL = "whether every average is of at least {k} present values, which takes the original"
NEEDS_GROUPS = (
    "That every average of {name!r} is of at least {k} present values needs the groups that the owner may have kept "
    "(--private), since cells of the original are missing."
)


def averages(table: Table | CodedRows, asked: Asked, evidence: Evidence) -> Verdict:
    """What cannot be verified of the averages of a table, and what is wrong with them; no guarantee of its own.

    Without the original, rows need not be held.
    """
    k = least_size(asked.requirements)
    if evidence.original is None:
        return Verdict((), not_compared=(NEEDS_ORIGINAL.format(k=k),))
    assert isinstance(table, Table), "who has the original holds the rows"
    columns = [_Averaged.of(table, evidence.original, name, asked) for name in dict.fromkeys(asked.quasi)]
    persons = evidence.original_persons if asked.counts_persons else None
    if not evidence.has_groups:
        few = [c.name for c in columns if not c.surely_stands_on(k, is_of_persons=persons is not None)]
        return Verdict((), tuple(NEEDS_GROUPS.format(name=name, k=k) for name in few))
    misfit = evidence.misfit(table)
    if misfit is not None:
        return Verdict((), (misfit,))
    assert evidence.groups is not None
    assert evidence.original_groups is not None
    known = np.unique(np.concatenate([evidence.groups, evidence.original_groups[evidence.original_groups >= 0]]))
    labels = np.searchsorted(known, evidence.groups)
    member = np.flatnonzero(evidence.original_groups >= 0)
    member_labels = np.searchsorted(known, evidence.original_groups[member])
    uneven = np.bincount(labels, minlength=len(known)) != np.bincount(member_labels, minlength=len(known))
    if uneven.any():
        return Verdict(
            (), findings=(f"{count(int(uneven.sum()), 'group')} published more or fewer records than it has",)
        )
    findings: list[str] = []
    for column in columns:
        findings += column.faults(labels, member, member_labels, k, persons)
    return Verdict((), findings=tuple(findings))


def drawn_from_few(
    columns: list[Alongside], groups: Ints, original_groups: Ints, k: int, persons: Ints | None = None
) -> tuple[str, ...]:
    """Which columns of pseudo-records show values of groups in which fewer than k originals, or persons, have any."""
    known = np.unique(np.concatenate([groups, original_groups[original_groups >= 0]]))
    labels = np.searchsorted(known, groups)
    findings = []
    for column in columns:
        member = (original_groups >= 0) & (column.original >= 0)
        whose = None if persons is None else persons[member]
        n_present = _n_behind(np.searchsorted(known, original_groups[member]), whose, len(known))
        few = np.unique(labels[(column.published >= 0) & (n_present < k)[labels]])
        if len(few):
            findings.append(
                f"the column {column.name!r} was drawn in {count(len(few), 'group')} from {_fewer(k, persons)}"
            )
    return tuple(findings)


def _n_behind(values: Ints, persons: Ints | None, n_values: int) -> Ints:
    """How many present originals are behind each value, or how many persons these are of."""
    if persons is not None:
        values = np.unique(np.column_stack([values, persons]), axis=0)[:, 0]
    return np.bincount(values, minlength=n_values).astype(np.int64)


def _fewer(k: int, persons: Ints | None) -> str:
    return f"fewer than {k} present values" if persons is None else f"present values of fewer than {k} persons"


@dataclass(frozen=True)
class _Averaged:
    """One column of both tables.

    Attributes
    ----------
    shown, held : int64 arrays of n_published and n_original
        A code for each cell, the same for the same text (of ordered categories the same sense); -1 where missing.
    shown_numbers, held_numbers : float64 arrays, or None
        What numbers and dates say, as in `Alongside`.
    is_mean : bool
        Whether it is a number or a date: a most frequent value, as each of different ones is, is then no average.
    order : int64 array, or None
        The place of each code in a known order.
    """

    name: str
    shown: Ints
    held: Ints
    shown_numbers: Floats | None
    held_numbers: Floats | None
    is_date: bool
    is_ordinal: bool
    is_mean: bool
    order: Ints | None

    @classmethod
    def of(cls, table: Table, original: Table, name: str, asked: Asked) -> _Averaged:
        attribute = asked.attributes.get(name)
        ours, theirs = readable(table[name], asked.markers), readable(original[name], asked.markers)
        texts = objects([*spell(ours.values), *spell(theirs.values)])
        distinct, place = np.unique(texts, return_inverse=True)
        (beside,) = alongside(table, original, [name], asked.markers, asked.attributes)
        given = {text: i for i, text in enumerate(attribute.order or ())} if attribute is not None else {}
        is_complete = bool(given) and all(text in given for text in distinct.tolist())
        is_ordinal = attribute is not None and attribute.type == "ordinal"
        shown, held = _spread(place[: len(ours.values)], ours.codes), _spread(place[len(ours.values) :], theirs.codes)
        if is_ordinal and not is_complete:  # grades may be numbers, of which 1 and 1.0 are one
            shown, held = beside.published, beside.original
        return cls(
            name,
            shown=shown,
            held=held,
            shown_numbers=beside.published_numbers,
            held_numbers=beside.original_numbers,
            is_date=beside.is_date,
            is_ordinal=is_ordinal,
            is_mean=attribute is not None and attribute.type in ("continuous", "date"),
            order=np.array([given[t] for t in distinct.tolist()], dtype=np.int64) if is_complete else None,
        )

    def surely_stands_on(self, k: int, *, is_of_persons: bool) -> bool:
        """Whether every published value stands for at least k present originals, whatever the groups are."""
        if is_of_persons:
            return not (self.held < 0).any()
        published = np.bincount(self.shown[self.shown >= 0])
        return bool((published[published > 0] >= k + np.count_nonzero(self.held < 0)).all())

    def faults(self, labels: Ints, member: Rows, member_labels: Ints, k: int, persons: Ints | None) -> list[str]:
        """What is wrong with the published values of groups 0 .. n - 1, a sentence each."""
        of_group = np.full(int(labels.max(initial=-1)) + 1, -1, dtype=np.int64)
        of_group[labels] = self.shown
        if (of_group[labels] != self.shown).any():
            return [f"the column {self.name!r} has different values in records of one group"]
        value = of_group[member_labels]
        counts_for = (value >= 0) & (self.held[member] >= 0)
        rows, value = member[counts_for], value[counts_for]
        n_values = int(max(self.shown.max(initial=-1), self.held.max(initial=-1))) + 1
        n_present = _n_behind(value, None if persons is None else persons[rows], n_values)
        used = np.unique(of_group[of_group >= 0])
        few = int(np.count_nonzero(n_present[used] < k))
        if few:
            return [f"the column {self.name!r} publishes {count(few, 'average')} of {_fewer(k, persons)}"]
        fits = self._means_fit(rows, value, used)
        fits = fits or (not self.is_mean and self._modes_fit(rows, value, used, n_values))
        if fits or (self.is_ordinal and self._medians_fit(rows, value, used, n_values)):
            return []
        return [f"the column {self.name!r} publishes values that are not the averages of their groups"]

    def _means_fit(self, rows: Rows, value: Ints, used: Ints) -> bool:
        """Whether all are means, or all are means stretched about their mean to the variance of the values."""
        if self.shown_numbers is None or self.held_numbers is None or not len(used):
            return not len(used)
        at = np.zeros(int(used.max()) + 1)
        at[self.shown[self.shown >= 0]] = self.shown_numbers[self.shown >= 0]
        told, place = at[used], np.searchsorted(used, value)
        own, width = _means(self.held_numbers[rows], place, len(used))
        slack = DIGITS * np.abs(told) + SUMMED * width + 0.5 * self.is_date
        if (np.abs(told - own) <= slack).all():  # no value of another group, however large, lets more pass
            return True
        unit = float(np.abs(self.held_numbers[rows]).max()) or 1.0
        numbers = self.held_numbers[rows] / unit
        n = np.bincount(place, minlength=len(used))
        middle = numbers.min() / 2 + numbers.max() / 2
        means = np.bincount(place, weights=numbers - middle, minlength=len(used)) / n + middle
        center = float(np.average(means, weights=n))
        spread = float(np.sqrt(np.average((means - center) ** 2, weights=n)))
        deviation = float(np.std(numbers))
        stretch = deviation / spread if spread > 1e-9 * deviation else 1.0
        if stretch <= 1 + _UNSTRETCHED:
            return False
        away, shown = means - center, told / unit - center
        slack = DIGITS * np.abs(told / unit) + SUMMED * (numbers.max() - numbers.min()) * max(1.0, stretch)
        if self.is_date:
            slack += 0.5 / unit
            # Other averages may have become the same day, then what is known here spreads less than they did.
            return _some_factor(away, shown, slack, stretch)
        return bool((np.abs(shown - away * stretch) <= slack).all())

    def _modes_fit(self, rows: Rows, value: Ints, used: Ints, n_values: int) -> bool:
        """Whether each is among the most frequent texts of what it stands for."""
        pairs, times = np.unique(value * n_values + self.held[rows], return_counts=True)
        most = np.zeros(n_values, dtype=np.int64)
        np.maximum.at(most, pairs // n_values, times)
        own = np.zeros(n_values, dtype=np.int64)
        is_own = pairs // n_values == pairs % n_values
        own[pairs[is_own] // n_values] = times[is_own]
        return bool((own[used] == most[used]).all())

    def _medians_fit(self, rows: Rows, value: Ints, used: Ints, n_values: int) -> bool:
        """Whether at least half are not above each and fewer than half below it; else whether it is one of them."""
        if self.order is None:
            return bool(np.isin(used, value[value == self.held[rows]]).all())
        mine, theirs = self.order[self.held[rows]], self.order[value]
        n = np.bincount(value, minlength=n_values)[used]
        below = np.bincount(value[mine < theirs], minlength=n_values)[used]
        up_to = np.bincount(value[mine <= theirs], minlength=n_values)[used]
        return bool(((2 * below < n) & (2 * up_to >= n)).all())


def _means(numbers: Floats, place: Ints, n_places: int) -> tuple[Floats, Floats]:
    """The mean of the numbers at each place, summed from the least of them, and how far these lie apart."""
    least, most = np.full(n_places, np.inf), np.full(n_places, -np.inf)
    half = numbers / 2  # no difference overflows
    np.minimum.at(least, place, half)
    np.maximum.at(most, place, half)
    width = most - least
    share = (half - least[place]) / np.where(width > 0, width, 1.0)[place]
    above = np.bincount(place, share, n_places) / np.bincount(place, minlength=n_places) * width
    with np.errstate(over="ignore"):
        return (2 * least + above) + above, 2 * width


def _some_factor(away: Floats, shown: Floats, slack: Floats, most: float) -> bool:
    """Whether one factor from 1 to `most` brings everything to what is shown."""
    still = away == 0
    with np.errstate(divide="ignore", invalid="ignore"):
        ends = np.sort([(shown - slack) / away, (shown + slack) / away], axis=0)[:, ~still]
    fits = ends[0].max(initial=1.0) <= ends[1].min(initial=most) * (1 + DIGITS)
    return bool(fits and (np.abs(shown[still]) <= slack[still]).all())


def _spread(of_values: npt.NDArray[Any], codes: Codes) -> Ints:
    return np.append(of_values, -1)[np.minimum(codes, len(of_values))].astype(np.int64)
