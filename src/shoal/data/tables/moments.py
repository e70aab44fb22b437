"""Days that can be moved: what a column of dates, or of whole numbers of days, says, and the same some days later.

Dates keep the form in which they are spelled, and what stands behind the day, a time or an offset, stays as it is. All
is done once a distinct value.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal.arrays import Ints
from shoal.data.tables.parse import date_parts
from shoal.data.tables.table import Column, encode_cells
from shoal.errors import DataError

MOST_DAYS = 2**53
_WHOLE = re.compile(r"([+-]?\d{1,16})(\.0*)?\Z")
_FIRST, _LAST = (int(np.datetime64(day, "D").astype(np.int64)) for day in ("1000-01-01", "9999-12-31"))
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
Spell = Callable[[Ints, Ints], npt.NDArray[Any]]


@dataclass(frozen=True)
class Moments:
    """The values of a column as days.

    Attributes
    ----------
    days : int64 array (n_values,)
        The day of each value; of dates since 1970.
    rests : int64 array (n_values,)
        What stands beside the day, as a number.
    spell : callable
        From days and rests to values as those of the column are.
    is_date : bool
        Whether the values are dates, rather than numbers of days.
    """

    days: Ints
    rests: Ints
    spell: Spell
    is_date: bool

    def moved(self, column: Column, offsets: Ints) -> Column:
        """The column with each cell moved by its own number of days; what is missing stays missing."""
        rows = np.flatnonzero(~column.missing)
        codes = column.codes[rows]
        days = self.days[codes] + offsets[rows]
        if self.is_date and len(days) and not _FIRST <= int(days.min()) <= int(days.max()) <= _LAST:
            raise DataError(
                f"column {column.name!r} would hold dates before the year 1000 or after 9999 when they are moved; move "
                "them by fewer days (shift_days), or mend the dates"
            )
        order = np.lexsort((self.rests[codes], days))
        is_new = np.ones(len(order), dtype=bool)
        is_new[1:] = (np.diff(days[order]) != 0) | (np.diff(self.rests[codes][order]) != 0)
        number = np.empty(len(order), dtype=np.int64)
        number[order] = np.cumsum(is_new) - 1
        firsts = order[is_new]
        made = encode_cells(column.name, self.spell(days[firsts], self.rests[codes][firsts]))
        markers = column.markers
        moved = len(made.values) + (column.codes - len(column.values)).astype(np.int32)
        moved[rows] = made.codes[number]
        return Column(column.name, moved.astype(np.int32), made.values, markers)


def moments_of(column: Column) -> Moments:
    """Read the values of a column as days.

    Raises
    ------
    DataError
        If they are neither dates of one form, to the day at least, nor whole numbers.
    """
    values = column.values
    kind = values.dtype.kind
    if kind == "M":
        stamps = values.astype("datetime64[us]")
        days = stamps.astype("datetime64[D]")
        rests = (stamps - days).astype(np.int64)
        return Moments(days.astype(np.int64), rests, _as_stamps, True)
    if kind in "if" and bool(np.all((values == np.round(values)) & (np.abs(values) < MOST_DAYS))):
        return Moments(values.astype(np.int64), np.zeros(len(values), np.int64), _as_numbers(values.dtype), False)
    if kind == "O":
        found = _of_numbers(values) or _of_dates(values)
        if found is not None:
            return found
    raise DataError(
        f"column {column.name!r} is to be moved by days, and holds neither dates of one form, to the day, nor whole "
        "numbers of days; mend it, or leave shift out"
    )


def _as_stamps(days: Ints, rests: Ints) -> npt.NDArray[Any]:
    return np.asarray(days.astype("datetime64[D]").astype("datetime64[us]") + rests.astype("timedelta64[us]"))


def _as_numbers(dtype: np.dtype[Any]) -> Spell:
    return lambda days, _: days.astype(dtype)


def _numbered(rests: list[str]) -> tuple[list[str], Ints]:
    distinct = sorted(set(rests))
    place = {rest: i for i, rest in enumerate(distinct)}
    return distinct, np.array([place[rest] for rest in rests], dtype=np.int64)


def _of_numbers(values: npt.NDArray[Any]) -> Moments | None:
    read = [_WHOLE.match(str(v)) for v in values]
    if not all(read):
        return None
    days = np.array([int(m[1]) for m in read if m is not None], dtype=np.int64)
    if (np.abs(days) >= MOST_DAYS).any():
        return None
    distinct, rests = _numbered([m[2] or "" for m in read if m is not None])

    def spell(days: Ints, rests: Ints) -> npt.NDArray[Any]:
        return _texts(f"{day}{distinct[rest]}" for day, rest in zip(days.tolist(), rests.tolist(), strict=True))

    return Moments(days, rests, spell, False)


def _of_dates(values: npt.NDArray[Any]) -> Moments | None:
    read = date_parts(values)
    if read is None or "%d" not in read.form:
        return None
    distinct, rests = _numbered(list(read.rests))
    width = 1 if read.is_short else 2
    cased: dict[str, Callable[[str], str]] = {"upper": str.upper, "lower": str.lower, "": str}
    months = [cased[read.case](name) for name in _MONTHS]

    def spell_day(day: Any) -> str:
        year, month, number = map(int, str(day).split("-"))
        text = read.form.replace("%Y", str(year)).replace("%m", f"{month:0{width}d}")
        return text.replace("%d", f"{number:0{width}d}").replace("%b", months[month - 1])

    def spell(days: Ints, rests: Ints) -> npt.NDArray[Any]:
        single, place = np.unique(days, return_inverse=True)
        spelled = [spell_day(day) for day in single.astype("datetime64[D]")]
        pairs = zip(place.tolist(), rests.tolist(), strict=True)
        return _texts(f"{spelled[day]}{distinct[rest]}" for day, rest in pairs)

    return Moments(read.days.astype(np.int64), rests, spell, True)


def _texts(made: Any) -> npt.NDArray[Any]:
    listed = list(made)
    texts = np.empty(len(listed), dtype=object)
    texts[:] = listed
    return texts
