"""A table as integer codes with a dictionary a column: the one form that everything after reading works on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from shoal.arrays import Codes
from shoal.errors import DataError, did_you_mean

MARKERS = ("", "?", "NA", "N/A", "NaN", "nan", "NULL", "null")
"""The spellings of a missing value unless the user gives others."""
_SPELLED_AT_ONCE = 1 << 14


@dataclass(frozen=True)
class Column:
    """One column: each cell is an index into the dictionary of distinct values.

    Attributes
    ----------
    name : str
        As in the source.
    codes : int32 array of n_rows
        ``codes[i] < len(values)``: row i holds ``values[codes[i]]``. Larger codes mean that the cell is missing and
        was spelled ``markers[codes[i] - len(values)]``.
    values : array
        The distinct present values in ascending order: str objects, float64, int64, bool or datetime64[us].
    markers : tuple of (str or None)
        The spellings of a missing value that occur; None is a null of the source.
    """

    name: str
    codes: Codes
    values: npt.NDArray[Any]
    markers: tuple[str | None, ...] = ()

    @property
    def missing(self) -> npt.NDArray[np.bool_]:
        """Which cells are missing."""
        return np.asarray(self.codes >= len(self.values))

    @property
    def has_missing(self) -> bool:
        """Whether a cell is missing (a marker that no row uses any more does not count)."""
        return bool(self.markers) and bool(self.missing.any())

    @property
    def is_text(self) -> bool:
        """Whether the values are str objects."""
        return self.values.dtype == object

    def take(self, rows: npt.NDArray[np.intp]) -> Column:
        """The same column with other rows; the dictionary is shared."""
        return replace(self, codes=self.codes[rows])

    def compact(self) -> Column:
        """The same cells, without values and missing spellings that no row has."""
        used = self.counts() > 0
        new_code = np.cumsum(used, dtype=np.int32) - 1
        n_values = len(self.values)
        markers = tuple(m for m, u in zip(self.markers, used[n_values:], strict=True) if u)
        return Column(self.name, new_code[self.codes].astype(np.int32), self.values[used[:n_values]], markers)

    def counts(self, weights: npt.NDArray[np.integer[Any]] | None = None) -> npt.NDArray[np.int64]:
        """How many rows hold each value, missing spellings last; or records, of which each row stands for some."""
        return count_codes(self.codes, weights, len(self.values) + len(self.markers))

    def ranks(self) -> npt.NDArray[np.int64]:
        """A number for each code, ascending as the values do; missing spellings come last, equal ones together."""
        spelled = np.array([m or "" for m in self.markers], dtype=str)
        places = np.unique(spelled, return_inverse=True)[1] if self.markers else np.zeros(0, dtype=np.intp)
        return np.concatenate([np.arange(len(self.values)), len(self.values) + places]).astype(np.int64)

    def cells(self) -> npt.NDArray[Any]:
        """Every cell as an object array; None where missing."""
        dictionary = np.empty(len(self.values) + max(1, len(self.markers)), dtype=object)
        dictionary[: len(self.values)] = self.values
        return np.asarray(dictionary[np.minimum(self.codes, len(dictionary) - 1)])

    def texts(self) -> list[str]:
        """The dictionary as it is written into a text file, missing spellings last (a null is the empty string)."""
        return [*spell(self.values), *("" if m is None else m for m in self.markers)]


def count_codes(
    codes: npt.NDArray[Any], weights: npt.NDArray[np.integer[Any]] | None = None, n_codes: int = 0
) -> npt.NDArray[np.int64]:
    """How often each code from 0 on occurs, or how many records have it where rows stand for several."""
    # Sums of whole numbers are exact in float64 up to 2**53, which is more than any table has records.
    return np.bincount(codes, weights, n_codes).astype(np.int64)


def counted(keys: npt.NDArray[Any], weights: Codes | None = None) -> tuple[npt.NDArray[Any], npt.NDArray[np.int64]]:
    """The distinct keys of rows, ascending, and how many records have each."""
    if weights is None:
        distinct, counts = np.unique(keys, return_counts=True)
        return distinct, counts.astype(np.int64)
    distinct, place = np.unique(keys, return_inverse=True)
    return distinct, count_codes(place, weights)


def spell(values: npt.NDArray[Any]) -> list[str]:
    """Spell dictionary values the way a text file shows them.

    >>> spell(np.array([1.5, 2.0])), spell(np.array([True])), spell(np.array(["2020-02-01"], "datetime64[us]"))
    (['1.5', '2'], ['true'], ['2020-02-01'])
    """
    kind = values.dtype.kind
    if kind == "O":
        return [str(v) for v in values]
    if kind == "b":
        return ["true" if v else "false" for v in values]
    if kind == "f":
        return [
            np.format_float_positional(v, trim="-") if 1e-5 <= abs(v) < 1e15 or v == 0 else repr(float(v))
            for v in values
        ]
    if kind == "M":
        pieces = [values[begin : begin + _SPELLED_AT_ONCE] for begin in range(0, len(values), _SPELLED_AT_ONCE)]
        listed = [t for piece in pieces for t in np.datetime_as_string(piece).tolist()]
        if all(t.endswith("T00:00:00.000000") for t in listed):
            return [t[:10] for t in listed]
        return [t.replace("T", " ").removesuffix(".000000") for t in listed]
    return [str(v) for v in values]


def not_a_value(cells: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Which numbers, dates or truth values are none: nan, and no date."""
    tests = {"f": np.isnan, "M": np.isnat}
    test = tests.get(cells.dtype.kind)
    return np.zeros(len(cells), dtype=bool) if test is None else np.asarray(test(cells))


