"""Published cells and people's values, read alike: numbers on a line, categories as ranks, labels as what they cover.

A published column is a dictionary of labels, and each label covers an interval of numbers or some categories, perhaps a
missing value too. A column in which every label is one value is plain, as raw, aggregated and drawn values are. Labels
are read as the checker reads them (`shoal.check.tables.covering`), against all values that people are known to have.
What cannot be read covers nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from shoal.arrays import Codes, Floats, Ints, Mask
from shoal.attack.tables.case import TableCase
from shoal.check.slices.sliced import numbered
from shoal.check.tables.cells import published as readable
from shoal.check.tables.covering import Covering, ValueScale, covering_of, scale_of
from shoal.data.tables.attribute import Attribute
from shoal.data.tables.parse import parse_dates, parse_numbers
from shoal.data.tables.slices import attributes_held
from shoal.data.tables.table import MARKERS, Column, Table, spell
from shoal.kernels.attack.label_table import CATEGORY, NUMBER, PLAIN_CATEGORY, PLAIN_NUMBER, LabelTable
from shoal.utility.tables.scale import MICROSECONDS_A_DAY, positions_of


@dataclass(frozen=True)
class CellLabels:
    """One published column.

    Attributes
    ----------
    name : str
        The published column.
    codes : int32 array (n_published,)
        The label of each record.
    is_number : bool
        Whether values lie on a line: numbers, days since 1970, ranks of ordered categories.
    is_line : bool
        Whether they do so by themselves, as numbers and days.
    low, high : float64 arrays (n_labels,)
        The least and the greatest value that each label covers; categories are ranks. low > high: none.
    sizes : float64 array (n_labels,)
        How many known values it covers.
    may_miss : bool array (n_labels,)
        Whether it covers a missing value.
    begins, listed : int64 array (n_labels + 1,), float64 array
        The values of labels that do not cover all from low to high.
    n_values : int
        Distinct values that people have.
    """

    name: str
    codes: Codes
    is_number: bool
    low: Floats
    high: Floats
    sizes: Floats
    may_miss: Mask
    begins: Ints
    listed: Floats
    n_values: int
    is_line: bool = False

    @property
    def n_labels(self) -> int:
        """Number of labels."""
        return len(self.low)

    @property
    def is_plain(self) -> bool:
        """Whether every label is one value, or missing."""
        wide = (self.low < self.high) | (self.may_miss & (self.low <= self.high))
        return not bool(wide.any())

    @property
    def kind(self) -> int:
        """As the kernels call it."""
        if self.is_number:
            return PLAIN_NUMBER if self.is_plain else NUMBER
        return PLAIN_CATEGORY if self.is_plain else CATEGORY

    @property
    def _width(self) -> float:
        return float(max(self.n_values, 1))

    @cached_property
    def _listed_keys(self) -> Floats:
        """Each label with each value that it lists, as one number, ascending."""
        owner = np.repeat(np.arange(self.n_labels), np.diff(self.begins))
        return np.unique(owner * self._width + self.listed)

    def covers(self, labels: Ints, values: Floats) -> Mask:
        """Whether each label covers the value beside it; nan is a missing value."""
        with np.errstate(invalid="ignore"):
            inside = (self.low[labels] <= values) & (values <= self.high[labels])
        if len(self.listed):
            check = np.flatnonzero(inside & (self.begins[labels] < self.begins[labels + 1]))
            asked, keys = labels[check] * self._width + values[check], self._listed_keys
            place = np.minimum(np.searchsorted(keys, asked), len(keys) - 1)
            inside[check] = keys[place] == asked
        return np.asarray(np.where(np.isnan(values), self.may_miss[labels], inside))


@dataclass(frozen=True)
class People:
    """What some people have in some columns: distinct values, and the one that each has.

    Indexed as an array (n_people, n_columns) of float64 would be, which is never made as a whole.

    Attributes
    ----------
    values : tuple of float64 arrays
        Of each column, in any order; nan is a missing value.
    codes : tuple of int arrays (n_people,)
        The place of each person's value among them.
    """

    values: tuple[Floats, ...]
    codes: tuple[Codes, ...]

    @classmethod
    def of(cls, cells: Floats) -> People:
        """From an array of values."""
        parts = [np.unique(column, return_inverse=True) for column in cells.T]
        return cls(tuple(v for v, _ in parts), tuple(c.astype(np.int32) for _, c in parts))

    def __len__(self) -> int:
        return len(self.codes[0])

    def __getitem__(self, index: Any) -> Floats:
        rows, columns = index if isinstance(index, tuple) else (index, slice(None))
        if isinstance(columns, int | np.integer):
            return np.asarray(self.values[columns][self.codes[columns][rows]])
        some = self.select(range(len(self.codes))[columns] if isinstance(columns, slice) else columns)
        return np.column_stack([v[c[rows]] for v, c in zip(some.values, some.codes, strict=True)])

    def held(self, place: int) -> Floats:
        """The values of a column that somebody has, each once or more often, without the missing one."""
        values = self.values[place]
        is_held = np.bincount(self.codes[place], minlength=len(values)) > 0
        return np.asarray(values[is_held & ~np.isnan(values)])

    def select(self, places: Sequence[int]) -> People:
        """Some of the columns."""
        return People(tuple(self.values[i] for i in places), tuple(self.codes[i] for i in places))


@dataclass(frozen=True)
class View:
    """Some columns of a release, and the same attributes of people.

    Attributes
    ----------
    labels : tuple of CellLabels
        The published columns.
    original, control, population : People
        None where there are none.
    weights : int32 array (n_published,), optional
        How many records each published row stands for, where it may be several.
    """

    labels: tuple[CellLabels, ...]
    original: People
    control: People | None
    population: People | None
    weights: Codes | None = None

    @property
    def n_published(self) -> int:
        """Published rows."""
        return len(self.labels[0].codes)

    def draw_published(self, n: int, rng: np.random.Generator) -> Ints:
        """The rows of published records that are drawn at random, some perhaps twice."""
        if self.weights is None:
            return rng.integers(0, self.n_published, n)
        ends = np.cumsum(self.weights, dtype=np.int64)
        return np.searchsorted(ends, rng.integers(0, ends[-1], n), "right").astype(np.int64)

    @cached_property
    def boxes(self) -> tuple[Ints, Ints]:
        """The number of each published record among those that differ, and the first record of each number."""
        return numbered([read.codes for read in self.labels])

    def select(self, places: Sequence[int]) -> View:
        """Some of the columns."""
        some = list(places)
        people = [None if p is None else p.select(some) for p in (self.original, self.control, self.population)]
        assert people[0] is not None
        return View(tuple(self.labels[i] for i in some), people[0], people[1], people[2], self.weights)


def columns_of(case: TableCase, *roles: str) -> list[str]:
    """Attributes of the given roles ("quasi", "sensitive", "other") that original and release both have, in order."""
    held = _published_names(case)
    wanted = []
    for name in case.original.names:
        attribute = case.attributes.get(name)
        role = "quasi" if name in case.quasi else "sensitive" if name in case.sensitive else "other"
        if attribute is not None and attribute.role == "identifying":
            continue
        if role in roles and name in held and (case.control is None or name in case.control.columns):
            wanted.append(name)
    return wanted


def _published_names(case: TableCase) -> dict[str, str]:
    """The published column of each attribute; the first of several."""
    held: dict[str, str] = {}
    for column, attribute in attributes_held(case.published.names, case.layout).items():
        held.setdefault(attribute, column)
    return held


def attribute_of(case: TableCase, name: str) -> Attribute:
    """The meaning of a column; one that nobody gave is a number where it can be read so."""
    given = case.attributes.get(name)
    if given is not None:
        return given
    kind = case.original[name].values
    return Attribute(name, "nominal" if parse_numbers(kind) is None else "continuous", "quasi")


def read_view(case: TableCase, names: Sequence[str], published: Table | None = None) -> View:
    """Read some attributes of the release, or of another table in the same form, and of all people.

    What was read of the release is remembered with the case, so that all attacks read it once.
    """
    if published is None:
        weights = case.published.weights
        made = case.remember(("view", *names), lambda: _view([_read_of(case, n) for n in names], weights))
        return cast(View, made)
    sources = [case.original, case.control, case.population]
    read = [_read(published[n], _columns(sources, n), attribute_of(case, n)) for n in names]
    return _view(read, published.weights)


_Read = tuple[CellLabels, list[tuple[Floats, Codes] | None]]


def _read_of(case: TableCase, name: str) -> _Read:
    column = case.published[_published_names(case).get(name, name)]
    sources = _columns([case.original, case.control, case.population], name)
    return cast(_Read, case.remember(("column", name), lambda: _read(column, sources, attribute_of(case, name))))


def _columns(sources: Sequence[Table | None], name: str) -> list[Column | None]:
    return [None if table is None or name not in table.columns else table[name] for table in sources]


def _view(read: Sequence[_Read], weights: Codes | None) -> View:
    people: list[People | None] = []
    for i in range(3):
        columns = [values[i] for _, values in read]
        held = [c for c in columns if c is not None]
        people.append(People(tuple(v for v, _ in held), tuple(c for _, c in held)) if len(held) == len(read) else None)
    assert people[0] is not None
    return View(tuple(labels for labels, _ in read), people[0], people[1], people[2], weights)


def stacked(columns: Sequence[Column]) -> Column:
    """Columns of several tables below each other, with one dictionary and one spelling of missing."""
    read = [readable(c, MARKERS) for c in columns]
    numeric = all(c.values.dtype.kind in "iuf" for c in read)
    alike = len({c.values.dtype.kind for c in read if len(c.values)}) <= 1
    lists: list[npt.NDArray[Any]]
    if numeric or alike:
        lists = [c.values for c in read if len(c.values)] or [read[0].values]
    else:
        lists = [np.array(spell(c.values), dtype=object) for c in read]
    values, inverse = np.unique(np.concatenate(lists), return_inverse=True)
    codes, at = [], 0
    for c in read:
        new = np.append(inverse[at : at + len(c.values)], len(values)).astype(np.int32)
        codes.append(new[np.minimum(c.codes, len(c.values))])
        at += len(c.values)
    return Column(columns[0].name, np.concatenate(codes), values, (None,))


def _read(column: Column, sources: Sequence[Column | None], attribute: Attribute) -> _Read:
    """A published column, and the values of people in each source: distinct ones, and the place of each among them."""
    there = [s for s in sources if s is not None]
    known = stacked(there)
    column = readable(column, MARKERS)
    scale = scale_of(known, attribute)
    positions = positions_of(known, attribute.type)
    is_number = positions is not None or attribute.type == "ordinal"
    ranks = scale.of_code[: len(known.values)].astype(np.float64)
    of_value = ranks if positions is None else positions
    of_rank = np.empty(scale.n_values)
    of_rank[scale.of_code[: len(known.values)]] = of_value
    labels = _labels(column, attribute, scale, of_rank, is_number, positions is not None)
    values = np.append(of_value, np.nan)
    parts = iter(np.split(known.codes, np.cumsum([len(s.codes) for s in there])[:-1]))
    return labels, [None if s is None else (values, next(parts)) for s in sources]


def _labels(
    column: Column, attribute: Attribute, scale: ValueScale, of_rank: Floats, is_number: bool, on_a_line: bool
) -> CellLabels:
    n_present = len(column.values)
    plain = _plain_values(column, attribute, scale, of_rank, on_a_line)
    codes = np.minimum(column.codes, n_present).astype(np.int32)
    if plain is not None:
        low = np.append(plain, np.inf)
        high = np.append(plain, -np.inf)
        nothing = np.zeros(0)
        starts = np.zeros(n_present + 2, dtype=np.int64)
        may_miss = np.append(np.zeros(n_present, dtype=bool), True)
        return CellLabels(
            column.name,
            codes,
            is_number,
            low,
            high,
            np.ones(n_present + 1),
            may_miss,
            starts,
            nothing,
            scale.n_values,
            on_a_line,
        )
    one_marker = Column(column.name, codes, column.values, (None,))
    covering = covering_of(one_marker, scale, missing="value")
    low, high, sizes, starts, listed = _covered(covering, scale, of_rank, is_number)
    if on_a_line:  # a mean need not be a value that anybody has
        for label in np.flatnonzero(covering.unreadable[:n_present]):
            found = positions_of(Column("", codes[:0], column.values[label : label + 1]), attribute.type)
            if found is not None:
                low[label] = high[label] = found[0]
    some = np.arange(n_present + 1)
    may_miss = covering.covers(some, np.full(n_present + 1, scale.n_values, dtype=np.int64))
    return CellLabels(
        column.name, codes, is_number, low, high, sizes, may_miss, starts, listed, scale.n_values, on_a_line
    )


def _plain_values(
    column: Column, attribute: Attribute, scale: ValueScale, of_rank: Floats, on_a_line: bool
) -> Floats | None:
    """The value of each entry of a dictionary in which each is one; None for other dictionaries."""
    if on_a_line:
        if attribute.type == "date":
            dates = parse_dates(column.values)
            return None if dates is None else dates.values.astype(np.int64) / MICROSECONDS_A_DAY
        return parse_numbers(column.values)
    ranks = [scale.rank_of.get(t, -1) for t in spell(column.values)]
    if min(ranks, default=0) < 0:
        return None
    return np.asarray(of_rank[np.array(ranks, dtype=np.int64)], dtype=np.float64)


def _covered(
    covering: Covering, scale: ValueScale, of_rank: Floats, is_number: bool
) -> tuple[Floats, Floats, Floats, Ints, Floats]:
    """Ranks to values: least, greatest, how many, and the list of those with gaps."""
    n_labels = len(covering.low)
    present = scale.n_values  # the rank behind all present values is the missing one
    low, high = np.full(n_labels, np.inf), np.full(n_labels, -np.inf)
    sizes = np.zeros(n_labels)
    lists: list[Floats] = []
    owners, ranks = np.divmod(covering.listed[covering.listed >= 0], present + 1)
    ends = np.searchsorted(owners, np.arange(n_labels + 1))
    in_order = bool(np.all(np.diff(of_rank) >= 0))
    for label in range(n_labels):
        if covering.is_span[label]:
            last = min(int(covering.high[label]), present - 1)
            values = of_rank[int(covering.low[label]) : last + 1]
            listed = not in_order and len(values) > 1 and not is_number
        else:
            found = ranks[ends[label] : ends[label + 1]]
            values = of_rank[found[found < present]]
            listed = len(values) > 1
        if len(values):
            low[label], high[label], sizes[label] = values.min(), values.max(), len(values)
        lists.append(np.sort(values) if listed else values[:0])
    starts = np.concatenate([[0], np.cumsum([len(v) for v in lists])]).astype(np.int64)
    return low, high, sizes, starts, np.concatenate(lists) if lists else np.zeros(0)


def label_table(view: View) -> LabelTable:
    """What the kernels need: all labels in one row."""
    labels = view.labels
    counts = [read.n_labels for read in labels]
    starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    in_lists = np.concatenate([[0], np.cumsum([len(read.listed) for read in labels])])
    begins = [read.begins[:-1] + at for read, at in zip(labels, in_lists, strict=False)]
    ends = [read.begins[1:] + at for read, at in zip(labels, in_lists, strict=False)]
    return LabelTable(
        starts,
        np.array([read.kind for read in labels], dtype=np.uint8),
        np.array([1.0 / _extent(view, i) for i in range(len(labels))]),
        np.concatenate([read.low for read in labels]),
        np.concatenate([read.high for read in labels]),
        np.concatenate([read.sizes for read in labels]),
        np.concatenate([read.may_miss for read in labels]).astype(np.uint8),
        np.concatenate(begins).astype(np.int64),
        np.concatenate(ends).astype(np.int64),
        np.concatenate([read.listed for read in labels]).astype(np.float64),
    )


def _extent(view: View, place: int) -> float:
    """The range of a column of numbers over release and people together: no difference is larger."""
    read = view.labels[place]
    ends = [read.low[np.isfinite(read.low)], read.high[np.isfinite(read.high)]]
    ends += [p.held(place) for p in (view.original, view.control) if p is not None]
    values = np.concatenate(ends)
    return float(np.ptp(values)) or 1.0 if read.is_number and len(values) else 1.0


def telling_order(view: View) -> list[int]:
    """The columns, those first in which two records differ most, so that sums of distances soon pass their bound."""
    scores = []
    for place, read in enumerate(view.labels):
        shares = np.bincount(read.codes, minlength=read.n_labels) / max(1, len(read.codes))
        score = 1.0 - float(np.sum(shares**2))
        if read.is_number:
            there = np.isfinite(read.low) & (shares > 0)
            low, weights = read.low[there], shares[there]
            middle = np.average(low, weights=weights) if len(low) else 0.0
            spread = np.sqrt(np.average((low - middle) ** 2, weights=weights)) if len(low) else 0.0
            score *= float(spread) / _extent(view, place)
        scores.append(-score)
    return [int(i) for i in np.argsort(scores, kind="stable")]
