"""People and published records of the same quasi-identifiers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from shoal.arrays import Ints
from shoal.attack.tables.case import TableCase
from shoal.attack.tables.cells import columns_of
from shoal.check.slices.sliced import numbered
from shoal.data.tables.dictionary import objects
from shoal.data.tables.table import Table


def joint_keys(tables: Sequence[Table], names: Sequence[str]) -> list[Ints]:
    """Number the distinct combinations of cells as they are spelled, alike in all of the tables."""
    coded = []
    for name in names:
        texts = [objects(table[name].texts()) for table in tables]
        distinct = np.unique(np.concatenate(texts))
        cells = [np.searchsorted(distinct, t)[table[name].codes] for t, table in zip(texts, tables, strict=True)]
        coded.append(np.concatenate(cells))
    ids = numbered(coded)[0]
    return np.split(ids, np.cumsum([t.n_rows for t in tables])[:-1])


def twins_of(case: TableCase, people: Ints) -> Ints:
    """For each control, which of some people of the original has the same quasi-identifiers, -1 for none."""
    if case.control is None:
        return np.zeros(0, dtype=np.int64)
    ours, theirs = joint_keys([case.original, case.control], columns_of(case, "quasi"))
    place = np.full(int(max(ours.max(initial=-1), theirs.max(initial=-1))) + 1, -1, dtype=np.int64)
    place[ours[people]] = np.arange(len(people))
    return place[theirs]
