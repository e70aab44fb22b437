"""What is written as Parquet is read by others as it was, and rows that stand for several records are written as these."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.data.tables import parquet_write
from shoal.data.tables.parquet_write import _Runs, hybrid, write_parquet
from shoal.data.tables.table import Column, Table, encode_cells
from shoal.errors import DataError


def drawn(n_rows: int, seed: int = 0) -> Table:
    rng = np.random.default_rng(seed)
    few = np.empty(5, dtype=object)
    few[:] = ["", "a", "b\u00e9", "c" * 300, "z"]
    many = np.empty(n_rows, dtype=object)
    many[:] = [f"t{i:06}" for i in range(n_rows)]
    day, moment = np.array("2020-01-01", "datetime64[us]"), np.array("1960-01-01T01:02:03.000004", "datetime64[us]")
    return Table.of(
        [
            Column("text", rng.integers(0, 7, n_rows).astype(np.int32), few, ("?", None)),
            Column("sorted", np.sort(rng.integers(0, 5, n_rows)).astype(np.int32), few),
            Column("distinct", rng.permutation(n_rows).astype(np.int32), many),
            encode_cells("whole", rng.integers(-5, 2**40, n_rows)),
            encode_cells("number", rng.normal(size=n_rows).round(1)),
            encode_cells("holed", np.where(rng.random(n_rows) < 0.3, np.nan, rng.integers(0, 9, n_rows))),
            encode_cells("bool", rng.random(n_rows) < 0.5, rng.random(n_rows) < 0.4),
            encode_cells("day", day + rng.integers(-20_000, 400, n_rows).astype("m8[D]")),
            encode_cells("moment", moment + rng.integers(0, 400, n_rows).astype("m8[h]"), rng.random(n_rows) < 0.1),
            Column("nothing", np.zeros(n_rows, dtype=np.int32), np.empty(0, dtype=object), (None,)),
            Column("constant", np.zeros(n_rows, dtype=np.int32), np.array([3.5])),
        ]
    )


def cells_of(column: Column) -> list[Any]:
    held = [*column.values.tolist(), *(m if column.is_text else None for m in column.markers)]
    if column.values.dtype.kind == "M":
        held = [*column.values.astype(object), *(None for _ in column.markers)]
    found = [held[code] for code in column.codes.tolist()]
    return [cell.date() for cell in found] if column.name == "day" else found


@pytest.mark.parametrize("n_rows", [1, 7, 8, 9, 700])
@pytest.mark.parametrize("has_weights", [False, True])
def test_two_readers_find_every_cell(
    tmp_path: Path, n_rows: int, has_weights: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    monkeypatch.setattr(parquet_write, "GROUP_RECORDS", 300)
    path, table = tmp_path / "data.parquet", drawn(n_rows)
    if has_weights:
        weights = np.random.default_rng(1).integers(1, 9, n_rows).astype(np.int32)
        write_parquet(replace(table, weights=weights), path)
        table = table.take(np.repeat(np.arange(n_rows), weights))
    else:
        write_parquet(table, path)
    with duckdb.connect() as database:
        found = database.execute(f"SELECT * FROM '{path}'")
        ours = dict(zip([d[0] for d in found.description], zip(*found.fetchall(), strict=True), strict=True))
    theirs = parquet.read_table(path)
    for name, column in table.columns.items():
        assert list(ours[name]) == cells_of(column), name
        assert theirs[name].to_pylist() == cells_of(column), name
    written = path.read_bytes()
    write_parquet(table, path)
    assert path.read_bytes() == written


def unpacked(spelled: bytes, width: int, n: int) -> list[int]:
    """A slow reader of runs and packed numbers."""
    found: list[int] = []
    at, n_bytes = 0, -(-width // 8)
    while at < len(spelled):
        head = shift = 0
        while True:
            head |= (spelled[at] & 0x7F) << shift
            shift, at = shift + 7, at + 1
            if not spelled[at - 1] & 0x80:
                break
        if head & 1:
            bits = int.from_bytes(spelled[at : at + (head >> 1) * width], "little")
            found += [bits >> i * width & (1 << width) - 1 for i in range(8 * (head >> 1))]
            at += (head >> 1) * width
        else:
            found += [int.from_bytes(spelled[at : at + n_bytes], "little")] * (head >> 1)
            at += n_bytes
    return found[:n]


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 2**18 - 1), st.integers(1, 300)), min_size=1, max_size=40), st.integers(18, 24)
)
def test_runs_are_read_back_by_a_slow_twin(pairs: list[tuple[int, int]], width: int) -> None:
    codes, lengths = np.array(pairs).T
    runs = _Runs.of(codes.astype(np.int32), lengths.astype(np.int64))
    expected = [code for code, length in pairs for _ in range(length)]
    assert unpacked(hybrid(runs, width), width, len(expected)) == expected


def test_what_no_file_can_hold_is_refused(tmp_path: Path) -> None:
    half = np.array(["\ud800"], dtype=object)
    with pytest.raises(DataError, match="half a character"):
        write_parquet(Table.of([Column("a", np.zeros(1, dtype=np.int32), half)]), tmp_path / "data.parquet")
    alike = [Column(name, np.zeros(1, dtype=np.int32), np.array([1.0])) for name in ("a", "A")]
    with pytest.raises(DataError, match="differ only in case"):
        write_parquet(Table.of(alike), tmp_path / "data.parquet")