def encode_cells(name: str, cells: npt.NDArray[Any], missing: npt.NDArray[np.bool_] | None = None) -> Column:
    """Make a column from plain cells: floats (nan is missing), ints, bools, datetimes, or str objects (None too).

    Negative zero is zero: the two are equal, so that it would be chance which of them stands for both.
    """
    if missing is None:
        is_text = cells.dtype == object
        missing = np.array([c is None for c in cells], dtype=bool) if is_text else not_a_value(cells)
    present = cells[~missing]
    values, inverse = np.unique(present + 0.0 if present.dtype.kind == "f" else present, return_inverse=True)
    codes = np.full(len(cells), len(values), dtype=np.int32)
    codes[~missing] = inverse
    return Column(name, codes, values, (None,) if missing.any() else ())


@dataclass(frozen=True)
class Source:
    """Where a table came from and how to write one like it."""

    name: str = "data"
    format: str = "csv"  # a frame, or the name of a format in `shoal.data.tables.formats`
    delimiter: str = ","
    gzip: bool = False
    notes: tuple[str, ...] = ()
    table: str | None = None  # of a database its table, of a workbook its sheet
    labels: Mapping[str, str] = field(default_factory=dict)  # what columns are called in full
    value_labels: Mapping[str, Mapping[Any, str]] = field(default_factory=dict)  # what codes mean, by column


