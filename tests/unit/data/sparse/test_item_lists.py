"""Columns of item lists and of raw text, and folders of texts."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from shoal.data.sparse.files import read_sparse
from shoal.data.sparse.records import Sparse
from shoal.errors import DataError
from tests.unit.data.sparse.table_files import table


def dicts(records: Sparse) -> list[dict[str, float]]:
    ends = records.starts.tolist()
    pairs = [(records.names[i], w) for i, w in zip(records.items.tolist(), records.weights.tolist(), strict=True)]
    return [dict(pairs[a:b]) for a, b in pairwise(ends)]


def labels(records: Sparse) -> list[str]:
    assert records.labels is not None
    return [records.classes[code] for code in records.labels.tolist()]


@pytest.mark.parametrize("name", ["x.csv", "x.csv.gz", "x.parquet"])
def test_delimited_cells(tmp_path: Path, name: str) -> None:
    path = table(tmp_path, {"id": ["1", "2", "3"], "items": ["a; b c;a", "", "b c"], "kind": ["x", "y", "x"]}, name)
    records = read_sparse(path, column="items", class_column="kind", delimiter=";")
    assert dicts(records) == [{"a": 1, "b c": 1}, {}, {"b c": 1}]
    assert labels(records) == ["x", "y", "x"]
    assert records.source.format == "column"
    assert records.source.gzip is name.endswith("gz")
    assert dict(records.source.reading) == {"cells": "delimited"}
    assert any("empty records" in note for note in records.source.notes)
    counted = read_sparse(path, column="items", delimiter=";", weights="counts")
    assert dicts(counted) == [{"a": 2, "b c": 1}, {}, {"b c": 1}]
    assert counted.labels is None


@pytest.mark.parametrize("name", ["x.csv", "x.parquet"])
def test_lists_in_brackets_are_told(tmp_path: Path, name: str) -> None:
    cells = ['["a, b", "c"]', "['c', 7]", " [] ", "", '["c", "c", "\\u00e4"]']
    records = read_sparse(table(tmp_path, {"id": list("12345"), "items": cells}, name), column="items")
    assert dicts(records) == [{"a, b": 1, "c": 1}, {"7": 1, "c": 1}, {}, {}, {"c": 1, "ä": 1}]
    assert records.source.format == "column"
    assert dict(records.source.reading) == {"cells": "lists"}


def test_numbers_between_blanks_are_items_and_no_words(tmp_path: Path) -> None:
    path = table(tmp_path, {"id": list("123"), "items": ["7 12 345", " 12\t8 ", ""]})
    records = read_sparse(path, column="items")
    assert dicts(records) == [{"7": 1, "12": 1, "345": 1}, {"12": 1, "8": 1}, {}]
    assert records.source.format == "column"


def test_words_of_a_column_are_items_if_the_format_says_so(tmp_path: Path) -> None:
    path = table(tmp_path, {"id": ["1", "2"], "items": ["The a  b", "b\nthe"]})
    records = read_sparse(path, format="column", column="items")
    assert dicts(records) == [{"The": 1, "a": 1, "b": 1}, {"b": 1, "the": 1}]
    assert dict(records.source.reading) == {"cells": "words"}


@pytest.mark.parametrize(
    "cell", ["[1, 2", "[1.5]", "[null]", '[["a"]]', "[true]", "a b", "[a]", "[NaN]", "[" * 5000 + "]" * 5000]
)
def test_a_broken_list_has_its_row(tmp_path: Path, cell: str) -> None:
    path = table(tmp_path, {"id": list("1234"), "items": ['["a"]', '["b", 1]', cell, '["c"]']})
    with pytest.raises(DataError, match="row 3 after the header: the cell is not a list"):
        read_sparse(path, column="items")


@pytest.mark.parametrize("kind", [pa.string(), pa.int16(), pa.uint32(), pa.int64()])
def test_true_lists_of_parquet(tmp_path: Path, kind: Any) -> None:
    lists = [["3", "1", "3"], [], None, ["20"]] if kind == pa.string() else [[3, 1, 3], [], None, [20]]
    columns: dict[str, Any] = {
        "items": pa.array(lists, pa.list_(kind)),
        "other": pa.array([[[1.0]]] * 4),
        "class": pa.array([1, 2, 1, 2]),
    }
    records = read_sparse(table(tmp_path, columns, "x.parquet"), column="items", class_column="class")
    assert dicts(records) == [{"1": 1, "3": 1}, {}, {}, {"20": 1}]
    assert labels(records) == ["1", "2", "1", "2"]
    assert records.source.format == "column"
    assert any("empty records" in note for note in records.source.notes)


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (pa.array([["a"], ["b", None]]), "row 2: the list in the column 'items' holds a null"),
        (pa.array([[1.5], []]), "give lists of texts or of integers"),
        (pa.array([[["a"]], []]), "give lists of texts or of integers"),
        (pa.array([{"a": 1}, {"a": 2}]), "not a single value"),
        (pa.array([b"a", b"b"]), "not a single value"),
    ],
)
def test_odd_columns_of_parquet(tmp_path: Path, column: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        read_sparse(table(tmp_path, {"items": column}, "x.parquet"), column="items")


def test_a_damaged_and_an_empty_parquet_file(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    path.write_bytes(b"PAR1" + b"x" * 50)
    with pytest.raises(DataError, match="damaged"):
        read_sparse(path, column="items")
    with pytest.raises(DataError, match="no rows"):
        read_sparse(table(tmp_path, {"items": pa.array([], pa.list_(pa.string()))}, "x.parquet"), column="items")


@pytest.mark.parametrize("name", ["x.csv", "x.parquet"])
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "name the column that holds the items or the text; the choices are 'items', 'kind'"),
        ({"column": "item"}, "no column 'item'; did you mean 'items'"),
        ({"column": "items", "class_column": "kin"}, "no column 'kin'; did you mean 'kind'"),
        ({"column": "items", "class_column": "items"}, "cannot be both"),
        ({"column": "items", "class_column": "kind"}, r"row 2 after the header: .*'kind' holds no class \(1 of 2"),
    ],
)
def test_columns_that_are_not_there(tmp_path: Path, name: str, options: dict[str, str], message: str) -> None:
    path = table(tmp_path, {"items": ["a b", "c"], "kind": ["x", ""]}, name)
    with pytest.raises(DataError, match=message):
        read_sparse(path, **options)  # type: ignore[arg-type]  # all of them are texts


@pytest.mark.parametrize("name", ["x.csv", "x.csv.gz", "x.parquet"])
def test_persons_of_records(tmp_path: Path, name: str) -> None:
    columns = {"who": ["7", "a ", "007", "A"], "shop": ["s", "s", "s", "t"], "items": ["a;b", "a", "b", "a"]}
    path = table(tmp_path, columns, name)
    records = read_sparse(path, column="items", delimiter=";", person=["who"])
    assert records.persons is not None
    assert len(set(records.persons.tolist())) == 2  # those that say the same are one
    assert records.persons[0] == records.persons[2]
    assert dict(zip(records.names, records.holders.tolist(), strict=True)) == {"a": 2, "b": 1}
    both = read_sparse(path, column="items", delimiter=";", person=["who", "shop"])
    assert both.persons is not None
    assert len(set(both.persons.tolist())) == 3
    with pytest.raises(DataError, match="there is no column 'whom'"):
        read_sparse(path, column="items", delimiter=";", person=["whom"])
    with pytest.raises(DataError, match="cannot be the record"):
        read_sparse(path, column="items", delimiter=";", person=["items"])


def test_persons_of_true_lists_and_of_texts(tmp_path: Path) -> None:
    columns = {"who": pa.array([1, 2, 1]), "items": pa.array([["a"], ["b"], []], pa.list_(pa.string()))}
    records = read_sparse(table(tmp_path, columns, "x.parquet"), column="items", person=["who"])
    assert records.persons is not None
    assert records.persons[0] == records.persons[2] != records.persons[1]
    path = table(tmp_path, {"who": ["x", "y"], "text": ["red hats", "blue hats"]}, "y.csv")
    texts = read_sparse(path, format="text", column="text", person=["who"])
    assert texts.persons is not None
    assert texts.holders[texts.names.index("hats")] == 2


def test_records_of_nobody_known_are_refused(tmp_path: Path) -> None:
    path = table(tmp_path, {"who": ["7", ""], "items": ["a", "b"]}, "x.csv")
    with pytest.raises(DataError, match="whose row it is, is missing in 1 of 2 rows"):
        read_sparse(path, column="items", delimiter=";", person=["who"])
