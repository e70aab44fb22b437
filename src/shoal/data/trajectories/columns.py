"""Which columns of a table say where, when, who and on which trip: by their names, and times by their values too."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from shoal.arrays import Floats, Ints
from shoal.data.tables.parse import parse_numbers, zones_in
from shoal.data.tables.table import Column, Table
from shoal.errors import DataError, did_you_mean

NAMES = {
    "latitude": ("latitude", "lat", "y"),
    "longitude": ("longitude", "lon", "lng", "long", "x"),
    "time": ("timestamp", "time", "datetime", "t", "when", "epoch", "date", "recordedat"),
    "person": ("person", "personid", "user", "userid", "uid", "individual", "driver", "cab", "taxi", "taxiid", "device",
               "deviceid", "vehicle", "vehicleid", "id"),
    "trip": ("trip", "tripid", "trajectory", "trajectoryid", "tid", "track", "trackid", "journey", "journeyid"),
}  # fmt: skip
LEAST_MILLISECONDS = 10**11  # as seconds, beyond the year 5000


class Wanted(NamedTuple):
    """The columns as they are named by the user; None where they are to be found."""

    latitude: str | None = None
    longitude: str | None = None
    time: str | None = None
    person: tuple[str, ...] = ()
    trip: str | None = None


def find_columns(names: Sequence[str], wanted: Wanted) -> dict[str, str]:
    """The column of each meaning; those of person and trip may be missing.

    >>> find_columns(["Lat", "lng", "timestamp", "user_id"], Wanted())
    {'latitude': 'Lat', 'longitude': 'lng', 'time': 'timestamp', 'person': 'user_id'}
    """
    plain = {re.sub(r"[^a-z]", "", name.casefold()): name for name in reversed(names)}
    found = {}
    for meaning, known in NAMES.items():
        given = wanted.person[0] if meaning == "person" and wanted.person else getattr(wanted, meaning) or None
        name = given or next((plain[word] for word in known if word in plain), None)
        if name:
            found[meaning] = name
        elif meaning in ("latitude", "longitude", "time"):
            raise DataError(
                f"no column is known to hold the {meaning}; name it with --{meaning} ({did_you_mean('', names)})"
            )
    if "person" not in found and "trip" not in found:
        raise DataError("no column says whose a point is or of which trip; name it with --person or --trip")
    return found


def numbers_in(column: Column) -> Floats:
    """The numbers of a column, one a row."""
    values = column.values if column.values.dtype.kind in "fiu" else parse_numbers(_objects(column.values))
    if values is None or column.has_missing:
        raise DataError(
            f"the column {column.name!r} holds cells that are not numbers; mend them or leave the points out"
        )
    return np.asarray(values, np.float64)[column.codes]


def times_in(column: Column) -> tuple[Ints, tuple[str, ...]]:
    """The times of a column in seconds since 1970, one a row, and what is to be known of them."""
    if column.has_missing:
        raise DataError(
            f"no time is given for {int(column.missing.sum()):,} of the points; leave them out, or give them one"
        )
    values = column.values
    notes: tuple[str, ...] = ()
    if values.dtype.kind == "M":
        seconds = values.astype("datetime64[s]").astype(np.int64)
    elif values.dtype.kind in "fiu":
        seconds = _epoch(values.astype(np.float64))
    else:
        seconds, notes = parse_times([str(value) for value in values])
    return np.asarray(seconds, np.int64)[column.codes], notes


def parse_times(texts: Sequence[str]) -> tuple[Ints, tuple[str, ...]]:
    """Times as ISO 8601 and its like spell them, or seconds or milliseconds since 1970; one spelling for all.

    >>> parse_times(["2008/06/08 23:40:39"])[0].tolist(), parse_times(["2008-06-08T23:40:39+02:00"])[0].tolist()
    ([1212968439], [1212961239])
    """
    numbers = parse_numbers(_objects(texts))
    if numbers is not None:
        return _epoch(np.asarray(numbers, np.float64)), ()
    zones = zones_in(texts)
    plain = [text.strip()[: None if zone is None else zone.start()] for text, zone in zip(texts, zones, strict=True)]
    spelled = [text.replace("/", "-").replace(" ", "T", 1) for text in plain]
    try:
        seconds = np.array(spelled, dtype="datetime64[s]").astype(np.int64)
    except ValueError:
        raise DataError(
            "the times are neither numbers nor of the form 2008-06-08 23:40:39, with or without a zone; rewrite them"
        ) from None
    if (seconds == np.iinfo(np.int64).min).any():
        raise DataError("some points have no time; leave them out, or give them one")
    if not any(zones):
        return seconds, ()
    shifts = [0 if z is None or not z[1] else (int(z[2]) * 3600 + int(z[3] or 0) * 60) * (-1 if z[1] == "+" else 1)
              for z in zones]  # fmt: skip
    note = f"times name {'several time zones' if len(set(shifts)) > 1 else 'a time zone'}; they are published in UTC"
    return seconds + np.array(shifts, np.int64), (note,) if any(shifts) else ()


def _epoch(numbers: Floats) -> Ints:
    if not np.isfinite(numbers).all():
        raise DataError("some points have no time; leave them out, or give them one")
    scale = 1000.0 if np.abs(numbers).max(initial=0.0) >= LEAST_MILLISECONDS else 1.0
    if (np.abs(numbers / scale) >= LEAST_MILLISECONDS).any():
        raise DataError("some times lie thousands of years away; give seconds or milliseconds since 1970")
    return np.floor(numbers / scale).astype(np.int64)


def _objects(values: Sequence[str] | npt.NDArray[np.object_]) -> npt.NDArray[np.object_]:
    array = np.empty(len(values), dtype=object)
    array[:] = [str(value) for value in values]
    return array


def names_in(table: Table, name: str) -> npt.NDArray[np.integer]:
    """A column that names something, as numbers; a missing cell names nothing and is refused."""
    column = table[name]
    if column.has_missing:
        raise DataError(f"no {name!r} is given for {int(column.missing.sum()):,} of the points; leave them out")
    return column.codes
