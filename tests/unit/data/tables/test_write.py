"""Tables into files."""

from __future__ import annotations

import errno
import gzip
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import shoal
from shoal.data.tables.files import read_table
from shoal.data.tables.frames import from_frame
from shoal.data.tables.guarded import guarded, unguarded
from shoal.data.tables.table import Column, Source, Table
from shoal.data.tables.write import file_name, read_back, write_table
from shoal.errors import DataError

pytestmark = pytest.mark.unattacked


def table_of(source: Source | None = None, **columns: list[object]) -> Table:
    return replace(from_frame(columns), source=source or Source())


def written(table: Table, folder: Path) -> bytes:
    path = folder / file_name(table)
    write_table(table, path)
    return path.read_bytes()


@pytest.mark.parametrize(
    ("source", "name"),
    [
        (Source(), "data.csv"),
        (Source(delimiter=";"), "data.csv"),
        (Source(delimiter="\t"), "data.tsv"),
        (Source(gzip=True), "data.csv.gz"),
        (Source(delimiter="\t", gzip=True), "data.tsv.gz"),
        (Source(format="parquet"), "data.parquet"),
        (Source(format="frame"), "data.csv"),
    ],
)
def test_file_names(source: Source, name: str) -> None:
    assert file_name(Table({}, source)) == name


def test_quotes_only_where_they_are_needed(tmp_path: Path) -> None:
    table = table_of(a=["x", "a,b", 'q"q', "l\nl", " s"], b=[1.5, None, 2.0, -3.0, 1e20])
    assert written(table, tmp_path) == b'a,b\nx,1.5\n"a,b",\n"q""q",2\n"l\nl",-3\n" s",1e+20\n'


def test_other_delimiters_are_no_reason_for_quotes(tmp_path: Path) -> None:
    table = table_of(Source(delimiter=";"), **{"a,b": ["x,y", "x;y"], "c": [True, False]})
    assert written(table, tmp_path) == b'a,b;c\nx,y;true\n"x;y";false\n'


def test_an_empty_cell_alone_in_its_row_is_quoted(tmp_path: Path) -> None:
    assert written(table_of(a=["x", "", None]), tmp_path) == b'a\nx\n""\n""\n'


def test_missing_cells_are_spelled_as_they_were(tmp_path: Path) -> None:
    source = tmp_path / "in.csv"
    source.write_text("a,b\n1,?\nNA,x\n,NULL\n")
    assert written(read_table(source), tmp_path) == source.read_bytes()


FORMULAS = ["=1+1", "+1+1", "-2+3", "@SUM(A1)", "\tx", "\rx", "＝1", "＋1+2", "－1", "＠x", "-", "=", "+1e5x"]
HARMLESS = ["-1", "+1", "-1.5", "-.5", "+1e-5", "-1,5", "a=b", "", "x-y", "1-2", "'x", "[1-2]", " -x"]


@pytest.mark.parametrize("text", FORMULAS)
def test_formulas_are_written_so_that_nothing_runs_them(text: str, tmp_path: Path) -> None:
    assert guarded(text) == "'" + text
    table = table_of(**{text: ["y"], "b": [text]})
    again = read_table(tmp_path / "data.csv") if written(table, tmp_path) else table
    assert again.names == ["'" + text, "b"]
    assert again["b"].values.tolist() == ["'" + text]


@pytest.mark.parametrize("text", HARMLESS)
def test_other_texts_stay(text: str) -> None:
    assert guarded(text) == text


def test_a_marker_is_guarded_in_a_column_of_numbers_too(tmp_path: Path) -> None:
    column = Column("a", np.array([0, 1], np.int32), np.array([-1.5]), ("=x",))
    assert written(Table.of([column]), tmp_path) == b"a\n-1.5\n'=x\n"


def test_the_same_bytes_every_time(tmp_path: Path) -> None:
    columns = {"a": ["x", "y"] * 20_000, "b": list(range(40_000)), "c": [None, 1.5, 2.5, 3.5] * 10_000}
    for source in (Source(), Source(gzip=True), Source(format="parquet")):
        table = table_of(source, **columns)
        assert written(table, tmp_path) == written(table, tmp_path)
    first = (tmp_path / "data.csv.gz").read_bytes()
    assert first[4:8] == b"\0\0\0\0"
    assert gzip.decompress(first) == (tmp_path / "data.csv").read_bytes()


