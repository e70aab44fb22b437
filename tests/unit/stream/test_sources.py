"""Where a stream comes from, and going on after a stop."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import pytest

from shoal.errors import DataError
from shoal.stream.sources import ByteSource, FileSource, FolderSource, PipeSource, RecordSource, open_source


def everything(source: ByteSource) -> bytes:
    found = b""
    while (piece := source.more(None)) is not None:
        found += piece
    source.close()
    return found


def test_a_file_goes_on_from_a_place(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"0123456789")
    source = FileSource(tmp_path / "a")
    source.skip(4, {})
    assert everything(source) == b"456789"
    with pytest.raises(DataError, match="ends before the place"):
        FileSource(tmp_path / "a").skip(12, {})


def test_a_packed_file_goes_on_from_a_place(tmp_path: Path) -> None:
    (tmp_path / "a.gz").write_bytes(gzip.compress(b"0123456789"))
    for n_bytes in (0, 4, 10):
        source = FileSource(tmp_path / "a.gz")
        source.skip(n_bytes, {})
        assert everything(source) == b"0123456789"[n_bytes:]
    (tmp_path / "b.gz").write_bytes(gzip.compress(b"0123456789")[:-9])
    with pytest.raises(DataError, match="to its end"):
        everything(FileSource(tmp_path / "b.gz"))


def test_a_pipe_passes_over_what_was_read(tmp_path: Path) -> None:
    for n_bytes in (0, 3, 10):
        reads, writes = os.pipe()
        os.write(writes, b"0123456789")
        os.close(writes)
        with open(reads, "rb") as file:
            source = PipeSource(file)
            source.skip(n_bytes, {})
            assert everything(source) == b"0123456789"[n_bytes:]


def test_the_end_of_the_last_line_may_not_be_there(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"1\n2")
    (tmp_path / "a.gz").write_bytes(gzip.compress(b"1\n2"))
    for source in (FileSource(tmp_path / "a"), FileSource(tmp_path / "a.gz"), RecordSource(iter([b"1\n2"]), 1)):
        source.skip(4, {})  # as it was counted, with an end
        assert everything(source) == b""
    with pytest.raises(DataError, match="ends before the place"):
        FileSource(tmp_path / "a.gz").skip(5, {})


def test_a_pipe_says_that_nothing_came(tmp_path: Path) -> None:
    reads, writes = os.pipe()
    with open(reads, "rb") as file:
        assert PipeSource(file).read(0.0) == b""
        os.close(writes)


def folder(tmp_path: Path) -> Path:
    for name, text in {"b.csv": "x\n3\n4", "a.csv": "x\n1\n2\n", ".c.csv": "x\n9\n", "d.csv": "x\n5\n"}.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def opened(path: Path) -> FolderSource:
    source = FolderSource(path, once=True)
    source.header = b"x\n"
    return source


def test_a_folder_is_read_in_the_order_of_names_with_one_header(tmp_path: Path) -> None:
    assert everything(opened(folder(tmp_path))) == b"x\n1\n2\n3\n4\n5\n"


def test_a_file_with_other_columns_is_refused(tmp_path: Path) -> None:
    (folder(tmp_path) / "b.csv").write_bytes(b"\xef\xbb\xbfx\r\n3\n")
    assert everything(opened(tmp_path)) == b"x\n1\n2\n3\n5\n"
    (tmp_path / "d.csv").write_text("y\n5\n")
    with pytest.raises(DataError, match="does not begin with the header"):
        everything(opened(tmp_path))


@pytest.mark.parametrize("n_bytes", range(13))
def test_a_folder_goes_on_from_a_place_though_files_before_it_are_gone(tmp_path: Path, n_bytes: int) -> None:
    whole = b"x\n1\n2\n3\n4\n5\n"
    first = opened(folder(tmp_path))
    everything(first)
    mark = first.mark(n_bytes)
    for name in ("a.csv", "b.csv", "d.csv"):
        if name < mark["file"]:
            (tmp_path / name).unlink()
    again = FolderSource(tmp_path, once=True)
    again.skip(n_bytes, mark)
    assert everything(again) == whole[n_bytes:]


def test_a_watched_folder_waits_and_finds_what_comes(tmp_path: Path) -> None:
    naps: list[float] = []

    def sleep(seconds: float) -> None:
        naps.append(seconds)
        (tmp_path / f"{len(naps)}.csv").write_text(f"{len(naps)}\n")

    source = FolderSource(tmp_path, once=False, sleep=sleep)
    assert b"".join(piece for _ in range(6) if (piece := source.read(None))) == b"1\n2\n"


def test_records_fill_a_window_at_once() -> None:
    source = RecordSource(iter([b"1\n", b"2\n", b"3\n"]), 2)
    assert [source.read(None) for _ in range(3)] == [b"1\n2\n", b"3\n", None]


def test_what_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="there is no file or folder"):
        open_source(tmp_path / "none", once=True)
    assert isinstance(open_source(tmp_path, once=True), FolderSource)
