"""What workers read and write is what this machine reads and writes, whichever of them are lost or see nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from concurrent.futures import Executor, Future
from itertools import pairwise
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest

from shoal.data.tables import parquet_write
from shoal.data.tables.files import read_table
from shoal.data.tables.parquet import read_distinct
from shoal.data.tables.table import Table
from shoal.data.tables.workers import (
    UNSEEN,
    FileCells,
    Seen,
    Workers,
    collapse_run,
    merge_bucket,
    reading_on,
    row_group_runs,
    writing_on,
)
from shoal.data.tables.write import write_table
from shoal.engine.executors import Crew
from shoal.errors import DataError
from shoal.kinds.tables.large import workers_of

N_ROWS = 30_000


class Plain(Executor):
    """Runs calls at once, notes their jobs, and loses or blinds workers as a test says."""

    def __init__(self, loses: Callable[[str, int], bool] = lambda *_: False, sees: bool = True) -> None:
        self.jobs: Counter[str] = Counter()
        self.loses, self.sees = loses, sees

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        name = args[0].__name__
        self.jobs[name] += 1
        if self.loses(name, self.jobs[name]):
            future.set_exception(RuntimeError("the worker is gone"))
        elif self.sees:
            future.set_result(fn(*args, **kwargs))
        else:
            future.set_result(type(fn(lambda: None))(None))
        return future


def put(path: Path, seed: int = 0) -> Path:
    """A column of each type, some of them with nulls, in several row groups."""
    rng = np.random.default_rng(seed)
    columns = {
        "id": np.arange(N_ROWS),
        "age": rng.integers(20, 50, N_ROWS),
        "job": np.array(["smith", "clerk", "?", None, "cook"], dtype=object)[rng.integers(0, 5, N_ROWS)],
        "share": rng.integers(0, 3, N_ROWS) / 2,
        "days": rng.integers(0, 3, N_ROWS),
        "seconds": rng.integers(0, 2, N_ROWS),
        "is_well": rng.integers(0, 2, N_ROWS).astype(bool),
    }
    cells = (
        "id, age, job, CASE WHEN age > 23 THEN share END AS share, CASE WHEN age > 23 THEN is_well END AS is_well, "
        "CASE WHEN age > 23 THEN DATE '2020-01-01' + CAST(days AS INTEGER) END AS since, "
        "TIMESTAMP '2020-01-01 10:00:00.5' + to_seconds(seconds) AS at"
    )
    with duckdb.connect() as database:
        database.register("columns", columns)
        database.execute(f"COPY (SELECT {cells} FROM columns) TO '{path}' (FORMAT parquet, ROW_GROUP_SIZE 4096)")
    return path


def distinct(path: Path) -> dict[tuple[Any, ...], int]:
    read = read_distinct(path, markers=("?",), drops=lambda name: name == "id")
    cells = [[c.texts()[code] for code in c.codes.tolist()] for c in read.columns]
    return dict(zip(zip(*cells, strict=True), read.weights.tolist(), strict=True))


def crew(executor: Executor, n_workers: int = 2) -> Workers:
    return workers_of(Crew(executor, n_workers))


@pytest.mark.parametrize("n_workers", [1, 2, 5])
def test_distinct_rows_and_their_columns_are_those_that_one_machine_reads(tmp_path: Path, n_workers: int) -> None:
    path, executor = put(tmp_path / "people.parquet"), Plain()
    expected = read_distinct(path, markers=("?",), drops=lambda name: name == "id")
    with reading_on(crew(executor, n_workers)):
        columns = read_distinct(path, markers=("?",), drops=lambda name: name == "id").columns
        assert distinct(path) == distinct_here(path)
    for ours, theirs in zip(columns, expected.columns, strict=True):
        assert (ours.name, ours.markers, ours.values.dtype) == (theirs.name, theirs.markers, theirs.values.dtype)
        assert ours.values.tolist() == theirs.values.tolist()
    assert executor.jobs["merge_bucket"] == 2 * n_workers
    assert executor.jobs["collapse_run"] == 2 * len(row_group_runs([path], 4 * n_workers))


def distinct_here(path: Path) -> dict[tuple[Any, ...], int]:
    with reading_on(None):
        return distinct(path)


@pytest.mark.parametrize("step", ["collapse_run", "merge_bucket"])
@pytest.mark.parametrize("which", [1, 2])
def test_a_worker_that_is_lost_while_it_reads_is_survived(tmp_path: Path, step: str, which: int) -> None:
    path = put(tmp_path / "people.parquet")
    workers = crew(Plain(lambda name, number: (name, number) == (step, which)))
    with reading_on(workers):
        found = distinct(path)
    assert found == distinct_here(path)
    assert len(workers.notes) == 1


def test_workers_that_see_no_file_of_this_machine_are_told_of(tmp_path: Path) -> None:
    path, workers = put(tmp_path / "people.parquet"), crew(Plain(sees=False))
    with reading_on(workers):
        found = distinct(path)
    assert found == distinct_here(path)
    assert workers.notes == [UNSEEN]


def test_a_worker_sees_another_file_for_what_it_is(tmp_path: Path) -> None:
    path, lock = put(tmp_path / "people.parquet"), tmp_path / "driver"
    lock.touch()
    seen, folder = Seen.of(path), Seen.of(lock)
    asked, some = (folder, {"c1": "c1"}, 0, 1, None), FileCells.plain(path, 7).scan(0, 10)
    assert collapse_run([(seen, some)], *asked) is True
    changed = Seen(seen.path, seen.n_bytes + 1, seen.changed_at)
    assert collapse_run([(seen, some), (changed, some)], *asked) is None
    assert merge_bucket(folder, ["c1"], 0, 1, None) == str(tmp_path / "bucket-0.parquet")
    assert merge_bucket(folder, ["c1"], 0, 2, None) is None
    path.unlink()
    assert not seen.is_here()


def test_what_is_wrong_with_a_file_is_said_as_by_one_machine(tmp_path: Path) -> None:
    path = tmp_path / "far.parquet"
    with duckdb.connect() as database:
        beyond = "SELECT CAST(18446744073709551615 AS UBIGINT) AS far FROM range(9000)"
        database.execute(f"COPY ({beyond}) TO '{path}' (FORMAT parquet, ROW_GROUP_SIZE 2048)")
    with reading_on(crew(Plain())), pytest.raises(DataError, match="integers beyond 64 bits"):
        read_distinct(path, markers=(), drops=lambda _: False)


def test_runs_are_of_whole_row_groups_and_of_all_rows(tmp_path: Path) -> None:
    path = put(tmp_path / "people.parquet")
    for n_most in (1, 2, 3, 100):
        runs = row_group_runs([path], n_most)
        ends = [0, *(piece[2] for (piece,) in runs)]
        assert [piece for (piece,) in runs] == [(0, begin, end) for begin, end in pairwise(ends)]
        assert ends[-1] == N_ROWS
        assert all(end % 4096 == 0 for end in ends[:-1])
        assert len(runs) <= n_most


def test_runs_of_several_files_are_of_all_their_rows_and_alike_in_size(tmp_path: Path) -> None:
    sizes = [5000, 1, 0, 30_000, 2047, 2049]
    paths = [tmp_path / f"{i}[*].parquet" for i in range(len(sizes))]
    with duckdb.connect() as database:
        for path, n_rows in zip(paths, sizes, strict=True):
            rows = f"SELECT 1 AS x FROM range({n_rows})"
            database.execute(f"COPY ({rows}) TO '{path}' (FORMAT parquet, ROW_GROUP_SIZE 2048)")
    for n_most in (1, 2, 3, 7, 100):
        runs = row_group_runs(paths, n_most)
        assert len(runs) <= n_most
        read = [(i, row) for run in runs for i, begin, end in run for row in range(begin, end)]
        assert read == [(i, row) for i, n_rows in enumerate(sizes) for row in range(n_rows)]
        assert max(sum(end - begin for _, begin, end in run) for run in runs) <= sum(sizes) / n_most + 2048


def written(table: Table, path: Path) -> bytes:
    write_table(table, path)
    return path.read_bytes()


@pytest.mark.parametrize("has_weights", [True, False])
def test_row_groups_of_workers_are_the_bytes_of_one_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, has_weights: bool
) -> None:
    monkeypatch.setattr(parquet_write, "GROUP_RECORDS", 1000)
    drops = (lambda name: name == "id") if has_weights else None
    table, executor = read_table(put(tmp_path / "people.parquet"), drops=drops), Plain()
    with writing_on(crew(executor)):
        ours = written(table, tmp_path / "ours.parquet")
    assert ours == written(table, tmp_path / "theirs.parquet")
    assert executor.jobs == {"write_part": 30}
    assert sorted(p.name for p in tmp_path.iterdir()) == ["ours.parquet", "people.parquet", "theirs.parquet"]


@pytest.mark.parametrize("executor", [Plain(lambda _, number: number % 7 == 3), Plain(sees=False)])
def test_a_worker_that_is_lost_or_blind_while_it_writes_is_survived(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, executor: Plain
) -> None:
    monkeypatch.setattr(parquet_write, "GROUP_RECORDS", 1000)
    table, workers = read_table(put(tmp_path / "people.parquet")), crew(executor)
    with writing_on(workers):
        ours = written(table, tmp_path / "ours.parquet")
    assert ours == written(table, tmp_path / "theirs.parquet")
    assert len(workers.notes) == 1
