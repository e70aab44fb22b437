"""Parquet: types, missing values, and what is refused."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import duckdb
import numpy as np
import pytest

from shoal.data.tables import parquet
from shoal.data.tables.files import read_table
from shoal.errors import DataError


def put(path: Path, query: str) -> Path:
    database = duckdb.connect()
    database.execute(f"COPY ({query}) TO '{path}' (FORMAT parquet)")
    return path


def test_every_type(tmp_path: Path) -> None:
    path = put(
        tmp_path / "t.parquet",
        "SELECT * FROM (VALUES "
        "(2::TINYINT, 9007199254740993::BIGINT, 7::UBIGINT, 1.5::FLOAT, 2.25::DECIMAL(9,2), true,"
        " DATE '2020-02-01', TIMESTAMP '2020-02-01 10:00:00.25', TIMESTAMPTZ '2020-02-01 10:00:00+02',"
        " 'b', 'NaN'::DOUBLE),"
        "(1, NULL, 8, 'inf', NULL, NULL, NULL, NULL, NULL, '?', 1.0),"
        "(2, 4, 7, NULL, 1, false, DATE '1900-01-01', TIMESTAMP '2020-01-01', NULL, NULL, NULL))"
        " AS t(i, big, u, f, dec, b, day, moment, zoned, text, nan)",
    )
    table = read_table(path)
    assert table.source.format == "parquet"
    assert table.source.name == "t"
    assert table["i"].values.dtype == np.int64
    assert table["i"].codes.tolist() == [1, 0, 1]
    assert table["big"].values.tolist() == [4, 9007199254740993]
    assert table["big"].markers == (None,)
    assert table["u"].values.tolist() == [7, 8]
    assert table["f"].values.tolist() == [1.5, np.inf]
    assert table["dec"].values.tolist() == [1.0, 2.25]
    assert table["b"].values.tolist() == [False, True]
    assert table["b"].missing.tolist() == [False, True, False]
    expected = np.array(["1900-01-01", "2020-02-01"], "datetime64[us]")
    np.testing.assert_array_equal(table["day"].values, expected)
    assert table["moment"].values.tolist()[1].microsecond == 250_000
    assert table["zoned"].values.tolist()[0].hour == 8
    assert table["text"].values.tolist() == ["b"]
    assert table["text"].markers == ("?", None)
    assert table["text"].codes.tolist() == [0, 1, 2]
    assert table["nan"].missing.tolist() == [True, False, True]


def test_names_that_differ_only_in_case_are_kept(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow.parquet import write_table

    write_table(pyarrow.table({"A": [1, 2], "a": ["x", "y"]}), tmp_path / "t.parquet")
    table = read_table(tmp_path / "t.parquet")
    assert table.names == ["A", "a"]
    assert table["a"].values.tolist() == ["x", "y"]


def test_categories_and_names_like_patterns(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"c": pandas.Categorical(["x", "y", None, "x"], categories=["z", "y", "x"])})
    frame.to_parquet(tmp_path / "a[1]*.parquet")
    table = read_table(tmp_path / "a[1]*.parquet")
    assert table["c"].values.tolist() == ["x", "y"]
    assert table["c"].codes.tolist() == [0, 1, 2, 0]


def test_many_distinct_texts_go_another_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = put(
        tmp_path / "t.parquet",
        "SELECT CASE WHEN i % 7 = 0 THEN NULL ELSE 'v' || i END AS t FROM range(60) s(i)",
    )
    few = read_table(path)["t"]
    monkeypatch.setattr(parquet, "_FEW_DISTINCT", 10)
    many = read_table(path)["t"]
    assert few.values.tolist() == many.values.tolist()
    assert few.codes.tolist() == many.codes.tolist()
    assert few.markers == many.markers == (None,)


def test_a_column_of_nulls(tmp_path: Path) -> None:
    table = read_table(put(tmp_path / "t.parquet", "SELECT NULL::VARCHAR AS t, NULL::INT AS i, 1 AS one"))
    assert table["t"].missing.tolist() == table["i"].missing.tolist() == [True]
    assert len(table["t"].values) == len(table["i"].values) == 0


@pytest.mark.parametrize(
    ("column", "kind"),
    [
        ("[1, 2]", "LIST"),
        ("{'a': 1}", "STRUCT"),
        ("MAP {'a': 1}", "MAP"),
        ("'x'::BLOB", "BLOB"),
        ("TIME '10:00'", "TIME"),
        ("INTERVAL 1 DAY", "INTERVAL"),
    ],
)
def test_other_types_are_refused_by_name(tmp_path: Path, column: str, kind: str) -> None:
    path = put(tmp_path / "t.parquet", f"SELECT 1 AS fine, {column} AS odd")
    with pytest.raises(DataError, match=f"'odd' has the type {kind}"):
        read_table(path)


def test_integers_that_do_not_fit(tmp_path: Path) -> None:
    path = put(tmp_path / "t.parquet", "SELECT 18446744073709551615::UBIGINT AS u")
    with pytest.raises(DataError, match="integers beyond 64 bits"):
        read_table(path)


def test_no_rows_and_damage(tmp_path: Path) -> None:
    empty = put(tmp_path / "empty.parquet", "SELECT 1 AS a WHERE false")
    with pytest.raises(DataError, match="has columns but no rows"):
        read_table(empty)
    whole = put(tmp_path / "whole.parquet", "SELECT 'Ms-Secret' || i AS a FROM range(5000) t(i)").read_bytes()
    middle = len(whole) // 3
    for name, content in {
        "cut": whole[: len(whole) // 2],
        "magic": b"PAR1",
        "holed": whole[:8] + b"\xff" * middle + whole[8 + middle :],
    }.items():
        path = tmp_path / f"{name}.parquet"
        path.write_bytes(content)
        with pytest.raises(DataError, match="damaged") as caught:
            read_table(path)
        assert "Secret" not in str(caught.value)


def test_distinct_rows_come_once_with_the_number_of_their_records(tmp_path: Path) -> None:
    rows = "SELECT i AS id, i % 3 AS a, nullif('t' || (i % 2), 't0') AS b FROM range(100) t(i)"
    path = put(tmp_path / "a.parquet", rows)
    read = parquet.read_distinct(path, markers=("t1",), drops=lambda name: name == "id")
    (dropped, a, b), weights = read.columns, read.weights
    assert (dropped.name, len(dropped.values), dropped.missing.all()) == ("id", 0, True)
    assert b.markers == ("t1", None)
    found = {(x, m): int(n) for x, m, n in zip(a.cells(), b.codes.tolist(), weights, strict=True)}
    assert found == Counter((i % 3, 1 - i % 2) for i in range(100))
