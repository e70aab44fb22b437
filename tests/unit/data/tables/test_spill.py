"""Rows in files, and tables over them."""

from __future__ import annotations

import gc
import os
import stat
from pathlib import Path

import duckdb
import numpy as np
import pytest

from shoal.data.memory import bounded
from shoal.data.tables import parquet, room
from shoal.data.tables.files import read_table
from shoal.data.tables.spill import RowFile, SpilledTable, SpillFolder, save_arrays, spread, writing
from shoal.data.tables.table import encode_cells
from shoal.errors import ShoalError


def test_rows_come_back_in_runs_as_they_went_in(tmp_path: Path) -> None:
    rows = np.arange(60, dtype=np.int32).reshape(20, 3)
    file = RowFile(tmp_path / "rows", 2)
    for part in (rows[:7], rows[7:7], rows[7:]):
        file.append(part)
    assert file.read().tolist() == rows.tolist()
    assert file.read(5, 9).tolist() == rows[5:9].tolist()
    assert np.concatenate(list(file.runs(6))).tolist() == rows.tolist()
    assert stat.S_IMODE((tmp_path / "rows").stat().st_mode) == 0o600
    file.remove()
    assert (file.n_rows, file.read().shape) == (0, (0, 3))


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_a_full_disk_is_one_sentence() -> None:
    with pytest.raises(ShoalError, match="No space left on device; make room there"):
        RowFile(Path("/dev/full"), 1).append(np.ones((1 << 16, 2), dtype=np.int32))


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
@pytest.mark.parametrize("n_arrays", [1, 2])
def test_a_full_disk_is_one_sentence_for_what_lies_beside_rows(n_arrays: int) -> None:
    with pytest.raises(ShoalError, match=r"cannot be written to the temporary folder: .*; make room there"):
        save_arrays(Path("/dev/full"), *[np.ones(1 << 16)] * n_arrays)


@pytest.mark.parametrize("n_arrays", [1, 2])
def test_arrays_beside_rows_are_the_owners_alone(tmp_path: Path, n_arrays: int) -> None:
    path, given = tmp_path / "arrays", [np.arange(5), np.ones(3)][:n_arrays]
    before = os.umask(0)
    try:
        save_arrays(path, *given)
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    found = np.load(path)
    read = [found] if n_arrays == 1 else list(found.values())
    assert [a.tolist() for a in read] == [a.tolist() for a in given]


def test_a_folder_goes_with_the_last_who_knows_it() -> None:
    folder = SpillFolder()
    path = folder.path
    folder.new(1).append(np.ones((1, 2), dtype=np.int32))
    assert stat.S_IMODE(path.stat().st_mode) == 0o700
    del folder
    gc.collect()
    assert not path.exists()


def test_columns_hold_each_code_in_turn() -> None:
    a, b = encode_cells("a", np.array([3.0, np.nan, 1.0])), encode_cells("b", np.array([7, 7, 7]))
    assert [c.codes.tolist() for c in spread([a, b])] == [[0, 1, 2], [0, 0, 0]]


def put(path: Path) -> Path:
    rows = """
        SELECT i % 7 AS whole, i % 3 / 4 AS share, CASE WHEN i % 5 > 0 THEN 't' || (i % 5) END AS text,
               nullif(i % 4 = 1, i % 8 = 5) AS truth, DATE '2020-01-01' + CAST(i % 11 AS INTEGER) AS day,
               CASE WHEN i % 6 = 0 THEN '?' WHEN i % 6 > 1 THEN 'x' END AS spelled, i * 1000000000 AS far, i AS dropped
        FROM range(3000) t(i)
    """
    with duckdb.connect() as database:
        database.execute(f"COPY ({rows}) TO '{path}' (FORMAT parquet)")
    return path


def cells_of(table) -> list[tuple[str, ...]]:
    texts = [np.array(c.texts(), dtype=object)[c.codes].tolist() for n, c in table.columns.items() if n != "dropped"]
    return sorted(zip(*texts, table.weights.tolist(), strict=True))


def test_spilled_rows_are_those_that_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, drops = put(tmp_path / "many.parquet"), lambda name: name == "dropped"
    monkeypatch.setattr(parquet, "ROWS_AT_ONCE", 701)
    with bounded(1 << 30):
        held = read_table(path, drops=drops, spills=True)
        monkeypatch.setattr(parquet, "does_fit", lambda *_: False)
        spilled = read_table(path, drops=drops, spills=True)
    assert isinstance(spilled, SpilledTable)
    assert not isinstance(held, SpilledTable)
    assert (len(spilled), spilled.n_records, spilled.names) == (held.n_rows, 3000, held.names)
    assert cells_of(spilled.some(spilled.rows.file.read())) == cells_of(held)
    for name in spilled.rows.names:
        column, weights = spilled.marginal(name)
        assert column.counts(weights).tolist() == held[name].counts(held.weights).tolist()
        assert (column.values.tolist(), column.markers) == (held[name].values.tolist(), held[name].markers)


def test_columns_of_many_texts_are_not_left_in_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet, "does_fit", lambda *_: False)
    monkeypatch.setattr(parquet, "_FEW_DISTINCT", 3)
    monkeypatch.setattr(room, "BASE_BYTES", 1 << 40)
    with bounded(1 << 30), pytest.raises(parquet.TooManyDistinct, match="too many for"):
        read_table(put(tmp_path / "many.parquet"), drops=lambda _: False, spills=True)


@pytest.mark.parametrize(("folder", "where"), [("work-01234567", "to its folder"), ("any", "to the temporary folder")])
def test_half_a_file_is_no_number_to_quote(tmp_path: Path, folder: str, where: str) -> None:
    """As numpy raises it, without a reason."""
    (tmp_path / folder).mkdir()
    with pytest.raises(
        ShoalError, match=f"cannot be written {where}.*a part of it was written, and no more; make room"
    ):
        fail_as_numpy_does(tmp_path / folder / "rows")


def fail_as_numpy_does(path: Path) -> None:
    with writing(path):
        raise OSError("315097 requested and 38880 written")
