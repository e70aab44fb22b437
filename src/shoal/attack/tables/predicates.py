"""Predicates about people made from published cells, and how many people they are true of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from shoal.arrays import Bytes, Codes, Floats, Ints, Words
from shoal.attack.tables.cells import CellLabels, People, View
from shoal.check.slices.sliced import numbered
from shoal.kernels.attack.covering import Runs, count_covered, fill_bits

LEAST, MOST = -np.finfo(np.float64).max, np.finfo(np.float64).max  # of values that are not missing
EQUAL, AT_LEAST, AT_MOST, MORE, LESS, OTHER = range(6)


@dataclass(frozen=True)
class Predicates:
    """Conditions about columns, all true together.

    Attributes
    ----------
    columns, labels, operators : int64 arrays (n_predicates, n_conditions)
        Column, label of it, and how a value has to stand to it: EQUAL (what the label covers), AT_LEAST, ...
    """

    columns: Ints
    labels: Ints
    operators: Ints

    @property
    def n(self) -> int:
        """Number of predicates."""
        return len(self.columns)

    def take(self, places: Ints) -> Predicates:
        """Some of them."""
        return Predicates(self.columns[places], self.labels[places], self.operators[places])

    def beside(self, other: Predicates) -> Predicates:
        """More of them."""
        return Predicates(
            np.concatenate([self.columns, other.columns]),
            np.concatenate([self.labels, other.labels]),
            np.concatenate([self.operators, other.operators]),
        )

    def distinct(self) -> Predicates:
        """Each once, in the order of appearance; conditions have to stand in the order of their columns."""
        parts = [*self.columns.T, *self.labels.T, *self.operators.T]
        return self.take(np.sort(numbered(parts)[1])) if self.n else self


class Conditions(NamedTuple):
    """Conditions of some predicates, all true together; arrays (n_predicates, n_conditions).

    Attributes
    ----------
    columns : int64 array
        The column that each is about; those of a predicate differ.
    low, high : float64 arrays
        Between which values, ends included; a missing value is minus infinity.
    or_missing : uint8 array
        Whether a missing value will do as well.
    is_not : uint8 array
        Whether the opposite is meant (a missing value does not differ from others: it is missing).
    begins, ends : int64 arrays
        Where the values that will do stand in `listed`; none if all from low to high do.
    listed : float64 array
        One dimension, shared.
    """

    columns: Ints
    low: Floats
    high: Floats
    or_missing: Bytes
    is_not: Bytes
    begins: Ints
    ends: Ints
    listed: Floats

    def take(self, some: Ints) -> Conditions:
        """Those of some predicates."""
        c = self
        ends = c.low[some], c.high[some]
        return Conditions(
            c.columns[some], *ends, c.or_missing[some], c.is_not[some], c.begins[some], c.ends[some], c.listed
        )


class Crowd:
    """People to count among.

    Parameters
    ----------
    people : People
        Or published records, with a number for each label.
    persons : int64 array, optional
        Whose each of them is: then persons are counted.
    weights : int32 array, optional
        How many records each of them stands for, where it may be several.
    """

    def __init__(self, people: People, persons: Ints | None = None, weights: Codes | None = None) -> None:
        self._owners = np.zeros(0, dtype=np.int64)
        self._weights = np.zeros(0, dtype=np.int64) if weights is None else weights.astype(np.int64)
        self.n_people = len(people) if weights is None else int(self._weights.sum())
        if persons is not None:
            order = np.argsort(persons, kind="stable")
            people = People(people.values, tuple(codes[order] for codes in people.codes))
            self._owners = persons[order].astype(np.int64)
            self._weights = np.zeros(0, dtype=np.int64)
            self.n_people = len(np.unique(persons))
        self._sorted: list[Floats] = []
        self._places: list[Ints] = []  # of each distinct value, in their order
        self._codes = people.codes
        for values in people.values:
            filled = np.where(np.isnan(values), -np.inf, values)
            order = np.argsort(filled, kind="stable")
            place = np.empty(len(order), dtype=np.int64)
            place[order] = np.arange(len(order))
            self._sorted.append(filled[order])
            self._places.append(place)

    def count(self, conditions: Conditions, most: int) -> Ints:
        """How many people each predicate is true of, up to `most`."""
        n_boxes = len(conditions.columns)
        counts = np.zeros(n_boxes, dtype=np.int64)
        if conditions.columns.shape[1] == 1 and not len(self._owners):
            return np.minimum(self._count_alone(conditions), most)
        columns = np.unique(conditions.columns).tolist()
        if not n_boxes or not self.n_people:
            return counts
        runs = {c: _runs(conditions, c, self._sorted[c]) for c in columns}
        # What rules most out is asked first, of predicates in its order, so that few words of bits have to be.
        columns.sort(key=lambda c: float(np.sum(runs[c].last - runs[c].first)) / len(self._sorted[c]))
        begins = np.minimum(runs[columns[0]].starts[:-1], max(0, len(runs[columns[0]].first) - 1))
        order = np.argsort(runs[columns[0]].first[begins], kind="stable")
        bits: list[Words] = []
        cells: list[Codes] = []
        n_cells = 0
        for column in columns:
            asked = runs[column]
            breaks = np.unique(np.concatenate([[0], asked.first, asked.last]))
            first, last = np.searchsorted(breaks, asked.first), np.searchsorted(breaks, asked.last)
            part = np.zeros((len(breaks), -(-n_boxes // 64)), dtype=np.uint64)
            fill_bits(Runs(order, asked.starts, first, last), part)
            cell = np.searchsorted(breaks, self._places[column], "right") - 1 + n_cells
            cells.append(cell.astype(np.int32)[self._codes[column]])
            bits.append(part)
            n_cells += len(breaks)
        found = np.zeros(n_boxes, dtype=np.int64)
        count_covered(np.concatenate(bits), np.column_stack(cells), self._owners, self._weights, most, found)
        counts[order] = found
        return counts

    def _count_alone(self, conditions: Conditions) -> Ints:
        """How many people each predicate of one condition is true of."""
        counts = np.zeros(len(conditions.columns), dtype=np.int64)
        for column in np.unique(conditions.columns).tolist():
            asked = np.flatnonzero(conditions.columns[:, 0] == column)
            runs = _runs(conditions.take(asked), column, self._sorted[column])
            held = np.zeros(len(self._sorted[column]), dtype=np.int64)
            weights = self._weights if len(self._weights) else None
            held[self._places[column]] = np.bincount(self._codes[column], weights, minlength=len(held))
            below = np.append(0, np.cumsum(held))
            inside = np.maximum(below[runs.last] - below[runs.first], 0)
            counts[asked] = np.bincount(np.repeat(runs.of_box, np.diff(runs.starts)), inside, minlength=len(asked))
        return counts


def _runs(conditions: Conditions, column: int, values: Floats) -> Runs:
    """The places in sorted values of a column that each predicate leaves; all where it says nothing of the column."""
    n_boxes, n_values = len(conditions.columns), len(values)
    n_missing = int(np.searchsorted(values, -np.inf, "right"))
    boxes, at = np.nonzero(conditions.columns == column)
    low, high = conditions.low[boxes, at], conditions.high[boxes, at]
    first = np.searchsorted(values, low, "left")
    last = np.maximum(np.searchsorted(values, high, "right"), first)
    begins, ends = conditions.begins[boxes, at], conditions.ends[boxes, at]
    is_not, or_missing = conditions.is_not[boxes, at] > 0, conditions.or_missing[boxes, at] > 0
    is_listed = ~is_not & (begins < ends)
    plain = ~is_not & ~is_listed
    silent = np.setdiff1d(np.arange(n_boxes), boxes)
    first = np.where(is_not | or_missing, np.maximum(first, n_missing), first)
    last = np.maximum(last, first)
    lengths = (ends - begins)[is_listed]
    owner = np.repeat(np.flatnonzero(is_listed), lengths)
    within = np.arange(len(owner)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    named = conditions.listed[begins[owner] + within]
    parts = [
        (silent, np.zeros(len(silent), np.int64), np.full(len(silent), n_values)),
        (boxes[plain], first[plain], last[plain]),
        (boxes[is_not], np.full(int(is_not.sum()), n_missing), first[is_not]),
        (boxes[is_not], last[is_not], np.full(int(is_not.sum()), n_values)),
        (boxes[or_missing], np.zeros(int(or_missing.sum()), np.int64), np.full(int(or_missing.sum()), n_missing)),
        (
            boxes[owner],
            np.maximum(np.searchsorted(values, named, "left"), first[owner]),
            np.minimum(np.searchsorted(values, named, "right"), last[owner]),
        ),
    ]
    of_box, first, last = (np.concatenate([p[i] for p in parts]).astype(np.int64) for i in range(3))
    order = np.argsort(of_box, kind="stable")
    starts = np.searchsorted(of_box[order], np.arange(n_boxes + 1)).astype(np.int64)
    return Runs(np.arange(n_boxes), starts, first[order], last[order])


def about_people(predicates: Predicates, view: View) -> Conditions:
    """What the predicates say about people: their values against what the labels cover."""
    shape = predicates.columns.shape
    low, high = np.full(shape, np.inf), np.full(shape, -np.inf)
    or_missing, is_not = np.zeros(shape, dtype=np.uint8), np.zeros(shape, dtype=np.uint8)
    begins, ends = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64)
    at = 0
    for place, read in enumerate(view.labels):
        here = predicates.columns == place
        label, operator = predicates.labels[here], predicates.operators[here]
        low[here], high[here], or_missing[here], is_not[here] = _interval(
            read.low[label], read.high[label], operator, read.may_miss[label]
        )
        plain = operator == EQUAL
        begins[here] = np.where(plain, read.begins[label] + at, 0)
        ends[here] = np.where(plain, read.begins[label + 1] + at, 0)
        at += len(read.listed)
    listed = np.concatenate([read.listed for read in view.labels]).astype(np.float64)
    return Conditions(predicates.columns, low, high, or_missing, is_not, begins, ends, listed)


def about_records(predicates: Predicates, view: View) -> Conditions:
    """What they say about published records: plain numbers by size, all else by being the same label."""
    shape = predicates.columns.shape
    low, high = np.full(shape, np.inf), np.full(shape, -np.inf)
    or_missing, is_not = np.zeros(shape, dtype=np.uint8), np.zeros(shape, dtype=np.uint8)
    for place, read in enumerate(view.labels):
        here = predicates.columns == place
        label, operator = predicates.labels[here], predicates.operators[here]
        shown = label_values(read)[label]
        low[here], high[here], or_missing[here], is_not[here] = _interval(shown, shown, operator, np.isnan(shown))
    nothing = np.zeros(shape, dtype=np.int64)
    return Conditions(predicates.columns, low, high, or_missing, is_not, nothing, nothing, np.zeros(0))


def records_of(view: View) -> People:
    """Published records as people, with a number for each label."""
    return People(tuple(label_values(read) for read in view.labels), tuple(read.codes for read in view.labels))


def label_values(read: CellLabels) -> Floats:
    """A number for each label of a column: the one that it is, else its place; nan where it is a missing value."""
    if read.is_plain:
        return np.where(read.low <= read.high, read.low, np.nan)
    absent = (read.low > read.high) & read.may_miss
    return np.where(absent, np.nan, np.arange(read.n_labels, dtype=np.float64))


def _interval(
    low: Floats, high: Floats, operator: Ints, may_miss: npt.NDArray[np.bool_]
) -> tuple[Floats, Floats, npt.NDArray[np.uint8], npt.NDArray[np.uint8]]:
    only_missing = may_miss & ~(low <= high)
    bottom = np.select(
        [operator == AT_LEAST, operator == MORE, (operator == AT_MOST) | (operator == LESS)],
        [low, np.nextafter(high, np.inf), np.full(len(low), LEAST)],
        low,
    )
    top = np.select(
        [operator == AT_MOST, operator == LESS, (operator == AT_LEAST) | (operator == MORE)],
        [high, np.nextafter(low, -np.inf), np.full(len(low), MOST)],
        high,
    )
    is_not = operator == OTHER
    bottom, top = (np.where(only_missing, -np.inf, ends) for ends in (bottom, top))
    # To differ from a missing value is to have one.
    bottom = np.where(only_missing & is_not, LEAST, bottom)
    top = np.where(only_missing & is_not, MOST, top)
    is_not &= ~only_missing
    or_missing = may_miss & ~only_missing & (operator == EQUAL)
    return bottom, top, or_missing.astype(np.uint8), is_not.astype(np.uint8)
