"""Labels that would not fit into the memory that is given are refused before they are written."""

from __future__ import annotations

from pathlib import Path

import duckdb
import numpy as np
import pytest

import shoal
from shoal.data.memory import bounded
from shoal.data.tables import label_room
from shoal.data.tables.dictionary import objects
from shoal.data.tables.label_room import UNBOUNDED, LabelRoom
from shoal.data.tables.table import encode_cells
from shoal.errors import DataError

LABELS = objects(["{a, b}", "*"])


def test_labels_take_what_rows_and_their_values_leave() -> None:
    columns = [encode_cells("note", np.array(["ab", "c"], dtype=object))]
    assert LabelRoom.beside(columns, 10).left is None
    with bounded(500_000_000):
        one, many = LabelRoom.beside(columns, 10), LabelRoom.beside(columns, 500_000)
        assert one.left is not None
        assert many.left is not None
        assert one.left - many.left == 499_990 * 122
        assert LabelRoom.beside(columns, 10**8).left == 500_000_000 // 8  # what many rows have is reckoned with them
        before = one.left
        one.take("note", LABELS)
        assert before - one.left == 2 * label_room.LABEL_BYTES + 7 * label_room.CHARACTER_BYTES
        one.left = 100
        with pytest.raises(DataError, match=r"those of 'note' have 14 characters or more, too many for 0\.5 GB"):
            one.take("note", LABELS)
    UNBOUNDED.take("note", LABELS)
    assert UNBOUNDED.left is None


@pytest.mark.parametrize("spilled", [False, True])
def test_a_release_of_long_sets_is_refused_before_it_is_written(
    tmp_path: Path, spilled: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "people.parquet"
    rows = "SELECT i % 40 AS age, 'text ' || i % 50 AS note FROM range(400) AS rows(i)"
    duckdb.execute(f"COPY ({rows}) TO '{path}' (FORMAT parquet)")
    policy = shoal.Policy.of(quasi=["age", "note"], k=5, memory="500MB")
    if spilled:
        monkeypatch.setattr("shoal.data.tables.room.ROW_BYTES", 2_000_000)
    assert len(shoal.anonymize(path, policy, seed=1).published)
    monkeypatch.setattr(label_room, "CHARACTER_BYTES", 10**6)
    with pytest.raises(DataError, match="give columns of many or long texts a hierarchy"):
        shoal.anonymize(path, policy, seed=1)
    assert len(shoal.anonymize(path, policy.changed(memory=None), seed=1).published) == 400
