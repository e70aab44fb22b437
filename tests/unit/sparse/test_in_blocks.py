"""Counts and sketches of records that come in blocks are those of all at once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from shoal.data.sparse.records import Sparse
from shoal.data.sparse.sketch_files import read_sketches
from shoal.data.sparse.sketch_store import sketch_store
from shoal.errors import DataError, PolicyError
from shoal.kinds.sparse.policy import SparsePolicy
from shoal.sparse.anonymize import REASONS, AllRecords, anonymize_sparse
from shoal.sparse.in_blocks import count_blocks, sketch_in_blocks
from shoal.sparse.signs import new_key
from tests.unit.sparse.random_records import draw

KEY = new_key(1)


def blocks(records: Sparse, n: int = 7) -> Iterator[Sparse]:
    """Parts with items and classes of their own."""
    for rows in np.array_split(np.arange(len(records)), n):
        part = records.take(rows)
        used = np.unique(part.items)
        names, items = tuple(part.names[i] for i in used), np.searchsorted(used, part.items).astype(np.int32)
        part = replace(part, names=names, items=items)
        if part.labels is not None:
            there = np.unique(part.labels)
            classes = tuple(part.classes[c] for c in there)
            part = replace(part, labels=np.searchsorted(there, part.labels).astype(np.int32), classes=classes)
        yield part


@pytest.mark.parametrize("kind", ["sets", "counts"])
@pytest.mark.parametrize("n_classes", [0, 20])
def test_counts_and_sketches_are_those_of_all_records(tmp_path: Path, kind: str, n_classes: int) -> None:
    records = draw(kind=kind)
    if n_classes:
        records = records.with_labels([f"c{i * i % n_classes}" for i in range(len(records))])
    counted, whole = count_blocks(blocks(records)), AllRecords.of(records)
    assert counted.whole.n_records == whole.n_records
    there = whole.holders > 0
    assert counted.names == tuple(np.array(records.names, dtype=object)[there])
    assert counted.whole.holders.tolist() == whole.holders[there].tolist()
    assert counted.whole.class_sizes.tolist() == whole.class_sizes.tolist()
    assert counted.typical == np.median(np.abs(records.weights))
    assert (counted.n_filled, counted.n_entries) == (int((records.sizes > 0).sum()), len(records.items))

    policy = SparsePolicy.of(model="delta", rare=3)
    made = anonymize_sparse(records, policy, KEY)
    seen = 0

    def look(numbers, some, sketches) -> None:
        nonlocal seen
        expected = records.take(numbers)
        assert [some.names[i] for i in some.items] == [records.names[i] for i in expected.items]
        assert sketches.counts.min() > 0
        seen += len(numbers)

    with sketch_store() as store:
        reasons = sketch_in_blocks(lambda: blocks(records), counted, policy, KEY, store, look=look)
        store.write(tmp_path / "data.parquet", has_classes=counted.has_classes)
    assert reasons.tolist() == np.bincount(made.reasons, minlength=len(REASONS)).tolist()
    assert seen >= reasons[0]
    written = read_sketches(tmp_path / "data.parquet")
    assert written.components.tolist() == made.sketches.components.tolist()
    assert written.starts.tolist() == made.sketches.starts.tolist()


def test_real_weights_and_other_records_are_refused() -> None:
    with pytest.raises(PolicyError, match="not whole numbers are rounded to a grid"):
        count_blocks(blocks(draw(kind="reals")))
    records, policy = draw(kind="sets"), SparsePolicy.of(model="delta")
    counted = count_blocks(blocks(records))
    for other in (records.take(np.arange(50)), replace(records, names=tuple(f"{n}!" for n in records.names))):
        with sketch_store() as store, pytest.raises(DataError, match="changed while they were read"):
            sketch_in_blocks(lambda o=other: blocks(o), counted, policy, KEY, store, look=lambda *_: None)
