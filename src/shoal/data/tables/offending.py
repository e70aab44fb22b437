"""Where the first value stands that cannot be taken as asked, and of what shape it is; never the value itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from shoal.arrays import Codes
from shoal.data.tables.table import Column, spell


def first_place(column: Column, is_wrong: Callable[[Any], bool], weights: Codes | None = None) -> str:
    """The first row, from 1 and not counting a header, whose value is wrong, with the value's length.

    Rows that stand for several records, as `weights` says, come in no order that anybody knows: of these the least
    value that is wrong is told, and no row.

    >>> column = Column("age", np.array([0, 2, 1], dtype=np.int32), np.array(["31", "47", "old"], dtype=object))
    >>> first_place(column, lambda value: not value.isdigit())
    "row 2, column 'age': 3 characters"
    """
    wrong = np.array([is_wrong(value) for value in column.values], dtype=bool)
    is_there = np.append(wrong, False)[np.minimum(column.codes, len(wrong))]
    if not is_there.any():
        return f"column {column.name!r}"
    row = int(np.argmax(is_there))
    code = int(column.codes[row] if weights is None else column.codes[is_there].min())
    length = len(spell(column.values[code : code + 1])[0])
    where = f"row {row + 1:,}, " if weights is None else ""
    return f"{where}column {column.name!r}: {length} character{'' if length == 1 else 's'}"
