"""Records in files are those that were put there, with names of no items and classes but those that occur."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.data.sparse.on_disk import RecordsOnDisk, put_records
from shoal.data.sparse.records import Sparse, SparseSource
from shoal.data.sparse.written import compact
from tests.unit.sparse.random_records import draw


def put(records: Sparse) -> RecordsOnDisk:
    blocks = [records.take(rows) for rows in np.array_split(np.arange(len(records)), 5)]
    rows = put_records(blocks, records.n_items, is_binary=records.is_binary)
    return RecordsOnDisk(rows, records.names, records.classes, SparseSource())


@pytest.mark.parametrize("kind", ["sets", "counts"])
@pytest.mark.parametrize("has_classes", [False, True])
def test_they_come_back(kind: str, has_classes: bool) -> None:
    records = draw(kind=kind)
    if has_classes:
        records = records.with_labels([str(i % 4) for i in range(60)]).take(np.flatnonzero(np.arange(60) % 4 != 1))
    disk = put(records)
    assert len(disk) == len(records)
    for made, expected in (
        (disk.take(np.arange(len(disk))), records),
        (disk.compact().part(0, len(disk)), compact(records)),
    ):
        assert (made.names, made.classes) == (expected.names, expected.classes)
        for name in ("starts", "items", "weights", "labels"):
            assert np.array_equal(getattr(made, name), getattr(expected, name))
    assert sum(len(block) for block in disk.blocks()) == len(records)
    facts = disk.weights
    assert (facts.is_integral, facts.is_binary, facts.is_negative) == (True, kind == "sets", False)
    assert facts.is_binary or facts.total == records.weights.sum()
