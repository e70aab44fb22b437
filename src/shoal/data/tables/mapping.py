"""The mapping that was applied: which value became which. It holds originals, so it stays in `private/`."""

from __future__ import annotations

import numpy as np

from shoal.data.tables.table import Column, Table


def applied_mapping(original: Column, published: Column) -> Table:
    """Every distinct pair of an original and a published cell, and how many records it has.

    >>> age = Column("age", np.array([0, 1, 1], dtype=np.int32), np.array(["39", "40"], dtype=object))
    >>> band = Column("age", np.array([0, 0, 0], dtype=np.int32), np.array(["[39..40]"], dtype=object))
    >>> [c.texts() for c in applied_mapping(age, band).columns.values()]
    [['39', '40'], ['[39..40]'], ['1', '2']]
    """
    width = len(published.values) + len(published.markers)
    pairs, counts = np.unique(original.codes.astype(np.int64) * width + published.codes, return_counts=True)
    numbers, of_pair = np.unique(counts, return_inverse=True)
    return Table.of(
        [
            Column(original.name, (pairs // width).astype(np.int32), original.values, original.markers),
            Column(
                f"published {published.name}", (pairs % width).astype(np.int32), published.values, published.markers
            ),
            Column("records", of_pair.astype(np.int32), numbers),
        ]
    )
