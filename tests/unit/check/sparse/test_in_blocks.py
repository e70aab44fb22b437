"""A file of sketches is found to be what it is, record by record, and wrong where it is wrong."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

from shoal.check.sparse import in_blocks
from shoal.check.sparse.in_blocks import totals_of, verify_in_blocks
from shoal.check.sparse.verify import SparseAsked, SparseEvidence, verify_sketches
from shoal.data.sparse.records import Sparse
from shoal.data.sparse.sketch_files import write_sketches
from shoal.data.sparse.sketches import Sketches
from shoal.errors import DataError
from shoal.kinds.sparse.policy import SparsePolicy
from shoal.sparse.anonymize import anonymize_sparse
from shoal.sparse.signs import new_key
from tests.unit.sparse.random_records import draw

KEY = new_key(1)
ASKED = SparseAsked(0.5, coarse_counts=True, rare=2)


def released(has_classes: bool) -> tuple[Sparse, Sketches, Any]:
    records = draw(kind="counts")
    if has_classes:
        records = records.with_labels([f"c{i % 3}" for i in range(len(records))])
    made = anonymize_sparse(records, SparsePolicy.of(model="delta", rare=2), KEY)
    return records, made.sketches, made.rows


def found(path: Path, records: Sparse, sketches: Sketches, rows: Any, key: bytes = KEY, asked: Any = ASKED) -> Any:
    write_sketches(sketches, path)
    parts = [records.take(rows) for rows in np.array_split(np.arange(len(records)), 7)]
    with patch.object(in_blocks, "AT_ONCE", 5):
        return verify_in_blocks(path, asked, lambda: iter(parts), rows, key)


@pytest.mark.parametrize("has_classes", [False, True])
@pytest.mark.parametrize("delta", [0.5, 5.0])
def test_it_finds_what_the_check_of_held_records_finds(tmp_path: Path, has_classes: bool, delta: float) -> None:
    records, sketches, rows = released(has_classes)
    for asked in (
        replace(ASKED, delta=delta),
        replace(ASKED, delta=delta, recovery_share=0.1, max_components=4, rare=40),
    ):
        verdict, told = found(tmp_path / "data.parquet", records, sketches, rows, asked=asked)
        held = verify_sketches(sketches, asked, SparseEvidence(records, rows, KEY))
        assert verdict == held
        assert told.n == len(sketches)
        assert told.counts == {n: int((sketches.counts == n).sum()) for n in set(sketches.counts.tolist())}


def test_a_wrong_number_a_wrong_key_and_a_wrong_owner_are_found(tmp_path: Path) -> None:
    records, sketches, rows = released(True)
    path = tmp_path / "data.parquet"
    wrong = sketches.components.copy()
    wrong[-1] += 2
    for bad in (
        found(path, records, replace(sketches, components=wrong), rows),
        found(path, records, sketches, rows, new_key(2)),
        found(path, records, sketches, np.roll(rows, 1)),
    ):
        assert not bad[0].holds


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda s, r: (s.take(np.arange(len(s))[::-1]), r[::-1]), "not sorted by their content"),
        (lambda s, r: (s, r[:-1]), "another release's"),
        (lambda s, r: (s, np.where(np.arange(len(r)) == 0, 10_000, r)), "not among the records of the original"),
        (lambda s, r: (s, np.where(np.arange(len(r)) == 0, r[1], r)), "more than one sketch"),
        (lambda s, r: (replace(s, labels=None, classes=()), r), "one side has classes"),
    ],
)
def test_what_is_no_release_of_these_records_is_said(tmp_path: Path, change: Any, message: str) -> None:
    records, sketches, rows = released(True)
    verdict, _ = found(tmp_path / "data.parquet", records, *change(sketches, rows))
    assert any(message in finding for finding in verdict.findings)
    assert not verdict.holds


def test_neighbours_and_real_components_are_refused(tmp_path: Path) -> None:
    records, sketches, rows = released(False)
    with pytest.raises(DataError, match="with all records in memory"):
        found(tmp_path / "data.parquet", records, sketches, rows, asked=replace(ASKED, k=3))
    reals = replace(sketches, components=sketches.components / 2, step=0.5)
    with pytest.raises(DataError, match="real numbers"):
        found(tmp_path / "data.parquet", records, reals, rows)


def test_totals_are_of_all_blocks() -> None:
    records = draw(kind="sets").with_labels(["a", "b"] * 30)
    totals = totals_of(records.take(rows) for rows in np.array_split(np.arange(60), 4))
    assert (totals.n_records, totals.names) == (60, records.names)
    assert totals.holders.tolist() == records.supports.tolist()
    assert totals.class_sizes.tolist() == [int((records.sizes[i::2] > 0).sum()) for i in (0, 1)]
