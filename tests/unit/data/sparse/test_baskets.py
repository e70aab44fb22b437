"""The tests of `data/sparse/baskets.py`."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np

from shoal.data.sparse.files import read_sparse
from shoal.data.sparse.records import Sparse


def file(folder: Path, content: bytes | str, name: str = "x.dat") -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def dicts(records: Sparse) -> list[dict[str, float]]:
    ends = records.starts.tolist()
    pairs = [(records.names[i], w) for i, w in zip(records.items.tolist(), records.weights.tolist(), strict=True)]
    return [dict(pairs[a:b]) for a, b in pairwise(ends)]


def test_baskets_between_blanks_of_any_line_end(tmp_path: Path) -> None:
    path = file(tmp_path, b"\xef\xbb\xbfmilk bread milk\r\n\r\n  beer\t3 \rmilk")
    records = read_sparse(path)
    assert dicts(records) == [{"bread": 1, "milk": 1}, {}, {"3": 1, "beer": 1}, {"milk": 1}]
    assert records.is_binary
    assert records.source.format == "baskets"
    assert records.source.name == "x"
    assert records.labels is None
    assert any("1 repetitions of an item" in note for note in records.source.notes)


def test_repeated_items_are_counted_on_request(tmp_path: Path) -> None:
    records = read_sparse(file(tmp_path, "a b a a\nb\n"), weights="counts")
    assert dicts(records) == [{"a": 3, "b": 1}, {"b": 1}]
    assert records.weights.dtype == np.int64
    assert records.source.notes == ()


def test_a_delimiter_keeps_blanks_inside_items(tmp_path: Path) -> None:
    path = file(tmp_path, "whole milk, rye bread,,\n\nbeer ;x\n", "x.csv")
    records = read_sparse(path, delimiter=",")
    assert dicts(records) == [{"rye bread": 1, "whole milk": 1}, {}, {"beer ;x": 1}]
    assert records.source.delimiter == ","
    assert any("2 items of nothing" in note for note in records.source.notes)
