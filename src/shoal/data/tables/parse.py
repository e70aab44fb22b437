"""Read numbers and dates out of a dictionary of texts: once a distinct value, never once a row."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal.data.tables.table import Column
from shoal.errors import DataError

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = rf"(?P<m>{'|'.join(_MONTHS)})"
_DATE_FORMS = {
    r"(?P<y>[1-9]\d{3})-(?P<m>\d{1,2})-(?P<d>\d{1,2})": "%Y-%m-%d",
    r"(?P<y>[1-9]\d{3})/(?P<m>\d{1,2})/(?P<d>\d{1,2})": "%Y/%m/%d",
    r"(?P<y>[1-9]\d{3})\.(?P<m>\d{1,2})\.(?P<d>\d{1,2})": "%Y.%m.%d",
    r"(?P<d>\d{1,2})\.(?P<m>\d{1,2})\.(?P<y>[1-9]\d{3})": "%d.%m.%Y",
    r"(?P<m>\d{1,2})/(?P<d>\d{1,2})/(?P<y>[1-9]\d{3})": "%m/%d/%Y",
    r"(?P<d>\d{1,2})/(?P<m>\d{1,2})/(?P<y>[1-9]\d{3})": "%d/%m/%Y",
    r"(?P<d>\d{1,2})-(?P<m>\d{1,2})-(?P<y>[1-9]\d{3})": "%d-%m-%Y",
    rf"(?P<d>\d{{1,2}})-{_MONTH}-(?P<y>[1-9]\d{{3}})": "%d-%b-%Y",
    rf"(?P<d>\d{{1,2}}){_MONTH}(?P<y>[1-9]\d{{3}})": "%d%b%Y",
    rf"(?P<d>\d{{1,2}}) {_MONTH} (?P<y>[1-9]\d{{3}})": "%d %b %Y",
    rf"{_MONTH} (?P<d>\d{{1,2}}) (?P<y>[1-9]\d{{3}})": "%b %d %Y",
    rf"{_MONTH} (?P<d>\d{{1,2}}), (?P<y>[1-9]\d{{3}})": "%b %d, %Y",
    r"(?P<y>[1-9]\d{3})-(?P<m>\d{1,2})": "%Y-%m",
    r"(?P<m>\d{1,2})/(?P<y>[1-9]\d{3})": "%m/%Y",
}
_TIME = r"(?:[T ](?P<t>\d{2}:\d{2}(?::\d{2}(?:\.\d{1,6})?)?)(?:Z|(?P<o>[+-]\d{2}:?\d{2}))?)?"
_ZONE = re.compile(r"(?:[Zz]|([+-])(\d\d):?(\d\d)?)$")
_CLOCK = re.compile(r"\d[T ]\d\d?:\d\d")
_DATES_AT_ONCE = 1 << 14  # of what is found in each, some 500 bytes are held
_MAY_BE_DATE = re.compile(rf"\d[-/.]\d|\d[- ]?{_MONTH}|{_MONTH.replace('?P<m>', '?:')} \d", re.IGNORECASE)


@dataclass(frozen=True)
class Dates:
    """Dates and how they were spelled."""

    values: npt.NDArray[np.datetime64]
    form: str


@dataclass(frozen=True)
class DateParts:
    """Dates apart from what stands behind the day.

    Attributes
    ----------
    days : datetime64[D] array
        The day that is written, whatever hour it was elsewhere.
    rests : tuple of str
        What stands behind it: a time, an offset, nothing.
    is_short : bool
        Whether days or months of one digit are written with one.
    case : {"upper", "lower", ""}
        How names of months are written, if not with a capital.
    """

    days: npt.NDArray[np.datetime64]
    rests: tuple[str, ...]
    form: str
    is_short: bool
    case: str


def date_parts(values: npt.NDArray[Any]) -> DateParts | None:
    """Texts as dates, as `parse_dates` reads them, with what stands behind the day left as it is; or None.

    >>> date_parts(np.array(["3/4/2021 10:30"], dtype=object)).rests
    (' 10:30',)
    """
    dates = parse_dates(values)
    if dates is None:
        return None
    pattern = next(pattern for pattern, form in _DATE_FORMS.items() if form == dates.form)
    texts = [str(v) for v in values]
    read = [m for text in texts if (m := re.match(pattern, text, re.IGNORECASE)) is not None]
    parts = [m.groupdict() for m in read]
    spelled = [f"{m['y']}-{_month(m['m']):02d}-{int(m.get('d', 1)):02d}" for m in parts]
    numbers = [part for m in parts for part in (m["m"], m.get("d", "01")) if part.isdigit()]
    names = [m["m"] for m in parts if not m["m"].isdigit()]
    case = "upper" if all(n.isupper() for n in names) else "lower" if all(n.islower() for n in names) else ""
    return DateParts(
        np.array(spelled, dtype="datetime64[D]"),
        tuple(text[m.end() :] for text, m in zip(texts, read, strict=True)),
        dates.form,
        any(len(number) == 1 for number in numbers),
        case if names else "",
    )


def parse_numbers(values: npt.NDArray[Any]) -> npt.NDArray[np.float64] | None:
    """Floats of all values, or None unless every one is a number; infinite ones are for the caller to judge.

    >>> parse_numbers(np.array(["1", "2.5e3"], dtype=object)).tolist()
    [1.0, 2500.0]
    >>> parse_numbers(np.array(["1", "x"], dtype=object)) is None
    True
    """
    if values.dtype.kind in "iufb":
        return values.astype(np.float64)
    if values.dtype != object:
        return None
    try:
        numbers = values.astype(np.float64)
    except (ValueError, TypeError, OverflowError):
        return None
    if any("_" in str(v) for v in values) or np.isnan(numbers).any():  # float() reads 1_000; a person does not
        return None
    return np.asarray(numbers)


def parse_dates(values: npt.NDArray[Any]) -> Dates | None:
    """Dates of all values in the one form that fits them all, or None.

    Where both readings of 03/04/2021 fit every value, the month is taken to come first.

    >>> parse_dates(np.array(["2020-02-01", "2021-12-31"], dtype=object)).form
    '%Y-%m-%d'
    """
    if values.dtype.kind == "M":
        return Dates(values.astype("datetime64[us]"), "%Y-%m-%d")
    if values.dtype != object or len(values) == 0 or not _MAY_BE_DATE.search(str(values[0])):
        return None
    for pattern, form in _DATE_FORMS.items():
        whole = re.compile(pattern + _TIME + r"\Z", re.IGNORECASE)
        found = []
        for begin in range(0, len(values), _DATES_AT_ONCE):
            moments = _moments(whole, values[begin : begin + _DATES_AT_ONCE])
            if moments is None:
                break
            found.append(moments)
        else:
            return Dates(np.concatenate(found), form)
    return None


def _moments(whole: re.Pattern[str], values: npt.NDArray[Any]) -> npt.NDArray[np.datetime64] | None:
    """Some dates in one form; None if it does not fit one of them."""
    matches = [whole.match(str(v)) for v in values]
    if not all(matches):
        return None
    read = [m.groupdict() for m in matches if m is not None]
    spelled = [
        f"{m['y']}-{_month(m['m']):02d}-{int(m.get('d', 1)):02d}" + (f"T{m['t']}" if m["t"] else "") for m in read
    ]
    try:
        days = np.array(spelled, dtype="datetime64[us]")
    except ValueError:
        return None
    # What hour it was elsewhere at the time: dates compare by when they were.
    return np.asarray(days - np.array([_minutes(m["o"]) for m in read], dtype="timedelta64[m]"))


def _month(text: str) -> int:
    return int(text) if text.isdigit() else _MONTHS.index(text.lower()) + 1


def zones_in(texts: Sequence[str]) -> list[re.Match[str] | None]:
    """Where each time of the clock names a zone, as groups of sign, hours and minutes; None where it names none.

    Raises
    ------
    DataError
        If some name a zone and others do not: nobody knows which of two such was earlier.

    >>> [zone and zone.groups() for zone in zones_in(["2008-06-08 23:40-02:30", "2008-06-08 23:40Z"])]
    [('-', '02', '30'), (None, None, None)]
    """
    zones = [_ZONE.search(text.strip()) if _CLOCK.search(text) else None for text in texts]
    if 0 < sum(zone is not None for zone in zones) < len(texts):
        raise DataError("some times name a time zone and others do not; write all of them in one way")
    return zones


def _minutes(offset: str | None) -> int:
    """How far a clock was ahead of universal time.

    >>> _minutes("+01:30"), _minutes("-0500"), _minutes(None)
    (90, -300, 0)
    """
    if offset is None:
        return 0
    minutes = 60 * int(offset[1:3]) + int(offset[-2:])
    return -minutes if offset[0] == "-" else minutes


def numbers_of(column: Column) -> npt.NDArray[np.float64] | None:
    """Every cell as a float (dates as days since 1970), nan where missing; None unless all values can be read so."""
    numbers = parse_numbers(column.values)
    if numbers is None:
        dates = parse_dates(column.values)
        if dates is None:
            return None
        numbers = dates.values.astype("datetime64[us]").astype(np.float64) / 86_400e6
    return np.append(numbers, np.nan)[np.minimum(column.codes, len(numbers))]
