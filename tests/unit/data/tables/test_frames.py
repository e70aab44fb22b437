"""Frames in, the same kind of frame out."""

from __future__ import annotations

import datetime
from decimal import Decimal
from typing import Any

import duckdb
import numpy as np
import pytest

from shoal.data.tables.dictionary import objects
from shoal.data.tables.frames import from_frame, to_frame
from shoal.data.tables.table import Column, Table
from shoal.errors import DataError

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")

DAY = datetime.datetime(2020, 1, 1)


def pandas_frame() -> Any:
    return pd.DataFrame(
        {
            "i8": pd.Series([3, 1, 2], dtype="int8"),
            "Int64": pd.array([2**60 + 1, None, 3], dtype="Int64"),
            "f32": pd.Series([0.1, np.nan, 2], dtype="float32"),
            "text": ["b", None, "?"],
            "object": pd.Series(["b", None, "a"], dtype=object),
            "category": pd.Categorical(["x", "y", None], categories=["y", "z", "x"], ordered=True),
            "int category": pd.Categorical([5, 7, None]),
            "time": pd.to_datetime(["2020-01-02", None, "2020-01-01"]) + pd.Timedelta("1h"),
            "zone": pd.to_datetime(["2020-01-02", None, "2020-01-01"]).tz_localize("Europe/Berlin"),
            "bool": [True, False, True],
            "boolean": pd.array([True, None, False], dtype="boolean"),
        }
    ).set_axis([7, 8, 9])


def polars_frame() -> Any:
    return pl.DataFrame(
        {
            "i8": pl.Series([3, None, 2], dtype=pl.Int8),
            "u64": pl.Series([3, 1, 2], dtype=pl.UInt64),
            "f32": pl.Series([0.1, None, float("nan")], dtype=pl.Float32),
            "decimal": pl.Series([Decimal("1.50"), None, Decimal("2.25")], dtype=pl.Decimal(10, 2)),
            "text": ["b", None, "?"],
            "category": pl.Series(["x", None, "y"], dtype=pl.Categorical),
            "enum": pl.Series(["x", None, "y"], dtype=pl.Enum(["y", "x"])),
            "date": [datetime.date(2020, 1, 1), None, datetime.date(2019, 1, 1)],
            "time": pl.Series([DAY, None, DAY], dtype=pl.Datetime("ms")),
            "zone": pl.Series([DAY, None, DAY], dtype=pl.Datetime("us", "Europe/Berlin")),
            "bool": [True, None, False],
            "nothing": pl.Series([None, None, None], dtype=pl.Int32),
        }
    )


def test_pandas_comes_back_with_every_type_and_a_new_index() -> None:
    frame = pandas_frame()
    table = from_frame(frame)
    assert table.names == list(frame.columns)
    assert table["i8"].values.tolist() == [1, 2, 3]
    assert table["Int64"].values.tolist() == [3, 2**60 + 1]
    assert table["text"].markers == ("?", None)
    assert table["category"].values.tolist() == ["x", "y"]
    assert table["int category"].values.dtype == np.int64
    assert table["zone"].values.tolist()[0] == datetime.datetime(2019, 12, 31, 23)
    assert table.source.notes == ("the times of the column 'zone' were turned into UTC",)
    expected = frame.reset_index(drop=True)
    for name in ("category", "int category"):
        expected[name] = expected[name].cat.remove_unused_categories()
    pd.testing.assert_frame_equal(to_frame(table, frame), expected)


@pytest.mark.parametrize("is_lazy", [False, True])
def test_polars_comes_back_with_every_type(is_lazy: bool) -> None:
    frame = polars_frame()
    given = frame.lazy() if is_lazy else frame
    table = from_frame(given)
    assert table["u64"].values.tolist() == [1, 2, 3]
    assert table["decimal"].values.tolist() == [1.5, 2.25]
    assert table["f32"].missing.tolist() == [False, True, True]
    back = to_frame(table, given)
    assert isinstance(back, pl.LazyFrame if is_lazy else pl.DataFrame)
    expected = frame.with_columns(pl.col("f32").fill_nan(None))
    assert back.lazy().collect().schema == expected.schema
    assert back.lazy().collect().equals(expected)


def test_pyarrow_comes_back_with_every_type() -> None:
    frame = polars_frame().drop("enum", "f32").to_arrow()
    back = to_frame(from_frame(frame), frame)
    assert back.schema.types == frame.schema.types
    assert back.to_pylist() == frame.to_pylist()


def test_duckdb_comes_back_with_every_type() -> None:
    relation = duckdb.connect().sql(
        "SELECT * FROM (VALUES (1::TINYINT, 'b', 1.5::DECIMAL(5,2), DATE '2020-01-02', true),"
        ' (2, NULL, NULL, NULL, NULL)) AS t("a x", s, d, day, b)'
    )
    table = from_frame(relation)
    assert table["day"].values.dtype == np.dtype("datetime64[us]")
    assert table["s"].markers == (None,)
    back = to_frame(table, relation)
    assert isinstance(back, duckdb.DuckDBPyRelation)
    assert [str(t) for t in back.types] == [str(t) for t in relation.types]
    assert back.columns == relation.columns
    assert back.fetchall() == relation.fetchall()


