"""Several Parquet files are read as the one table that they are, or refused in a sentence."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import Executor, Future
from pathlib import Path
from typing import Any

import duckdb
import pytest

from shoal.data.tables.files import read_table
from shoal.data.tables.table import Table
from shoal.data.tables.workers import Workers, reading_on
from shoal.engine.executors import Crew
from shoal.errors import DataError
from shoal.kinds.tables.large import workers_of


def put(path: Path, query: str, more: str = "") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    name = str(path).replace("'", "''")
    duckdb.execute(f"COPY ({query}) TO '{name}' (FORMAT parquet{more})")
    return path


def rows(table: Table) -> Counter[tuple[Any, ...]]:
    """The records, however often they stand there."""
    cells = zip(*(table[n].cells().tolist() for n in table.names), strict=True)
    weights = [1] * table.n_rows if table.weights is None else table.weights.tolist()
    found: Counter[tuple[Any, ...]] = Counter()
    for row, weight in zip(cells, weights, strict=True):
        found[row] += weight
    return found


def both(path: Path) -> Table:
    """A table that is held, once its distinct rows are found to be the same."""
    held, distinct = read_table(path), read_table(path, drops=lambda _: False)
    assert (distinct.names, rows(distinct)) == (held.names, rows(held))
    for name in held.names:
        ours, theirs = distinct[name], held[name]
        assert (ours.values.dtype, ours.values.tolist()) == (theirs.values.dtype, theirs.values.tolist())
    return held


def test_the_rows_of_all_files_come_in_their_order(tmp_path: Path) -> None:
    folder = tmp_path / "it's [1]*"
    put(folder / "b'.parquet", "SELECT 3 AS x, 'c' AS y")
    put(folder / "a[*].parquet", "SELECT * FROM (VALUES (1, 'a'), (2, 'b')) AS t(x, y)")
    table = both(folder)
    assert [table[n].cells().tolist() for n in table.names] == [[1, 2, 3], ["a", "b", "c"]]
    assert (table.source.format, table.source.name) == ("parquet", "it's [1]*")
    assert both(folder / "*.parquet").n_rows == 3
    assert both(folder / "b*").n_rows == 1


def test_columns_go_by_their_names_and_the_first_file_has_their_order(tmp_path: Path) -> None:
    put(tmp_path / "1", "SELECT 1 AS x, 'a' AS y, 'odd' AS file, 5 AS \"fi\"\"le_\"")
    put(tmp_path / "2", "SELECT 'b' AS y, 6 AS \"fi\"\"le_\", 2 AS x, 'odd' AS file")
    table = both(tmp_path)
    assert table.names == ["x", "y", "file", 'fi"le_']
    assert table["x"].cells().tolist() == [1, 2]


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("CAST(1 AS TINYINT)", "CAST(9000000000 AS BIGINT)", [1, 9_000_000_000]),
        ("CAST(-1 AS BIGINT)", "CAST(9000000000 AS UBIGINT)", [-1, 9_000_000_000]),
        ("CAST(1 AS BIGINT)", "CAST(0.5 AS DOUBLE)", [1.0, 0.5]),
        ("CAST(0.25 AS FLOAT)", "CAST(0.1 AS DOUBLE)", [0.25, 0.1]),
        ("CAST(1.5 AS DECIMAL(4, 1))", "CAST(7 AS INTEGER)", [1.5, 7.0]),
        ("CAST(NULL AS VARCHAR)", "'NA'", [None, None]),
    ],
)
def test_types_that_hold_each_other_are_joined(tmp_path: Path, one: str, other: str, expected: list[Any]) -> None:
    put(tmp_path / "1", f"SELECT {one} AS x")
    put(tmp_path / "2", f"SELECT {other} AS x")
    assert both(tmp_path)["x"].cells().tolist() == expected


def test_days_and_times_are_joined(tmp_path: Path) -> None:
    put(tmp_path / "1", "SELECT DATE '2020-01-02' AS x")
    put(tmp_path / "2", "SELECT TIMESTAMP '2020-01-02 10:00:00' AS x")
    assert both(tmp_path)["x"].texts() == ["2020-01-02 00:00:00", "2020-01-02 10:00:00"]


@pytest.mark.parametrize(
    ("one", "other", "message"),
    [
        ("1 AS x", "'a' AS x", "the column 'x' is INTEGER and VARCHAR in its files"),
        ("1 AS x", "true AS x", "the column 'x' is BOOLEAN and INTEGER in its files"),
        ("uuid() AS x", "'a' AS x", "the column 'x' is UUID and VARCHAR in its files"),
        ("CAST(1 AS FLOAT) AS x", "CAST(1 AS BIGINT) AS x", "the column 'x' is BIGINT and FLOAT in its files"),
        ("TIMESTAMP '2020-01-01' AS x", "TIMESTAMPTZ '2020-01-01' AS x", "TIMESTAMP and TIMESTAMP WITH TIME ZONE"),
        ("1 AS x, 2 AS y", "1 AS x", "the column 'y' is not in all of its files, 2 has none"),
        ("1 AS x", "1 AS x, 2 AS y", "the column 'y' is not in all of its files, 1 has none"),
        ("1 AS x", "1 AS X", "the column 'x' is not in all of its files"),
        ("1 AS x", "[1] AS x", "the column 'x' has the type LIST, which is not a single value"),
        ("1 AS x LIMIT 0", "1 AS x LIMIT 0", "has columns but no rows"),
    ],
)
def test_what_is_no_one_table_is_refused(tmp_path: Path, one: str, other: str, message: str) -> None:
    put(tmp_path / "1", f"SELECT {one}")
    put(tmp_path / "2", f"SELECT {other}")
    for drops in (None, lambda _: False):
        with pytest.raises(DataError, match=message):
            read_table(tmp_path, drops=drops)


def test_a_file_without_rows_is_no_harm(tmp_path: Path) -> None:
    put(tmp_path / "1", "SELECT 1 AS x LIMIT 0")
    put(tmp_path / "2", "SELECT 7 AS x")
    assert both(tmp_path)["x"].cells().tolist() == [7]


def test_the_file_that_is_damaged_is_named(tmp_path: Path) -> None:
    put(tmp_path / "1", "SELECT 1 AS x")
    (tmp_path / "2").write_bytes(b"PAR1" + b"\0" * 50 + b"PAR1")
    with pytest.raises(DataError, match="2: the Parquet file is damaged"):
        read_table(tmp_path)


def keyed(folder: Path, n_rows: int = 3) -> Path:
    for year in (2020, 2021):
        for town in ("Ulm", "M%27%C3%BC", "__HIVE_DEFAULT_PARTITION__"):
            query = f"SELECT range % 2 AS x, {year} - 2020 AS file FROM range({n_rows})"
            put(folder / f"year={year}" / f"town={town}" / "0.parquet", query, ", ROW_GROUP_SIZE 2048")
    return folder


def test_folders_name_columns_behind_those_of_the_files(tmp_path: Path) -> None:
    table = both(keyed(tmp_path / "other=1" / "it's"))
    assert table.names == ["x", "file", "year", "town"]
    assert table["year"].cells().tolist() == [2020] * 9 + [2021] * 9
    found = {(year, town) for _, _, year, town in rows(table)}
    assert found == {(year, town) for year in (2020, 2021) for town in ("Ulm", "M'ü", None)}
    one = both(tmp_path / "other=1" / "it's" / "year=2021" / "town=*")
    assert one.names == ["x", "file", "town"]


def test_a_column_that_is_in_the_files_too_is_refused(tmp_path: Path) -> None:
    put(tmp_path / "Year=2020" / "1", "SELECT 2020 AS year")
    with pytest.raises(DataError, match="the column 'year' is in its files, and in the names of their folders"):
        read_table(tmp_path)


class Here(Executor):
    """Runs calls at once."""

    n_jobs = 0

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        self.n_jobs += 1
        future: Future[Any] = Future()
        future.set_result(fn(*args, **kwargs))
        return future


@pytest.mark.parametrize("n_workers", [1, 3])
def test_workers_read_row_groups_of_all_files(tmp_path: Path, n_workers: int) -> None:
    folder, executor = keyed(tmp_path, 5000), Here()
    put(
        folder / "year=2022" / "town=Bonn" / "0.parquet",
        "SELECT 7 AS file, CAST(x AS TINYINT) AS x FROM range(10) t(x)",
    )
    expected, workers = read_table(folder, drops=lambda n: n == "file"), workers_of(Crew(executor, n_workers))
    assert isinstance(workers, Workers)
    with reading_on(workers):
        found = read_table(folder, drops=lambda n: n == "file")
    assert executor.n_jobs > n_workers
    assert rows(found.select(["x", "year", "town"])) == rows(expected.select(["x", "year", "town"]))
    for name in ("x", "year", "town"):
        assert (found[name].values.tolist(), found[name].markers) == (
            expected[name].values.tolist(),
            expected[name].markers,
        )
    assert not workers.notes
