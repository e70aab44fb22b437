"""Predicates about people made from published cells, and how many people they are true of."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from shoal.arrays import Floats, Ints
from shoal.attack.tables.cells import CellLabels, View
from shoal.check.slices.sliced import numbered
from shoal.kernels.attack.predicates import Conditions, count_true

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


class Crowd:
    """People to count among: columns of values, sorted once.

    Parameters
    ----------
    values : float64 array (n_people, n_columns)
        nan where missing.
    """

    def __init__(self, values: Floats) -> None:
        self.values = np.ascontiguousarray(np.where(np.isnan(values), -np.inf, values))
        self.order = np.argsort(self.values, axis=0, kind="stable").T.astype(np.int32).copy()
        self.sorted = np.take_along_axis(self.values.T, self.order.astype(np.int64), axis=1)

    @property
    def n_people(self) -> int:
        """Number of people."""
        return len(self.values)

    def count(self, conditions: Conditions, most: int) -> Ints:
        """How many people each predicate is true of, up to `most`."""
        n_predicates, n_conditions = conditions.columns.shape
        first = np.zeros(n_predicates, dtype=np.int64)
        last = np.full(n_predicates, self.n_people, dtype=np.int64)
        key = np.zeros(n_predicates, dtype=np.int64)
        for c in range(n_conditions):
            for column in np.unique(conditions.columns[:, c]):
                if column < 0:
                    continue
                asked = np.flatnonzero(
                    (conditions.columns[:, c] == column)
                    & (conditions.is_not[:, c] == 0)
                    & (conditions.or_missing[:, c] == 0)
                )
                begin = np.searchsorted(self.sorted[column], conditions.low[asked, c], "left")
                end = np.searchsorted(self.sorted[column], conditions.high[asked, c], "right")
                fewer = end - begin < last[asked] - first[asked]
                some = asked[fewer]
                first[some], last[some] = begin[fewer], np.maximum(end, begin)[fewer]
                key[some] = column
        counts = np.empty(n_predicates, dtype=np.int64)
        count_true(conditions, first, last, key, self.values, self.order, most, counts)
        return counts


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
