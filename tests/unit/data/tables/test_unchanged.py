"""Files that are written to while they are read, and those that are not."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import pytest

from shoal.data import whole_text
from shoal.data.sparse.files import read_sparse
from shoal.data.strings.files import read_strings
from shoal.data.tables import files, parquet
from shoal.data.tables.files import read_table
from shoal.data.tables.unchanged import states_of, unchanged
from shoal.errors import DataError, NotVerified
from tests.unit.kinds.tables.test_large import put


def append(path: Path) -> None:
    with path.open("a") as file:
        file.write("more")


def touch(path: Path) -> None:
    told = path.stat()
    os.utime(path, ns=(told.st_atime_ns, told.st_mtime_ns + 1))


def put_another_in_its_place(path: Path) -> None:
    other, told = path.with_name("other"), path.stat()
    other.write_bytes(path.read_bytes())
    os.utime(other, ns=(told.st_atime_ns, told.st_mtime_ns))
    os.replace(other, path)


@pytest.mark.parametrize("change", [append, touch, put_another_in_its_place, Path.unlink])
def test_a_change_is_seen(tmp_path: Path, change: Callable[[Path], None]) -> None:
    path = tmp_path / "a.txt"
    path.write_text("text")
    with unchanged(path):
        path.read_text()
    with pytest.raises(DataError, match=r"a\.txt: it changed while it was read"), unchanged(path):
        change(path)


def read_what_is_half_written(path: Path) -> None:
    append(path)
    raise DataError("it is damaged")


def test_a_change_is_named_rather_than_what_comes_of_it(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("text")
    with pytest.raises(DataError, match="it changed"), unchanged(path):
        read_what_is_half_written(path)
    with pytest.raises(DataError, match="it is damaged"), unchanged(path):
        raise DataError("it is damaged")


def test_what_it_was_before_counts_whatever_is_found_wrong_and_it_is_said_as_asked(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("text")
    before = states_of(path)
    with unchanged(path, before):
        path.read_text()
    append(path)
    with pytest.raises(DataError, match="another one"), unchanged(path, before, lambda _: DataError("another one")):
        raise NotVerified("a defect")


def test_of_a_folder_each_file_counts_and_so_does_a_new_one(tmp_path: Path) -> None:
    folder = tmp_path / "people"
    folder.mkdir()
    put(folder / "a.parquet", 20)
    put(folder / "b.parquet", 30)
    assert len(states_of(folder)) == len(states_of(tmp_path / "people" / "*.parquet")) == 2
    for change in (lambda: touch(folder / "b.parquet"), lambda: put(folder / "c.parquet", 10)):
        with pytest.raises(DataError, match="it changed"), unchanged(folder):
            change()
    (tmp_path / "empty").mkdir()
    assert states_of(tmp_path / "missing") == states_of(tmp_path / "empty") == states_of(tmp_path / "*.no") == ()


@pytest.mark.parametrize("drops", [None, lambda _: False], ids=["held", "bounded"])
@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_a_scan_during_which_somebody_writes_is_refused(
    tmp_path: Path, form: str, drops: Callable[[str], bool] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file is scanned several times, held or not; it has as many rows as before."""
    path = put(tmp_path / f"people.{form}", 60)
    known = files.FORMATS[form]
    read = known.read

    def read_slowly(*asked: object) -> object:
        found = read(*asked)  # type: ignore[arg-type]
        put(path, 60, seed=1)
        return found

    monkeypatch.setattr(known, "read", read_slowly)
    with pytest.raises(DataError, match="it changed while it was read, so its rows may be of no single table"):
        read_table(path, drops=drops)


def test_columns_of_two_files_are_no_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Columns of Parquet are scanned one by one; another file has come into its place between the first two."""
    path, other = put(tmp_path / "people.parquet", 60), put(tmp_path / "other.parquet", 60, seed=1)
    fetch, names = parquet._fetch, []

    def fetch_slowly(*asked: object) -> object:
        names.append(asked)
        if len(names) == 2:
            os.replace(other, path)
        return fetch(*asked)  # type: ignore[arg-type]  # whatever was asked for

    monkeypatch.setattr(parquet, "_fetch", fetch_slowly)
    with pytest.raises(DataError, match="it changed while it was read"):
        read_table(path)
    assert len(names) > 2


def read_two_tables(path: Path) -> None:
    append(path)
    raise IndexError("of an array that is too short")


def test_whatever_goes_wrong_with_two_tables_is_told_as_what_it_is(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("text")
    with pytest.raises(DataError, match="it changed"), unchanged(path):
        read_two_tables(path)
    with pytest.raises(IndexError), unchanged(path):
        raise IndexError("a defect")


@pytest.mark.parametrize("read", [read_strings, read_sparse])
def test_a_text_that_grows_while_it_is_read_is_refused(
    tmp_path: Path, read: Callable[[Path], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.txt"
    path.write_text("a b c\nb c\n" * 20)
    assert read(path)
    opened = whole_text.open_bytes

    @contextmanager
    def opened_slowly(where: Path, gzipped: bool) -> Iterator[IO[bytes]]:
        with opened(where, gzipped) as stream:
            yield stream
        append(path)

    monkeypatch.setattr(whole_text, "open_bytes", opened_slowly)
    with pytest.raises(DataError, match="it changed while it was read"):
        read(path)
