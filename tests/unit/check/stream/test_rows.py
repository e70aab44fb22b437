"""Rows in blocks of whole classes."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from shoal.check.stream.rows import blocks, read_rows
from shoal.errors import DataError


def test_classes_are_not_cut() -> None:
    rows = [["a"], ["a"], ["b"], ["b"], ["b"], ["b"], ["b"], ["c"], ["a"]]
    for most in range(1, 10):
        found = list(blocks(iter(rows), [0], most))
        assert [row for block in found for row in block] == rows
        assert all(a[-1] != b[0] for a, b in itertools.pairwise(found))


def test_csv_and_json_are_read_alike(tmp_path: Path) -> None:
    (tmp_path / "a").write_text('x,y\n1,"{a, b}"\n')
    (tmp_path / "b").write_text('{"y": "{a, b}", "x": 1}\n')
    rows = [["1", "{a, b}"]]
    assert list(read_rows(tmp_path / "a", ["x", "y"], ",", has_header=True)) == rows
    assert list(read_rows(tmp_path / "b", ["x", "y"], None, has_header=False)) == rows


@pytest.mark.parametrize("text", ["y,x\n1,2\n", "x,y\n1\n", "x,y\n1,2,3\n"])
def test_other_columns_are_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "a").write_text(text)
    with pytest.raises(DataError):
        list(read_rows(tmp_path / "a", ["x", "y"], ",", has_header=True))


@pytest.mark.parametrize("text", ["[]", '{"x": 1}', '{"x": 1, "y": 2, "z": 3}', '{"x": [1], "y": 2}', "x"])
def test_other_objects_are_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "a").write_text(text + "\n")
    with pytest.raises(DataError, match="line 1"):
        list(read_rows(tmp_path / "a", ["x", "y"], None, has_header=False))
