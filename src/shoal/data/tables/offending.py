"""Where the first value stands that cannot be taken as asked, and of what shape it is; never the value itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from shoal.data.tables.table import Column, spell


def first_place(column: Column, is_wrong: Callable[[Any], bool]) -> str:
    """The first row, from 1 and not counting a header, whose value is wrong, with the value's length.

    >>> column = Column("age", np.array([0, 2, 1], dtype=np.int32), np.array(["31", "47", "old"], dtype=object))
    >>> first_place(column, lambda value: not value.isdigit())
    "row 2, column 'age': 3 characters"
    """
    wrong = np.array([is_wrong(value) for value in column.values], dtype=bool)
    is_there = np.append(wrong, False)[np.minimum(column.codes, len(wrong))]
    if not is_there.any():
        return f"column {column.name!r}"
    row = int(np.argmax(is_there))
    length = len(spell(column.values[column.codes[row : row + 1]])[0])
    return f"row {row + 1:,}, column {column.name!r}: {length} character{'' if length == 1 else 's'}"
