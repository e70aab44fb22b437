"""What the cells of a published column say to a reader: missing or not, equal or not, and in which order.

The checker trusts no dictionary. A text that the policy calls a marker of missing values is missing, also
where the column stores it as a value; values that stand twice in a dictionary are one value; and a text
column of numbers that is known to be continuous holds numbers, so that ``1`` and ``1.0`` are no two diverse
values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal.data.attribute import Attribute
from shoal.data.parse import parse_dates, parse_numbers, sense_of
from shoal.data.table import Column, spell
from shoal.errors import DataError

Values = npt.NDArray[Any]


def published(column: Column, markers: Sequence[str]) -> Column:
    """The same cells with a dictionary of distinct, present values, ascending, and missing spellings last."""
    values = column.values
    if column.is_text:
        spellings = frozenset(markers)
        absent = np.array([v is None or v in spellings for v in values], dtype=bool)
    elif values.dtype.kind == "f":
        absent = np.isnan(values)
    elif values.dtype.kind == "M":
        absent = np.isnat(values)
    else:
        absent = np.zeros(len(values), dtype=bool)
    if not absent.any() and bool(np.all(values[1:] > values[:-1])):
        return column
    spelled = tuple(str(v) if column.is_text and v is not None else None for v in values[absent])
    kept, position = np.unique(values[~absent], return_inverse=True)
    recode = np.empty(len(values), dtype=np.int32)
    recode[~absent] = position
    recode[absent] = len(kept) + np.arange(len(spelled))
    return _recoded(column, kept, recode, spelled)


def comparable(column: Column, attribute: Attribute | None) -> Column:
    """What the texts say in place of the texts: numbers, dates, and categories whatever their spelling."""
    if not column.is_text:
        return column
    parsed: Values | None = None
    if attribute is not None and attribute.type == "continuous":
        parsed = parse_numbers(column.values)
    elif attribute is not None and attribute.type == "date":
        parsed = _dates(column)
    elif attribute is None or attribute.type in ("nominal", "prefix"):
        parsed = sense_of(column.values, is_code=attribute is not None and attribute.type == "prefix")
    return column if parsed is None else _sorted_by(column, parsed)


def in_order(column: Column, attribute: Attribute | None) -> Column:
    """The same cells with the dictionary in the order of the attribute.

    The order is the given one, else that of numbers or dates, else the alphabet's. Missing cells come after
    all values.
    """
    if attribute is not None and attribute.order is not None:
        place = {text: i for i, text in enumerate(attribute.order)}
        ranks = np.array([place.get(text, -1) for text in spell(column.values)], dtype=np.int64)
        if (ranks < 0).any():
            raise DataError(
                f"column {column.name!r} holds {int((ranks < 0).sum())} values that its order does not name; "
                "add them to the order of the column"
            )
        return _recoded(column, column.values[np.argsort(ranks)], np.argsort(np.argsort(ranks)))
    if not column.is_text:
        return column
    kind = attribute.type if attribute is not None else "ordinal"
    parsed = _dates(column) if kind == "date" else parse_numbers(column.values)
    if parsed is not None:
        return _sorted_by(column, parsed)
    if kind in ("continuous", "date"):
        wanted = "dates of one form" if kind == "date" else "numbers"
        raise DataError(
            f"the ordered distance of column {column.name!r} needs values that are all {wanted}; "
            "give the column another type, or the requirement another distance"
        )
    return column


def _dates(column: Column) -> Values | None:
    dates = parse_dates(column.values)
    return None if dates is None else dates.values


def _sorted_by(column: Column, parsed: Values) -> Column:
    kept, position = np.unique(parsed, return_inverse=True)
    return _recoded(column, kept, position)


def _recoded(
    column: Column, values: Values, recode: npt.NDArray[np.integer[Any]], spelled: tuple[str | None, ...] = ()
) -> Column:
    """Replace the dictionary; `recode` maps old codes to new ones, `spelled` are new missing spellings."""
    markers = (*spelled, *(column.markers or (None,)))
    old_missing = len(values) + len(spelled) + np.arange(len(markers) - len(spelled))
    table = np.concatenate([recode, old_missing]).astype(np.int32)
    return replace(column, codes=table[np.minimum(column.codes, len(table) - 1)], values=values, markers=markers)
