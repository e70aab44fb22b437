"""Sketches in Parquet: written the same every time, read from any tool, and refused where something is odd."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from shoal.data.sparse.sketch_files import coarsest_step, read_sketches, write_sketches
from shoal.data.sparse.sketches import Sketches
from shoal.errors import DataError


def sketches(*, real: bool = False, labelled: bool = True, top: int = 100, n: int = 500) -> Sketches:
    rng = np.random.default_rng(5)
    starts = np.concatenate([[0], np.cumsum(rng.integers(0, 6, n))]).astype(np.int64)
    whole = rng.integers(-top, top + 1, starts[-1])
    classes = ("a", "b, 'c'", "ä") if labelled else ()
    codes = rng.integers(0, 3, n).astype(np.int32) if labelled else None
    return Sketches(starts, whole * 0.25 if real else whole, 0.25 if real else 1.0, codes, classes)


def same(one: Sketches, other: Sketches) -> None:
    assert one.starts.tolist() == other.starts.tolist()
    assert one.components.tolist() == other.components.tolist()
    assert one.components.dtype == other.components.dtype
    assert one.starts.dtype == other.starts.dtype == np.int64
    assert (one.step, one.classes) == (other.step, other.classes)
    assert (one.labels is None) is (other.labels is None)
    if one.labels is not None and other.labels is not None:
        assert one.labels.tolist() == other.labels.tolist()
        assert one.labels.dtype == np.int32


@pytest.mark.parametrize("real", [False, True])
@pytest.mark.parametrize("labelled", [False, True])
def test_sketches_come_back(tmp_path: Path, real: bool, labelled: bool) -> None:
    made = sketches(real=real, labelled=labelled)
    assert (made.counts == 0).any()
    write_sketches(made, tmp_path / "x's.parquet")
    same(read_sketches(tmp_path / "x's.parquet"), made)


def test_few_or_no_records(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    for n in (0, 1):
        made = sketches(n=n, labelled=False)
        write_sketches(made, path)
        same(read_sketches(path), made)
    real = Sketches(np.array([0, 0]), np.zeros(0), 0.5)
    write_sketches(real, path)
    same(read_sketches(path), real)


@pytest.mark.parametrize(("top", "kind"), [(2**15 - 1, "int16"), (2**20, "int32"), (2**40, "int64")])
def test_the_smallest_type_is_taken_and_another_tool_reads_it(tmp_path: Path, top: int, kind: str) -> None:
    made = sketches(top=top)
    write_sketches(made, tmp_path / "x.parquet")
    read = pq.read_table(tmp_path / "x.parquet")
    assert read.column_names == ["sketch", "label"]
    assert str(read.schema.field("sketch").type.value_type) == kind
    assert read["sketch"].combine_chunks().flatten().to_pylist() == made.components.tolist()
    assert read["label"].to_pylist() == [made.classes[c] for c in made.labels.tolist()]  # type: ignore[union-attr]  # it has labels
    same(read_sketches(tmp_path / "x.parquet"), made)


@pytest.mark.parametrize("component", [2**15 - 1, 2**15, -(2**15), -(2**15) - 1, 2**31, -(2**31) - 1])
def test_the_bounds_of_the_types(tmp_path: Path, component: int) -> None:
    made = Sketches(np.array([0, 1]), np.array([component]))
    write_sketches(made, tmp_path / "x.parquet")
    same(read_sketches(tmp_path / "x.parquet"), made)


def test_the_same_sketches_give_the_same_bytes(tmp_path: Path) -> None:
    made = sketches(n=130_000)  # more than one row group
    for name in ("a", "b"):
        write_sketches(made, tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    same(read_sketches(tmp_path / "a"), made)


@pytest.mark.parametrize("kind", [pa.int8(), pa.int32(), pa.uint16(), pa.float32(), pa.float64()])
def test_files_of_other_tools(tmp_path: Path, kind: Any) -> None:
    path = tmp_path / "x.parquet"
    lists = [[1, 2], [], [3]]
    pq.write_table(pa.table({"label": ["b", "a", "b"], "sketch": pa.array(lists, pa.list_(kind))}), path)
    read = read_sketches(path)
    assert read.components.tolist() == [1, 2, 3]
    assert read.starts.tolist() == [0, 2, 2, 3]
    assert read.classes == ("a", "b")
    assert read.components.dtype == (np.float64 if "float" in str(kind) or kind == pa.float64() else np.int64)
    assert read.step == 1.0


def test_frames_of_pandas_and_polars(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    columns = {"sketch": [[0.5, -0.75], [2.0]], "label": ["b", "a"]}
    pd.DataFrame(columns).to_parquet(path, index=False)
    assert read_sketches(path).step == 0.25
    pl.DataFrame(columns).write_parquet(path)
    read = read_sketches(path)
    assert read.components.tolist() == [0.5, -0.75, 2.0]
    assert read.classes == ("a", "b")
    pd.DataFrame(columns).set_index(pd.Index(["x", "y"], name="person")).to_parquet(path)
    with pytest.raises(DataError, match="besides 'sketch' and 'label': 'person'; leave them out"):
        read_sketches(path)


def test_the_coarsest_step() -> None:
    assert coarsest_step(np.array([4.0, -12.0, 0.0])) == 4.0
    assert coarsest_step(np.array([0.0])) == 1.0
    assert coarsest_step(np.zeros(0)) == 1.0
    assert coarsest_step(np.array([1.0, 2.0**-40])) == 2.0**-40
    assert coarsest_step(np.array([0.1])) == 2.0**-55


INTS = pa.array([[1], [2]])


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"label": ["a", "b"]}, "no column 'sketch'"),
        ({"Sketch": INTS}, "no column 'sketch'; did you mean 'Sketch'"),
        ({"sketch": INTS, "id": [1, 2]}, "besides 'sketch' and 'label': 'id'"),
        ({"sketch": INTS, "label": ["a", "b"], "x": [1, 2], "y": [1, 2]}, "'x', 'y'; leave them out"),
        ({"sketch": [1, 2]}, "has the type BIGINT; give lists"),
        ({"sketch": [["a"], ["b"]]}, r"has the type VARCHAR\[\]; give lists"),
        ({"sketch": [[[1]], [[2]]]}, r"has the type BIGINT\[\]\[\]; give lists"),
        ({"sketch": INTS, "label": [1, 2]}, "'label' has the type BIGINT; give the classes as text"),
        ({"sketch": INTS, "label": ["a", None]}, "'label' holds a null"),
        ({"sketch": pa.array([[1], None])}, "'sketch' holds a null"),
        ({"sketch": pa.array([[1], [2, None]])}, "a null among its components"),
        ({"sketch": pa.array([[1.0], [None]])}, "a null among its components"),
        ({"sketch": [[1.0], [float("nan")]]}, "not a finite number"),
        ({"sketch": [[1.0], [float("-inf")]]}, "not a finite number"),
        ({"sketch": pa.array([[1], [2**64 - 1]], pa.list_(pa.uint64()))}, "beyond 64 bits"),
    ],
)
def test_odd_files_are_refused(tmp_path: Path, columns: dict[str, Any], message: str) -> None:
    pq.write_table(pa.table(columns), tmp_path / "x.parquet")
    with pytest.raises(DataError, match=message) as caught:
        read_sketches(tmp_path / "x.parquet")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("step", ["0", "-1", "nan", "inf", "two", ""])
def test_a_step_that_is_none(tmp_path: Path, step: str) -> None:
    path = tmp_path / "x.parquet"
    duckdb.execute(
        f"COPY (SELECT [1.5::DOUBLE] AS sketch) TO '{path}' (FORMAT parquet, KV_METADATA {{shoal_step: '{step}'}})"
    )
    with pytest.raises(DataError, match="not a positive number"):
        read_sketches(path)


def test_files_that_are_none(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    with pytest.raises(DataError, match="no such file"):
        read_sketches(path)
    for content, message in ((b"", "is not Parquet"), (b"1 2\n", "is not Parquet"), (b"PAR1" + b"x" * 40, "damaged")):
        path.write_bytes(content)
        with pytest.raises(DataError, match=message):
            read_sketches(path)
    write_sketches(sketches(), path)
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(DataError, match="damaged"):
        read_sketches(path)


def test_what_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(OSError, match=r"x\.parquet"):
        write_sketches(sketches(), tmp_path / "no" / "x.parquet")
    with pytest.raises(DataError, match="not a finite number"):
        write_sketches(Sketches(np.array([0, 1]), np.array([np.nan])), tmp_path / "x.parquet")
    with pytest.raises(DataError, match="lone surrogate"):
        write_sketches(
            Sketches(np.array([0, 1]), np.array([1]), labels=np.zeros(1, np.int32), classes=("\ud800",)),
            tmp_path / "x.parquet",
        )
    assert not (tmp_path / "x.parquet").exists()
