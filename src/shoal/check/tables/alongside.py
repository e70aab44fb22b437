"""A published column read beside the original's: the same numbers for the same values, and codes for the same sense.

The published column may come back as text where the original was typed, and may have been edited: a text that no
number or date can be read from is like no original value.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal.arrays import Floats, Ints
from shoal.check.tables.cells import published as readable
from shoal.data.tables.attribute import Attribute
from shoal.data.tables.parse import parse_dates, parse_numbers
from shoal.data.tables.sense import sense_of
from shoal.data.tables.table import Column, Table, row_keys, spell

_DAY = 86_400e6


@dataclass(frozen=True)
class Alongside:
    """One column of both tables.

    Attributes
    ----------
    published, original : int64 arrays of n_published and n_original
        A code for each cell, the same for cells that say the same; -1 where missing.
    published_numbers, original_numbers : float64 arrays, or None
        Of numbers and dates (days since 1970) what each cell says, nan where missing; a published text that says no
        number is infinite. None for categories.
    is_text, is_date : bool
        Whether the original holds texts, and whether the numbers are days.
    """

    name: str
    published: Ints
    original: Ints
    published_numbers: Floats | None
    original_numbers: Floats | None
    is_text: bool
    is_date: bool


def alongside(
    table: Table,
    original: Table,
    names: Sequence[str],
    markers: Sequence[str],
    attributes: Mapping[str, Attribute],
) -> list[Alongside]:
    """Read some columns of both tables."""
    return [
        _alongside(readable(table[n], markers), readable(original[n], markers), attributes.get(n))
        for n in dict.fromkeys(names)
    ]


def shared_keys(columns: Sequence[Alongside]) -> tuple[Ints, Ints]:
    """A number for each published and each original record; two that say the same in all columns have the same."""
    both = []
    for column in columns:
        codes = np.concatenate([column.published, column.original])
        n_values = int(codes.max(initial=-1)) + 1
        dictionary = np.arange(n_values, dtype=np.int64)
        both.append(Column(column.name, np.where(codes < 0, n_values, codes).astype(np.int32), dictionary, (None,)))
    keys = row_keys(both)
    n_published = len(columns[0].published)
    return keys[:n_published], keys[n_published:]


def _alongside(published: Column, original: Column, attribute: Attribute | None) -> Alongside:
    kind = attribute.type if attribute is not None else "nominal"
    read = {"continuous": _numbers, "date": _dates}.get(kind)
    found = None if read is None else read(published.values, original.values)
    said = _said(_texts(published), _texts(original), kind) if found is None else np.concatenate(found)
    place = np.unique(said, return_inverse=True)[1]
    n_own = len(published.values)
    return Alongside(
        name=original.name,
        published=_spread(published, place[:n_own], -1),
        original=_spread(original, place[n_own:], -1),
        published_numbers=None if found is None else _spread(published, found[0], np.nan),
        original_numbers=None if found is None else _spread(original, found[1], np.nan),
        is_text=original.is_text,
        is_date=kind == "date",
    )


def _spread(column: Column, of_values: npt.NDArray[Any], missing: float) -> Any:
    return np.append(of_values, missing)[np.minimum(column.codes, len(of_values))]


def _texts(column: Column) -> npt.NDArray[Any]:
    texts = np.empty(len(column.values), dtype=object)
    texts[:] = spell(column.values)
    return texts


def _said(published: npt.NDArray[Any], original: npt.NDArray[Any], kind: str) -> npt.NDArray[Any]:
    """What categories say, published ones first; whether they are numbers is for the original to decide."""
    numbers = None if kind == "prefix" else _numbers(published, original)
    if numbers is not None:
        return np.concatenate(numbers)
    texts = np.concatenate([published, original])
    return texts if kind == "ordinal" else sense_of(texts, is_code=True)


def _numbers(published: npt.NDArray[Any], original: npt.NDArray[Any]) -> tuple[Floats, Floats] | None:
    theirs = parse_numbers(original)
    if theirs is None:
        return None
    ours = parse_numbers(published)
    if ours is None:
        ours = np.array([_one_number(text) for text in spell(published)])
    return ours, theirs


def _one_number(text: str) -> float:
    number = parse_numbers(np.array([text], dtype=object))
    return float("inf") if number is None else float(number[0])


def _dates(published: npt.NDArray[Any], original: npt.NDArray[Any]) -> tuple[Floats, Floats] | None:
    """Days since 1970, of texts in the one form that fits both tables."""
    theirs = parse_dates(original)
    if theirs is None:
        return None
    if published.dtype == object and original.dtype == object:
        both = parse_dates(np.concatenate([published, original]))
        if both is not None:
            return _days(both.values[: len(published)]), _days(both.values[len(published) :])
        return np.array([_one_date(str(text), theirs.form) for text in published]), _days(theirs.values)
    ours = parse_dates(published) if len(published) else None
    if ours is None:
        return np.array([_one_date(text, theirs.form) for text in spell(published)]), _days(theirs.values)
    return _days(ours.values), _days(theirs.values)


def _one_date(text: str, form: str) -> float:
    try:
        return (datetime.strptime(text, form) - datetime(1970, 1, 1)).total_seconds() / 86_400
    except ValueError:
        return float("inf")


def _days(values: npt.NDArray[Any]) -> Floats:
    return np.asarray(values.astype("datetime64[us]").astype(np.int64) / _DAY)
