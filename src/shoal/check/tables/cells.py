"""What the cells of a published column say to a reader: missing or not, equal or not, and in which order.

The checker trusts no dictionary. A text that the policy calls a marker of missing values is missing, also
where the column stores it as a value; values that stand twice in a dictionary are one value. For diversity
and closeness, a text that says by any well-known word or sign that nothing is known is missing too, and
spellings of one thing are one value (see `shoal.data.tables.sense`): neither invisible characters nor ``1`` beside
``1.0`` make two diverse values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal.arrays import Ints, Mask
from shoal.data.tables.attribute import Attribute
from shoal.data.tables.parse import parse_dates, parse_numbers
from shoal.data.tables.sense import says_missing, sense_of
from shoal.data.tables.table import Column, not_a_value, spell
from shoal.errors import DataError

Values = npt.NDArray[Any]


def published(column: Column, markers: Sequence[str]) -> Column:
    """The same cells with a dictionary of distinct, present values, ascending, and missing spellings last."""
    values = column.values
    if column.is_text:
        spellings = frozenset(markers)
        absent = np.array([v is None or v in spellings for v in values], dtype=bool)
    else:
        absent = not_a_value(values)
    if not absent.any() and bool(np.all(values[1:] > values[:-1])):
        return column
    return _without(column, absent)


def comparable(column: Column, attribute: Attribute | None) -> Column:
    """What the texts say in place of the texts: numbers, dates, and categories whatever their spelling."""
    column = _known(column)
    if not column.is_text:
        return column
    kind = attribute.type if attribute is not None else "nominal"
    parsed = {"continuous": _numbers, "date": _dates}.get(kind, _nothing)(column)
    return _sorted_by(column, sense_of(column.values, is_code=kind == "prefix") if parsed is None else parsed)


def in_order(column: Column, attribute: Attribute | None) -> Column:
    """The same cells with the dictionary in the order of the attribute.

    The order is the given one, else that of numbers or dates, else the alphabet's. Spellings of one thing stand where
    the first of them does. Missing cells come after all values.
    """
    column = _known(column)
    if attribute is not None and attribute.order is not None:
        place = {text: i for i, text in enumerate(attribute.order)}
        ranks = np.array([place.get(text, -1) for text in spell(column.values)], dtype=np.int64)
        if (ranks < 0).any():
            raise DataError(
                f"column {column.name!r} holds {int((ranks < 0).sum())} values that its order does not name; "
                "add them to the order of the column"
            )
        return _by_place(column, ranks)
    if not column.is_text:
        return column
    kind = attribute.type if attribute is not None else "ordinal"
    parsed = _dates(column) if kind == "date" else _numbers(column)
    if parsed is not None:
        return _sorted_by(column, parsed)
    if kind in ("continuous", "date"):
        wanted = "dates of one form" if kind == "date" else "numbers"
        raise DataError(
            f"the ordered distance of column {column.name!r} needs values that are all {wanted}; "
            "give the column another type, or the requirement another distance"
        )
    return _by_place(column, np.arange(len(column.values)))


def as_leaves(column: Column, attribute: Attribute | None) -> Column:
    """The same cells as the hierarchy spells them; of several spellings of one leaf the first."""
    column = _known(column)
    if not column.is_text:
        return column
    is_code = attribute is not None and attribute.type == "prefix"
    first, position = np.unique(sense_of(column.values, is_code=is_code), return_index=True, return_inverse=True)[1:]
    return _sorted_by(column, column.values[first][position])


def _known(column: Column) -> Column:
    """The same cells; those that say that nothing is known are missing."""
    absent = says_missing(column.values)
    return _without(column, absent) if absent.any() else column


def _without(column: Column, absent: Mask) -> Column:
    """The same cells with some values of the dictionary as spellings of missing, and the others ascending."""
    values = column.values
    spelled = tuple(str(v) if column.is_text and v is not None else None for v in values[absent])
    kept, position = np.unique(values[~absent], return_inverse=True)
    recode = np.empty(len(values), dtype=np.int32)
    recode[~absent] = position
    recode[absent] = len(kept) + np.arange(len(spelled))
    return _recoded(column, kept, recode, spelled)


def _by_place(column: Column, places: Ints) -> Column:
    """The dictionary in the order of the places; values that say the same share the first of theirs."""
    of_value = np.unique(sense_of(column.values), return_inverse=True)[1]
    first = np.full(len(of_value), places.max(initial=0), dtype=np.int64)
    np.minimum.at(first, of_value, places)
    _, shown, position = np.unique(first[of_value], return_index=True, return_inverse=True)
    return _recoded(column, column.values[shown], position)


def _nothing(column: Column) -> Values | None:
    return None


def _numbers(column: Column) -> Values | None:
    return parse_numbers(column.values)


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
