"""Records by the numbers of their items tell what the records tell."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.data.sparse.record_rows import RecordRows
from tests.unit.sparse.random_records import draw


@pytest.mark.parametrize("kind", ["sets", "counts", "reals"])
def test_they_are_the_records(kind: str) -> None:
    records = draw(kind=kind).with_labels([str(i % 3) for i in range(60)]).with_persons(np.arange(60) // 2)
    rows = RecordRows.of(records)
    assert rows.is_binary == records.is_binary
    assert rows.supports.tolist() == records.supports.tolist()
    assert rows.holders.tolist() == records.holders.tolist()
    order = np.random.default_rng(1).permutation(60)[:40]
    moved, expected = rows.in_order(order).like(records), records.take(order)
    for name in ("starts", "items", "weights", "labels", "persons"):
        assert getattr(moved, name).tolist() == getattr(expected, name).tolist()
