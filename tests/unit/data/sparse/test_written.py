"""Records are written in the form that they came in, and come back as they were."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest

from shoal.data import line_blocks, ragged
from shoal.data.sparse.files import read_sparse
from shoal.data.sparse.on_disk import RecordsOnDisk, put_records
from shoal.data.sparse.records import Sparse, SparseSource
from shoal.data.sparse.written import (
    blocks_back,
    compact,
    form_for,
    line_file_name,
    published_form,
    read_records,
    record_file_name,
    write_records,
    write_records_on_disk,
)
from shoal.errors import DataError

ROWS = [["beer", "milk"], ["bread"], ["beer", "bread", "milk"]]


def of(rows, labels=None, **source) -> Sparse:
    return replace(Sparse.of(rows, labels), source=SparseSource(**source))


@pytest.mark.parametrize(
    ("records", "name"),
    [
        (of(ROWS, format="baskets"), "data.dat"),
        (of(ROWS, format="baskets", gzip=True), "data.dat.gz"),
        (of(ROWS, format="baskets", delimiter=","), "data.dat"),
        (of([["fresh milk"], ["bread, white", "a"]], format="lists"), "data.dat"),
        (of(ROWS, ["x", "y", "x"], format="lists"), "data.csv"),
        (of(ROWS, ["x", "y", "x"], format="column", column="cart", class_column="shop", table="csv"), "data.csv"),
        (of(ROWS, format="column", column="cart", delimiter=";", table="parquet"), "data.parquet"),
        (of([{"a": 2, "b": 1}, {"b": 3}], format="text", column="text", table="csv"), "data.csv"),
        (of([{"a": 2, "b": 1}, {"b": 3}], format="baskets"), "data.dat"),
        (of([{1: 0.5, 12: 2.0}, {3: -1.25}], ["1", "-1"], format="svmlight"), "data.svm"),
        (of([{1: 1, 12: 2}, {3: 1}], format="csr"), "data.svm"),
        (of([["=1+1", "+a"]], ["-x"], format="lists"), "data.csv"),
    ],
)
def test_records_come_back_as_they_were(records: Sparse, name: str, tmp_path: Path) -> None:
    form = published_form(records)
    assert record_file_name(records, form) == name
    path = tmp_path / name
    write_records(records, path, form)
    back, same = read_records(path, form), compact(records)
    assert (back.names, back.classes) == (same.names, same.classes)
    assert np.array_equal(back.starts, same.starts)
    assert np.array_equal(back.items, same.items)
    assert np.array_equal(back.weights, same.weights)
    assert (back.labels is None) == (same.labels is None)


def test_ordinary_readers_read_what_is_written(tmp_path: Path) -> None:
    records = of(ROWS, format="baskets")
    write_records(records, tmp_path / "data.dat", published_form(records))
    assert (tmp_path / "data.dat").read_text() == "beer milk\nbread\nbeer bread milk\n"
    numbered = of([{1: 0.5, 12: 2.0}, {3: 1.0}], ["1", "-1"], format="svmlight")
    write_records(numbered, tmp_path / "data.svm", published_form(numbered))
    assert (tmp_path / "data.svm").read_text() == "1 1:0.5 12:2\n-1 3:1\n"
    assert read_sparse(tmp_path / "data.svm").sizes.tolist() == [2, 1]


def test_what_no_form_holds_is_refused() -> None:
    with pytest.raises(DataError, match="SVMlight alone"):
        published_form(of([{"a": 0.5}]))
    with pytest.raises(DataError, match="as often as it counts"):
        published_form(of([{"a": 2**30}] * 9))
    with pytest.raises(DataError, match="rename the items"):
        published_form(of([["a b,c;d\te|f"]]))


@pytest.mark.parametrize(
    "records",
    [
        of(ROWS * 9, format="baskets"),
        of(ROWS * 9, format="baskets", delimiter=",", gzip=True),
        of([{"a": 2, "b": 1}, {"b": 3}, {"c": 1}] * 9, format="baskets"),
        of([{1: 3, 12: 2}, {3: 1}, {12: 7}] * 9, ["0", "-1", "0"] * 9, format="svmlight"),
        of([{1: 3, 12: 2}, {3: 1}] * 9, format="svmlight", gzip=True),
    ],
)
def test_records_in_files_are_written_as_held_ones_and_come_back_in_blocks(records: Sparse, tmp_path: Path) -> None:
    records = compact(records)
    rows = put_records(
        [records.take(np.arange(5)), records.take(np.arange(5, len(records)))], records.n_items, is_binary=False
    )
    disk = RecordsOnDisk(rows, records.names, records.classes, records.source)
    form = published_form(records)
    assert form_for(disk.source, disk.names, disk.classes, disk.weights, has_classes=records.labels is not None) == form
    assert line_file_name(form) == record_file_name(records, form)
    write_records(records, tmp_path / "held", form)
    with patch.object(ragged, "ENTRIES_AT_ONCE", 7):
        write_records_on_disk(disk, tmp_path / "bounded", form)
    assert (tmp_path / "held").read_bytes() == (tmp_path / "bounded").read_bytes()
    with patch.object(line_blocks, "_PIECE", 20):
        blocks = list(blocks_back(tmp_path / "held", form, 20))
    assert len(blocks) > 1
    assert np.concatenate([block.sizes for block in blocks]).tolist() == records.sizes.tolist()
    assert np.concatenate([block.weights for block in blocks]).tolist() == records.weights.tolist()
    names = [block.names[i] for block in blocks for i in block.items.tolist()]
    assert names == [records.names[i] for i in records.items.tolist()]


def test_a_class_called_0_is_told_from_no_class(tmp_path: Path) -> None:
    """In SVMlight both are written 0; who wrote the file knows."""
    records = of([{1: 2}, {3: 1}], ["0", "0"], format="svmlight")
    write_records(records, tmp_path / "data.svm", published_form(records))
    assert read_records(tmp_path / "data.svm", published_form(records)).labels is None
    back = read_records(tmp_path / "data.svm", published_form(records), has_classes=True)
    assert (back.classes, back.labels.tolist()) == (("0",), [0, 0])
