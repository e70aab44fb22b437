"""Whose row is it? Persons as numbers, from the columns that a policy names."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from shoal.arrays import Ints
from shoal.data.tables.table import Table, row_keys


def person_codes(table: Table, names: Sequence[str]) -> Ints:
    """Number the persons of a table, 0, 1, ...: rows are of one person if they agree in all the named columns.

    Rows in which one of them is missing may all be of the same person, and so count as one.
    """
    columns = [table[name] for name in names]
    keys = row_keys(columns)
    unknown = np.any([c.missing for c in columns], axis=0)
    if not unknown.any():
        return keys
    keys[unknown] = len(keys)
    return np.unique(keys, return_inverse=True)[1].astype(np.int64)
