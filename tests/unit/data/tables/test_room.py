"""What a table takes of the memory that is given: long texts and many moments as well as rows."""

from __future__ import annotations

from pathlib import Path

import duckdb
import numpy as np
import pytest

from shoal.data.memory import bounded
from shoal.data.tables import room
from shoal.data.tables.files import read_table
from shoal.data.tables.room import TooManyDistinct, does_fit, n_that_fit, text_bytes, value_bytes
from shoal.data.tables.table import encode_cells

BOUND = 500_000_000


def put(path: Path, texts: str, n_rows: int = 40) -> Path:
    rows = f"SELECT i % 7 AS age, {texts} AS note FROM range({n_rows}) AS rows(i)"
    duckdb.execute(f"COPY ({rows}) TO '{path}' (FORMAT {path.suffix[1:]})")
    return path


def test_texts_and_moments_take_room_that_rows_then_lack() -> None:
    texts = encode_cells("note", np.array(["ab", "c", "ab"], dtype=object))
    moments = encode_cells("day", np.array(["2020-01-01", "2021-01-01"], dtype="datetime64[us]"))
    assert value_bytes([texts]) == text_bytes(2, 3) == 2 * room.TEXT_BYTES + 3 * room.CHARACTER_BYTES
    assert value_bytes([moments, encode_cells("age", np.arange(5))]) == 2 * room.VALUE_BYTES
    assert n_that_fit(3) is None
    assert does_fit(10**9, 3, 10**12)
    with bounded(BOUND):
        most = n_that_fit(3)
        assert most is not None
        assert does_fit(most, 3)
        assert not does_fit(most, 3, 10**6)


@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_texts_that_do_not_fit_are_refused_while_they_are_counted(
    tmp_path: Path, form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = put(tmp_path / f"people.{form}", "repeat('x', 1000) || i")
    with bounded(BOUND):
        assert len(read_table(path, drops=lambda _: False)) == 40
        monkeypatch.setattr(room, "CHARACTER_BYTES", 10**4)
        with pytest.raises(TooManyDistinct, match=r"40 values of 'note' differ, too many for 0\.5 GB"):
            read_table(path, drops=lambda _: False)
        assert len(read_table(path, drops=lambda name: name == "note")) == 7
    assert len(read_table(path)) == 40


@pytest.mark.parametrize("texts", ["TIMESTAMP '2020-01-01' + i * INTERVAL 1 HOUR", "i + 0.5::DOUBLE"])
@pytest.mark.parametrize("spills", [True, False])
def test_other_values_count_where_they_are_spelled(
    tmp_path: Path, texts: str, spills: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Moments always, and all values of rows that lie in files; a number of a row that is held is the row's."""
    path = put(tmp_path / "people.parquet", texts)
    monkeypatch.setattr(room, "ROW_BYTES", 10**8 if spills else 1)
    monkeypatch.setattr(room, "VALUE_BYTES", 5_000_000)
    monkeypatch.setattr("shoal.data.tables.parquet.VALUE_BYTES", 5_000_000)
    with bounded(BOUND):
        if spills or texts.startswith("T"):
            with pytest.raises(TooManyDistinct, match="40 values of 'note' differ"):
                read_table(path, drops=lambda _: False, spills=True)
        else:
            assert len(read_table(path, drops=lambda _: False, spills=True)) == 40


def test_what_takes_most_is_said(tmp_path: Path) -> None:
    with bounded(BOUND):
        with pytest.raises(TooManyDistinct, match="2 rows are distinct and hold many or long values, too many"):
            room.refuse_too_many(tmp_path, 2, 1, taken=BOUND)
        with pytest.raises(TooManyDistinct, match="4,000,000 rows are distinct, too many"):
            room.refuse_too_many(tmp_path, 4_000_000, 1)


def of_columns(at_once: int, monkeypatch: pytest.MonkeyPatch, path: Path) -> dict[str, list[object]]:
    monkeypatch.setattr("shoal.data.tables.parquet._COUNTED_AT_ONCE", at_once)
    with bounded(BOUND):
        table = read_table(path, drops=lambda _: False)
    order = np.lexsort([column.codes for column in table.columns.values()])
    return {name: column.cells()[order].tolist() for name, column in table.columns.items()}


def test_ends_of_many_columns_are_found_some_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All at once took 2 MB a column, beyond the limit of the database."""
    kinds = enumerate(["i", "'t' || i"] * 4)
    cells = ", ".join(f"CASE WHEN i % {5 + j} = 0 THEN NULL ELSE {cell} END AS c{j}" for j, cell in kinds)
    path = tmp_path / "wide.parquet"
    duckdb.execute(f"COPY (SELECT {cells} FROM range(50) AS rows(i)) TO '{path}' (FORMAT parquet)")
    assert of_columns(3, monkeypatch, path) == of_columns(100, monkeypatch, path)