@dataclass(frozen=True)
class Table:
    """Columns of equal length, in the order of the source.

    Attributes
    ----------
    weights : int32 array of n_rows, optional
        How many records each row stands for, all of them equal in every column; None where each is one. Whatever takes
        such a table counts records by it, or refuses it.
    is_one_each : bool
        Whether it is known that every record is another person's; said of tables whose rows stand for several.
    """

    columns: Mapping[str, Column]
    source: Source = field(default_factory=Source)
    weights: Codes | None = None
    is_one_each: bool = False

    @classmethod
    def of(cls, columns: Iterable[Column], source: Source | None = None) -> Table:
        """Build a table and refuse columns of unequal length or the same name."""
        listed = list(columns)
        named = {c.name: c for c in listed}
        if len(named) < len(listed):
            names = [c.name for c in listed]
            place = next(i for i, name in enumerate(names) if name in names[:i])
            raise DataError(
                f"the columns {names.index(names[place]) + 1} and {place + 1} have the same name; rename one of them"
            )
        if len({len(c.codes) for c in listed}) > 1:
            raise DataError("the columns have different lengths; give every column the same number of rows")
        return cls(named, source or Source())

    def __len__(self) -> int:
        return self.n_rows

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return next((len(c.codes) for c in self.columns.values()), 0)

    @property
    def n_records(self) -> int:
        """Number of records, of which a row may stand for several."""
        return self.n_rows if self.weights is None else int(self.weights.sum(dtype=np.int64))

    @property
    def names(self) -> list[str]:
        """The column names in order."""
        return list(self.columns)

    def __getitem__(self, name: str) -> Column:
        try:
            return self.columns[name]
        except KeyError:
            raise DataError(f"there is no column {name!r}; {did_you_mean(name, self.columns)}") from None

    def marginal(self, name: str) -> tuple[Column, npt.NDArray[np.integer[Any]] | None]:
        """A column by itself, and how many records each of its rows stands for; None where each is one.

        Its rows need not be those of the table.
        """
        return self[name], self.weights

    def pieces(self, n_records: int) -> Iterator[tuple[slice, npt.NDArray[np.int64]]]:
        """Rows of every so many records, the last piece with fewer, and how many records of each row lie in it."""
        if self.weights is None:
            for begin in range(0, self.n_rows, n_records):
                rows = slice(begin, min(begin + n_records, self.n_rows))
                yield rows, np.ones(rows.stop - begin, dtype=np.int64)
            return
        ends = np.cumsum(self.weights, dtype=np.int64)
        for begin in range(0, self.n_records, n_records):
            end = min(begin + n_records, self.n_records)
            rows = slice(int(np.searchsorted(ends, begin, "right")), int(np.searchsorted(ends, end, "left")) + 1)
            yield rows, np.minimum(ends[rows], end) - np.maximum(ends[rows] - self.weights[rows], begin)

    def take(self, rows: npt.NDArray[np.intp]) -> Table:
        """Some of the rows, in the given order."""
        weights = None if self.weights is None else self.weights[rows]
        return replace(self, columns={n: c.take(rows) for n, c in self.columns.items()}, weights=weights)

    def compact(self) -> Table:
        """The same table, with dictionaries that hold nothing but what rows have."""
        return replace(self, columns={n: c.compact() for n, c in self.columns.items()})

    def select(self, names: Sequence[str]) -> Table:
        """Some of the columns, in the given order."""
        return replace(self, columns={n: self[n] for n in names})

    def with_columns(self, columns: Mapping[str, Column]) -> Table:
        """The same table with some columns replaced."""
        return replace(self, columns={n: columns.get(n, c) for n, c in self.columns.items()})


class Columns(Protocol):
    """A table as far as columns by themselves tell of it."""

    @property
    def columns(self) -> Mapping[str, Column]:
        """By name."""

    def marginal(self, name: str) -> tuple[Column, npt.NDArray[np.integer[Any]] | None]:
        """A column, and how many records each of its rows stands for; None where each is one."""


def row_keys(columns: Sequence[Column]) -> npt.NDArray[np.int64]:
    """Number the distinct combinations of cells, ascending in the order of the columns.

    Two spellings of a missing value differ: a reader can tell them apart. The codes of all columns are kept in one
    64-bit integer, which is made dense again before it would overflow, so the cost is one sort of n integers for every
    few columns.
    """
    n_rows = len(columns[0].codes) if columns else 0
    key = np.zeros(n_rows, dtype=np.int64)
    span = 1
    for column in columns:
        ranks = column.ranks()
        width = len(ranks) + 1
        if span > 2**62 // width:
            uniques, key = np.unique(key, return_inverse=True)
            span = len(uniques)
        key = key * width + ranks[column.codes]
        span *= width
    return np.unique(key, return_inverse=True)[1].astype(np.int64)
