"""Read numbers and dates out of a dictionary of texts: once a distinct value, never once a row."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal.data.tables.table import Column

_DATE_FORMS = {
    r"(?P<y>[1-9]\d{3})-(?P<m>\d{1,2})-(?P<d>\d{1,2})": "%Y-%m-%d",
    r"(?P<y>[1-9]\d{3})/(?P<m>\d{1,2})/(?P<d>\d{1,2})": "%Y/%m/%d",
    r"(?P<d>\d{1,2})\.(?P<m>\d{1,2})\.(?P<y>[1-9]\d{3})": "%d.%m.%Y",
    r"(?P<m>\d{1,2})/(?P<d>\d{1,2})/(?P<y>[1-9]\d{3})": "%m/%d/%Y",
    r"(?P<d>\d{1,2})/(?P<m>\d{1,2})/(?P<y>[1-9]\d{3})": "%d/%m/%Y",
    r"(?P<d>\d{1,2})-(?P<m>\d{1,2})-(?P<y>[1-9]\d{3})": "%d-%m-%Y",
}
_TIME = r"(?:[T ](?P<t>\d{2}:\d{2}(?::\d{2}(?:\.\d{1,6})?)?)Z?)?"


@dataclass(frozen=True)
class Dates:
    """Dates and how they were spelled."""

    values: npt.NDArray[np.datetime64]
    form: str


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
    if values.dtype != object or len(values) == 0 or not re.search(r"\d[-/.]\d", str(values[0])):
        return None
    for pattern, form in _DATE_FORMS.items():
        whole = re.compile(pattern + _TIME + r"\Z")
        matches = [whole.match(str(v)) for v in values]
        if not all(matches):
            continue
        spelled = [
            f"{m['y']}-{int(m['m']):02d}-{int(m['d']):02d}" + (f"T{m['t']}" if m["t"] else "")
            for m in matches
            if m is not None
        ]
        try:
            return Dates(np.array(spelled, dtype="datetime64[us]"), form)
        except ValueError:
            continue
    return None


def numbers_of(column: Column) -> npt.NDArray[np.float64] | None:
    """Every cell as a float (dates as days since 1970), nan where missing; None unless all values can be read so."""
    numbers = parse_numbers(column.values)
    if numbers is None:
        dates = parse_dates(column.values)
        if dates is None:
            return None
        numbers = dates.values.astype("datetime64[us]").astype(np.float64) / 86_400e6
    return np.append(numbers, np.nan)[np.minimum(column.codes, len(numbers))]
