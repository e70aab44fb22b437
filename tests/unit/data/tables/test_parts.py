"""Which files a folder, or a pattern, means, and which columns their folders name."""

from __future__ import annotations

import os
from pathlib import Path

import duckdb
import pytest

from shoal.data.sniff import PARQUET
from shoal.data.tables.parts import Parts, look_at, parts_of
from shoal.errors import DataError


def put(folder: Path, *names: str, start: bytes = PARQUET) -> Path:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(start)
    return folder


def names(parts: Parts | None, folder: Path) -> list[str]:
    assert parts is not None
    return [str(file.relative_to(folder)) for file in parts.files]


def test_a_folder_is_all_its_files_but_those_that_hold_no_data(tmp_path: Path) -> None:
    put(tmp_path, "b.parquet", "a", "deep/er/c.pq")
    put(tmp_path, "_SUCCESS", ".a.crc", "a.crc", "_temporary/0/x", ".hidden/y.parquet", "_metadata", start=b"")
    assert names(parts_of(tmp_path), tmp_path) == ["a", "b.parquet", "deep/er/c.pq"]
    put(tmp_path / "keyed", "_key=1/d.parquet")
    assert names(parts_of(tmp_path / "keyed"), tmp_path) == ["keyed/_key=1/d.parquet"]


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("*.parquet", ["a.parquet", "b.parquet"]),
        ("?.parquet", ["a.parquet", "b.parquet"]),
        ("[b-z].parquet", ["b.parquet"]),
        ("in*", ["in-1/c.parquet", "in-1/deep/d.parquet", "in-2/e.parquet"]),
        ("in-*/*.parquet", ["in-1/c.parquet", "in-2/e.parquet"]),
        ("**/*.parquet", ["a.parquet", "b.parquet", "in-1/c.parquet", "in-1/deep/d.parquet", "in-2/e.parquet"]),
        ("*/deep/d.parquet", ["in-1/deep/d.parquet"]),
    ],
)
def test_a_pattern_is_the_files_that_it_names(tmp_path: Path, pattern: str, expected: list[str]) -> None:
    put(tmp_path, "a.parquet", "b.parquet", "in-1/c.parquet", "in-1/deep/d.parquet", "in-2/e.parquet")
    put(tmp_path, ".z.parquet", "in-1/_z.parquet", start=b"")
    assert names(parts_of(tmp_path / pattern), tmp_path) == expected


def test_what_is_one_file_is_no_pattern(tmp_path: Path) -> None:
    put(tmp_path, "a[1]*.parquet", "a1x.parquet")
    assert parts_of(tmp_path / "a[1]*.parquet") is None
    assert parts_of(tmp_path / "absent.parquet") is None
    assert parts_of(tmp_path / ("x" * 400)) is None
    assert parts_of(Path("a\0b")) is None
    assert look_at(tmp_path / "a[1]*.parquet").raw == PARQUET


def test_folders_name_columns(tmp_path: Path) -> None:
    put(tmp_path, "year=2020/town=M%C3%BCnster/a", "year=2021/town=__HIVE_DEFAULT_PARTITION__/b", "year=2021/town=/c")
    parts = parts_of(tmp_path)
    assert parts is not None
    assert parts.keys == {"year": ("2020", "2021", "2021"), "town": ("Münster", None, None)}
    assert (parts.is_whole("year"), parts.is_whole("town")) == (True, False)
    some = parts_of(tmp_path / "year=2021" / "*")
    assert some is not None
    assert some.keys == {"town": (None, None)}
    assert not some.is_whole("town")


@pytest.mark.parametrize(
    ("cells", "is_whole"),
    [
        (("0", "-5", "12"), True),
        (("01", "12"), False),
        (("1.0",), False),
        (("-0",), False),
        ((" 1",), False),
        (("9" * 19,), False),
        ((None, "7"), True),
    ],
)
def test_numbers_are_those_that_are_spelled_in_one_way(cells: tuple[str | None, ...], is_whole: bool) -> None:
    assert Parts((), {"x": cells}).is_whole("x") == is_whole


def test_what_is_no_table_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="is a folder without a file of data"):
        parts_of(tmp_path)
    with pytest.raises(DataError, match=r"\*.parquet: no file has such a name"):
        parts_of(tmp_path / "*.parquet")
    put(tmp_path, "x/a.parquet")
    put(tmp_path, "x/notes.txt", start=b"")
    with pytest.raises(DataError, match=r"its notes.txt is not a Parquet file.* name the others by a pattern"):
        parts_of(tmp_path / "x")
    os.mkfifo(tmp_path / "x" / "b.parquet")
    with pytest.raises(DataError, match=r"its b\.parquet is a device or a pipe"):
        parts_of(tmp_path / "x" / "*.parquet")


def test_folders_that_name_other_columns_are_refused(tmp_path: Path) -> None:
    put(tmp_path, "one/year=1/a", "one/b", "two/x=1/x=2/a")
    with pytest.raises(DataError, match="its year=1/a lies in folders that name other columns than those of b"):
        parts_of(tmp_path / "one")
    with pytest.raises(DataError, match="folders name the column 'x' twice"):
        parts_of(tmp_path / "two")


def test_links_are_followed_but_not_in_a_circle(tmp_path: Path) -> None:
    put(tmp_path, "far/a", "x/b")
    (tmp_path / "x" / "c").symlink_to(tmp_path / "far")
    assert names(parts_of(tmp_path / "x"), tmp_path) == ["x/b", "x/c/a"]
    (tmp_path / "far" / "back").symlink_to(tmp_path / "x")
    with pytest.raises(DataError, match="the folder links back to one that it lies in"):
        parts_of(tmp_path / "x")
    (tmp_path / "x" / "c").unlink()
    (tmp_path / "x" / "gone").symlink_to(tmp_path / "nowhere")
    with pytest.raises(DataError, match="its gone cannot be read"):
        parts_of(tmp_path / "x")


def test_a_folder_that_may_not_be_read_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path, "x/a", "x/b")
    inner, scan = os.scandir, tmp_path / "x"

    def refuse(path: Path) -> object:
        if Path(path) == scan:
            raise PermissionError(13, "Permission denied")
        return inner(path)

    monkeypatch.setattr(os, "scandir", refuse)
    with pytest.raises(DataError, match=r"the folder cannot be read \(Permission denied\)"):
        parts_of(tmp_path)
    with pytest.raises(DataError, match=r"the folder cannot be read \(Permission denied\)"):
        parts_of(tmp_path / "*" / "a")


def test_the_first_of_several_is_looked_at(tmp_path: Path) -> None:
    for name in ("a", "b"):
        duckdb.execute(f"COPY (SELECT '{name}' AS x) TO '{tmp_path / name}' (FORMAT parquet)")
    seen = look_at(tmp_path)
    assert (seen.path, seen.is_parquet, seen.is_whole) == (tmp_path, True, True)
