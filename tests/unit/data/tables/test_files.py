"""The tests of `data/tables/files.py`."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import pytest

from shoal.data.tables.files import read_table
from shoal.data.tables.table import Table
from shoal.errors import DataError


def put(folder: Path, content: bytes | str, name: str = "people.csv") -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def cells(table: Table) -> dict[str, list[str]]:
    return {n: [c.texts()[code] for code in c.codes] for n, c in table.columns.items()}


def test_a_name_like_a_pattern_reads_only_that_file(tmp_path: Path) -> None:
    put(tmp_path, "a,b\n9,9\n", "x1.csv")
    assert cells(read_table(put(tmp_path, "a,b\n1,2\n", "x[1].csv")))["a"] == ["1"]
    assert cells(read_table(put(tmp_path, "a,b\n3,2\n", "x?.csv")))["a"] == ["3"]


def test_the_stem_of_a_packed_file(tmp_path: Path) -> None:
    assert read_table(put(tmp_path, gzip.compress(b"a,b\n1,2\n"), "p.q.csv.gz")).source.name == "p.q"


def test_paths_that_are_no_files(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="is a folder"):
        read_table(tmp_path)
    with pytest.raises(DataError, match="no such file"):
        read_table(tmp_path / "absent.csv")
    with pytest.raises(DataError, match="cannot be read"):
        read_table(put(tmp_path, "a,b\n1,2\n") / "b")
    with pytest.raises(DataError, match="is a device or a pipe"):
        read_table(os.devnull)
    with pytest.raises(DataError, match="is not Parquet"):
        read_table(put(tmp_path, "a,b\n1,2\n", "x.parquet"))


def test_a_file_without_read_permission(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = put(tmp_path, "a,b\n1,2\n")
    path.chmod(0)
    if os.access(path, os.R_OK):  # root may read everything, so the refusal is played

        def refuse(*_: object, **__: object) -> None:
            raise PermissionError(13, "Permission denied")

        monkeypatch.setattr("builtins.open", refuse)
    with pytest.raises(DataError, match="no permission to read it"):
        read_table(path)