def test_many_rows_with_joined_columns(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    columns = {
        f"c{i}": [f"v{i}{v}" for v in rng.integers(0, size, 70_000)] for i, size in enumerate((3, 50, 9, 4000, 2))
    }
    lines = written(table_of(**columns), tmp_path).decode().splitlines()
    assert lines[0] == "c0,c1,c2,c3,c4"
    assert lines[1:] == [",".join(row) for row in zip(*columns.values(), strict=True)]


def test_parquet_keeps_types_and_nulls(tmp_path: Path) -> None:
    moments = np.array(["2020-01-02", "2020-01-01", "NaT"], "datetime64[us]")
    table = replace(
        from_frame(
            {
                "i": [2**60 + 1, None, 3],
                "f": [0.1, float("inf"), None],
                "b": [True, None, False],
                "t": ["=x", "?", None],
                "day": moments,
                "moment": moments + np.timedelta64(1, "h"),
                "none": [None, None, None],
            }
        ),
        source=Source(format="parquet"),
    )
    written(table, tmp_path)
    again = read_table(tmp_path / "data.parquet")
    for name, column in table.columns.items():
        assert again[name].values.tolist() == column.values.tolist()
        assert again[name].codes.tolist() == column.codes.tolist()
        assert again[name].markers == column.markers


def test_parquet_refuses_names_that_it_would_change(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="differ only in case; rename the column 'a'"):
        write_table(table_of(Source(format="parquet"), A=[1], a=[2]), tmp_path / "x.parquet")


def test_half_a_character_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="lone surrogate"):
        write_table(table_of(a=["\ud800"]), tmp_path / "x.csv")


@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_a_folder_that_is_not_there(tmp_path: Path, format: str) -> None:
    with pytest.raises(OSError, match="x"):
        write_table(table_of(Source(format=format), a=[1]), tmp_path / "absent" / "x")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs the always full device /dev/full")
def test_a_full_disk(tmp_path: Path) -> None:
    table = table_of(a=[f"{i}" for i in range(50_000)])
    with pytest.raises(OSError, match="No space") as caught:
        write_table(table, "/dev/full")
    assert caught.value.errno == errno.ENOSPC


def test_guarded_texts_come_back_as_they_were(tmp_path) -> None:
    for text in ("=x", "'=x", "''=x", "-", "'-", "'tis", "", "-1", "@a"):
        assert unguarded(guarded(text)) == text
    assert len({guarded(t) for t in ("=x", "'=x", "''=x")}) == 3
    table = {"age": list("11112222"), "s": ["-", "a", "b", "c"] * 2}
    policy = shoal.Policy.of(quasi=["age"], sensitive=["s"], k=2, l=3, missing="any", missing_markers=("-",))
    shoal.anonymize(table, policy).save(tmp_path / "out")
    claimed = json.loads((tmp_path / "out" / "publish" / "manifest.json").read_text())["guarantees"]
    assert [g["achieved"] for g in claimed] == [4, 3]
    strict = policy.changed(l=4)
    assert not shoal.check(tmp_path / "out", policy=strict).holds
    for columns in ({"=a": [1, 1], "'=a": [2, 2]}, {" a ": [1, 1]}, {"a;b": [1, 1]}):
        out = tmp_path / str(len(list(tmp_path.iterdir())))
        shoal.anonymize(columns, shoal.Policy.of(others="quasi", k=2)).save(out)
        assert shoal.check(out).holds


@pytest.mark.parametrize("other", [None, "same", "different"])
def test_what_was_written_is_read_whatever_is_expected(tmp_path: Path, other: str | None) -> None:
    table = table_of(a=["=1", "'x", None, "{b, c}", "-5"], b=[1.5, 2.0, 3.25, None, 1.5])
    path = tmp_path / file_name(table)
    write_table(table, path)
    expected = {None: None, "same": table, "different": table_of(a=["y"], b=[7])}[other]
    back = read_back(path, table.names, markers=["", "?"], delimiter=",", expected=expected)
    assert [back["a"].texts()[code] for code in back["a"].codes] == ["=1", "'x", "", "{b, c}", "-5"]
    assert [back["b"].texts()[code] for code in back["b"].codes] == ["1.5", "2", "3.25", "", "1.5"]
    assert back["a"].missing.tolist() == [False, False, True, False, False]


def test_rows_that_stand_for_several_records_are_written_as_these(tmp_path: Path) -> None:
    few = table_of(Source(format="parquet"), a=["x", "y", None, "x"], b=[1.5, None, 2.0, 2.0], c=[1, 2, 3, 3])
    weights = np.array([3, 1, 2, 4], dtype=np.int32)
    (tmp_path / "few").mkdir()
    many = written(few.take(np.repeat(np.arange(4), weights)), tmp_path)
    few = replace(few, weights=weights)
    assert written(few, tmp_path / "few") == many
    back = read_back(tmp_path / "data.parquet", few.names, markers=(), expected=few)
    assert (back.n_rows, back.n_records) == (4, 10)
    text = replace(few, source=Source())
    assert written(text, tmp_path) == written(
        replace(text.take(np.repeat(np.arange(4), weights)), weights=None), tmp_path
    )
    with pytest.raises(DataError, match="Parquet or CSV alone"):
        written(replace(few, source=Source(format="jsonl")), tmp_path)
