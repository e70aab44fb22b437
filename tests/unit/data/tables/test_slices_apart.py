"""A file of a table in slices, read slice by slice, is that file."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import duckdb
import numpy as np
import pytest

from shoal.data.memory import bounded
from shoal.data.tables import slices_apart
from shoal.data.tables.room import TooManyDistinct
from shoal.data.tables.slices import Layout, SlicesApart
from shoal.data.tables.slices_apart import read_apart
from shoal.data.tables.table import Table
from shoal.errors import DataError

LAYOUT = Layout.of([["age", "job"], ["ill"]])


def put(path: Path, n_rows: int = 500, **more: np.ndarray) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(n_rows)
    columns = {
        "bucket": np.sort(rng.integers(1, 12, n_rows)),
        "age": rng.integers(20, 26, n_rows),
        "job": np.array(["cook", "clerk", None, "?"], dtype=object)[rng.integers(0, 4, n_rows)],
        "ill": np.array(["flu", "cold"], dtype=object)[rng.integers(0, 2, n_rows)],
        **more,
    }
    with duckdb.connect() as database:
        database.register("columns", columns)
        database.execute(f"COPY (SELECT * FROM columns) TO '{path}' (FORMAT parquet, ROW_GROUP_SIZE 2048)")
    return columns


def counted(table: Table) -> Counter:
    weights = np.ones(table.n_rows, dtype=int) if table.weights is None else table.weights
    found: Counter = Counter()
    for row, n in zip(zip(*(c.cells() for c in table.columns.values()), strict=True), weights.tolist(), strict=True):
        found[tuple(map(str, row))] += n
    return found


def read(path: Path, apart: int = 1) -> SlicesApart:
    return read_apart(path, LAYOUT, markers=["?"], step=lambda _: apart)


def test_every_slice_has_its_rows_and_their_numbers(tmp_path: Path) -> None:
    columns = put(tmp_path / "data.parquet")
    found = read(tmp_path / "data.parquet")
    assert found.names == ("bucket", "age", "job", "ill")
    assert found.n_records == 500
    assert found.n_rows == sum(table.n_rows for table in found.tables) < 1000
    shown = [None if job == "?" else job for job in columns["job"]]
    for table, names in zip(found.tables, (("bucket", "age", "job"), ("bucket", "ill")), strict=True):
        cells = [shown if name == "job" else columns[name].tolist() for name in names]
        assert counted(table) == Counter(tuple(map(str, row)) for row in zip(*cells, strict=True))
    assert counted(found.some).total() == 500
    column, weights = found.marginal("ill")
    assert column.counts(weights)[0] == (columns["ill"] == "cold").sum()
    assert set(found.columns) == set(found.names)
    assert found.holding(["age"]) is found.holding([]) is found.tables[0]


@pytest.mark.parametrize("apart", [2, 3])
@pytest.mark.parametrize("most", [30, 1000])
def test_some_rows_are_those_of_some_buckets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, apart: int, most: int
) -> None:
    columns = put(tmp_path / "data.parquet")
    monkeypatch.setattr(slices_apart, "MOST_AT_ONCE", most)
    some = read(tmp_path / "data.parquet", apart).some
    wanted = np.flatnonzero((columns["bucket"] - 1) % apart == 0)
    wanted = wanted[:: -(-len(wanted) // most)]
    assert some["bucket"].cells().tolist() == columns["bucket"][wanted].tolist()
    assert some["age"].cells().tolist() == columns["age"][wanted].tolist()
    assert some["ill"].cells().tolist() == columns["ill"][wanted].tolist()


def test_what_cannot_be_read_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "data.parquet"
    put(path, bucket=np.array(["one"] * 500))
    with pytest.raises(DataError, match="not numbered 1, 2, 3"):
        read(path)
    put(path)
    with duckdb.connect() as database:
        database.execute(
            f"COPY (SELECT * EXCLUDE (ill) FROM '{path}') TO '{tmp_path / 'less.parquet'}' (FORMAT parquet)"
        )
    with pytest.raises(DataError, match="has no column 'ill'"):
        read(tmp_path / "less.parquet")
    path.with_name("other.parquet").write_bytes(path.read_bytes()[:-40] + b"PAR1")
    with pytest.raises(DataError, match="damaged"):
        read(path.with_name("other.parquet"))
    monkeypatch.setattr(slices_apart, "_ROW_BYTES", 1 << 24)
    read(path)
    with bounded(500_000_000), pytest.raises(TooManyDistinct, match="rows are distinct"):
        read(path)
