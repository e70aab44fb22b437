"""What is made of rows in files is what is made of the same rows in memory."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import shoal
from shoal.data.memory import bounded
from shoal.data.tables import parquet
from shoal.data.tables.files import read_table
from shoal.data.tables.table import Table
from shoal.errors import Infeasible, PolicyError
from shoal.tables.anonymize import anonymize_table
from shoal.tables.spilled import make
from shoal.tables.spilled.make import anonymize_spilled


def put(path: Path, n_rows: int, seed: int = 0) -> Path:
    import duckdb

    rng = np.random.default_rng(seed)
    columns = {
        "age": rng.integers(20, 60, n_rows),
        "income": np.rint(np.exp(rng.normal(8, 1, n_rows))),
        "town": np.array(["a", "b", "c", None], dtype=object)[rng.integers(0, 4, n_rows)],
        "ill": np.array(["flu", "cold", "ulcer"], dtype=object)[rng.integers(0, 3, n_rows)],
    }
    with duckdb.connect() as database:
        database.register("columns", columns)
        database.execute(f"COPY (SELECT * FROM columns) TO '{path}' (FORMAT parquet)")
    return path


def policy_of(**asked: object) -> shoal.Policy:
    return shoal.Policy.of(quasi=["age", "income", "town"], sensitive=["ill"], **{"k": 3, **asked})


def rows_of(table: Table) -> list[tuple[str, ...]]:
    texts = [np.array(c.texts(), dtype=object)[c.codes].tolist() for c in table.columns.values()]
    weights = np.ones(table.n_rows, dtype=int) if table.weights is None else table.weights
    return [row for row, n in zip(zip(*texts, strict=True), weights.tolist(), strict=True) for _ in range(n)]


@pytest.fixture
def spilling(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet, "does_fit", lambda *_: False)


@pytest.mark.parametrize("block_rows", [7, 60, 1000])
@pytest.mark.parametrize("asked", [{}, {"l": 2}, {"t": 0.5}, {"missing": "any"}, {"ends": "exact"}, {"k": 6}])
def test_rows_come_as_in_memory(tmp_path: Path, spilling: None, block_rows: int, asked: dict) -> None:
    path, policy = put(tmp_path / "a.parquet", 400), policy_of(**asked)
    expected = anonymize_table(read_table(path), policy, seed=0).table
    with bounded(1 << 30):
        table = read_table(path, drops=lambda _: False, spills=True)
        made = anonymize_spilled(table, policy, block_rows=block_rows)
        found = [
            Table(
                {n: c.__class__(n, rows[:, i], c.values, c.markers) for i, (n, c) in enumerate(made.columns.items())},
                weights=rows[:, -1],
            )
            for rows in made.pieces()
        ]
    assert [row for piece in found for row in rows_of(piece)] == rows_of(expected)
    assert made.n_records == 400


def test_the_sample_is_of_whole_groups(tmp_path: Path, spilling: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(make, "SAMPLE_ROWS", 80)
    path, policy = put(tmp_path / "a.parquet", 400), policy_of(k=5)
    with bounded(1 << 30):
        made = anonymize_spilled(read_table(path, drops=lambda _: False, spills=True), policy, block_rows=50)
        whole = [tuple(row) for piece in made.pieces() for row in piece.tolist()]
    sample, behind = made.sample.table, made.sample.behind
    assert 20 < sample.n_records < 200
    assert made.original.n_records == sample.n_records
    shown = {
        (*cells, n)
        for *cells, n in zip(*(c.codes.tolist() for c in sample.columns.values()), sample.weights.tolist(), strict=True)
    }
    assert shown <= set(whole)
    sizes = np.bincount(behind.groups, made.original.weights[behind.rows])
    assert sizes[sizes > 0].min() >= 5
    for name in ("age", "ill"):  # every row of the sample is that of its original
        texts = made.original[name].texts()
        own = [texts[i] for i in made.original[name].codes[behind.rows].tolist()]
        labels = [sample[name].texts()[i] for i in sample[name].codes[behind.published].tolist()]
        if name == "ill":
            assert own == labels
        else:
            ends = [label.strip("[]").split("..") for label in labels]
            assert all(float(e[0]) <= float(o) <= float(e[-1]) for o, e in zip(own, ends, strict=True))


@pytest.mark.parametrize(
    ("asked", "error"), [({"k": 61}, Infeasible), ({"l": 4}, Infeasible), ({"l": 2, "quasi": []}, PolicyError)]
)
def test_what_no_grouping_can_meet_is_said(tmp_path: Path, spilling: None, asked: dict, error: type) -> None:
    policy = shoal.Policy.of(**{"quasi": ["age"], "sensitive": ["ill"], "others": "insensitive", "k": 3, **asked})
    with bounded(1 << 30):
        table = read_table(put(tmp_path / "a.parquet", 60), drops=lambda _: False, spills=True)
        with pytest.raises(error):
            anonymize_spilled(table, policy)


def test_a_block_that_cannot_be_cut_has_to_fit(tmp_path: Path, spilling: None) -> None:
    path = put(tmp_path / "a.parquet", 300)
    with bounded(1 << 30), pytest.raises(parquet.TooManyDistinct, match="rows are in a block that cannot be cut"):
        anonymize_spilled(read_table(path, drops=lambda _: False, spills=True), policy_of(k=200), block_rows=20)