def test_duckdb_rows_stay_together_when_the_relation_has_no_order() -> None:
    relation = duckdb.connect().sql("SELECT i, 'v' || i AS v FROM range(5000) AS t(i) ORDER BY random()")
    table = from_frame(relation)
    texts = np.array(table["v"].texts(), dtype=object)[table["v"].codes]
    numbers = table["i"].values[table["i"].codes]
    assert texts.tolist() == [f"v{i}" for i in numbers]


def test_a_dict_comes_back_as_a_dict() -> None:
    data = {
        "list": ["b", None, "?"],
        "tuple": (1, 2, None),
        "array": np.array([3, 1, 2], dtype=np.int16),
        "float": np.array([0.5, np.nan, 1], dtype=np.float32),
        "fixed": np.array(["x", "yy", "x"]),
        "day": [datetime.date(2020, 1, 2), None, datetime.date(2020, 1, 1)],
    }
    back = to_frame(from_frame(data), data)
    assert list(back) == list(data)
    for name in ("list", "tuple", "day"):
        assert back[name] == data[name]
        assert type(back[name]) is type(data[name])
    for name in ("array", "float", "fixed"):
        assert back[name].dtype == data[name].dtype
        np.testing.assert_array_equal(back[name], data[name])


def changed(table: Table) -> Table:
    """Means for numbers, ranges for texts, and one row less."""
    mean = Column("i8", np.zeros(3, np.int32), np.array([2.1]), ())
    text = Column("category", np.zeros(3, np.int32), objects(["x-y"]), ())
    single = Column("f32", np.zeros(3, np.int32), np.array([0.1234567890123]), ())
    return table.with_columns({"i8": mean, "category": text, "f32": single}).take(np.array([0, 2]))


@pytest.mark.parametrize("make", [pandas_frame, polars_frame])
def test_changed_columns_take_their_natural_type(make: Any) -> None:
    frame = make()
    back = to_frame(changed(from_frame(frame)), frame)
    assert list(back.columns) == list(frame.columns)
    assert len(back) == 2
    assert back["i8"].to_list() == [2.1, 2.1]
    assert back["category"].to_list() == ["x-y", "x-y"]
    # Rounding to the old float32 would publish other numbers than were checked.
    assert back["f32"].to_list() == [0.1234567890123] * 2
    assert back["bool"].dtype == frame["bool"].dtype


def test_pandas_labels_that_are_no_texts_come_back() -> None:
    frame = pd.DataFrame({0: [1, 2], "a": ["x", "y"]})
    back = to_frame(from_frame(frame), frame)
    assert list(back.columns) == [0, "a"]


def test_a_table_is_taken_as_it_is() -> None:
    table = from_frame({"a": [1]})
    assert from_frame(table) is table
    assert to_frame(table, table) is table


def test_markers_apply_to_texts() -> None:
    table = from_frame({"a": ["x", "-", "NA"], "b": [1, 2, 3]}, markers=["-"])
    assert table["a"].markers == ("-",)
    assert table["a"].values.tolist() == ["NA", "x"]


@pytest.mark.parametrize("odd", [5, "people.csv", [1, 2], np.zeros((2, 2)), None])
def test_what_is_no_frame_is_refused(odd: Any) -> None:
    with pytest.raises(DataError, match="give a pandas or polars frame"):
        from_frame(odd)
    with pytest.raises(DataError, match="not a frame to imitate"):
        to_frame(from_frame({"a": [1]}), odd)


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        ({"a": [1, "x"]}, "'a' has the type int and str"),
        ({"a": [1.5, "x"]}, "'a' mixes texts and numbers"),
        ({"a": [True, 2]}, "'a' mixes truth values"),
        ({"a": [[1], [2]]}, "'a' has the type list"),
        ({"a": [1j]}, "'a' has the type complex"),
        ({"a": "text"}, "'a' is not a sequence"),
        ({"a": 5}, "'a' is not a sequence"),
        ({"a": np.zeros((2, 2))}, "'a' has 2 dimensions"),
        ({"a": np.array([1, 2], dtype="timedelta64[s]")}, "'a' has the type timedelta64"),
        ({"a": [2**63]}, "'a' holds integers beyond"),
        ({"a": [1], "b": [1, 2]}, "different lengths"),
        ({" ": [1]}, "no name"),
        ({}, "no columns"),
        ({"a": []}, "no rows"),
        (pd.DataFrame({"a": pd.to_timedelta([1, 2])}), "'a' has the type Duration"),
        (pd.DataFrame({"a": pd.period_range("2020", periods=2)}), "'a' has the type Unknown"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "the columns 1 and 2 have the same name"),
        (pl.DataFrame({"a": [[1], [2]]}), "'a' has the type List"),
        (pl.DataFrame({"a": [b"x"]}), "'a' has the type Binary"),
        (pl.DataFrame({"a": pl.Series([2**64 - 1], dtype=pl.UInt64)}), "'a' holds integers beyond"),
        (pa.table({"a": [{"b": 1}]}), "'a' has the type Struct"),
    ],
)
def test_odd_content_is_refused_by_name(frame: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        from_frame(frame)


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("SELECT [1] AS a", "'a' has the type LIST"),
        ("SELECT CAST('secret' || random() AS INT) AS a", "cannot be run"),
    ],
)
def test_odd_relations_are_refused(query: str, message: str) -> None:
    with pytest.raises(DataError, match=message) as caught:
        from_frame(duckdb.connect().sql(query))
    assert "secret" not in str(caught.value)
