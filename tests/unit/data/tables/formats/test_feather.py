"""Feather files."""

from __future__ import annotations

from pathlib import Path

import pytest

from shoal.data.tables.files import read_table
from shoal.data.tables.write import file_name, read_back, write_table
from shoal.errors import DataError


def test_columns_keep_their_types_and_the_bytes_repeat(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    feather = pytest.importorskip("pyarrow.feather")
    feather.write_feather(
        pyarrow.table({"n": [1, None, 3], "x": [0.5, 1.5, None], "t": ["a", "b", "a"]}), str(tmp_path / "x.feather")
    )
    table = read_table(tmp_path / "x.feather")
    assert file_name(table) == "data.feather"
    written = set()
    for _ in range(20):  # what stands below a null was left to chance once
        write_table(table, tmp_path / "one")
        written.add((tmp_path / "one").read_bytes())
    assert len(written) == 1
    back = read_back(tmp_path / "one", table.names, markers=())
    assert [back[n].cells().tolist() for n in back.names] == [[1, None, 3], [0.5, 1.5, None], ["a", "b", "a"]]


def test_a_damaged_file_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "x.feather").write_bytes(b"ARROW1" + b"\0" * 40)
    with pytest.raises(DataError, match="the Feather file is damaged"):
        read_table(tmp_path / "x.feather")
