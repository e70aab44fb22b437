"""The tests of `data/sniff.py`."""

from __future__ import annotations

import gzip
import hashlib
import json
import sys
import zipfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import shoal
from shoal.check.tables.publication import verify_publication
from shoal.data.sniff import SAMPLE, look, one_look
from shoal.data.tables.files import read_table
from shoal.errors import DataError

pytestmark = pytest.mark.unattacked


def test_what_is_seen(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"\xef\xbb\xbfone\ntwo\n")
    seen = look(path)
    assert (seen.is_gzip, seen.is_parquet, seen.is_whole, seen.lines) == (False, False, True, [b"one", b"two"])
    path.write_text("ein\nzwei\n", encoding="utf-16")
    assert look(path).lines == [b"ein", b"zwei"]
    path.write_bytes(b"PAR1...")
    assert look(path).is_parquet


def test_a_line_that_is_cut_is_not_told(tmp_path: Path) -> None:
    path = tmp_path / "long.txt"
    path.write_bytes(b"0123456789\n" * 10_000)
    seen = look(path)
    assert len(seen.sample) == SAMPLE
    assert set(seen.lines) == {b"0123456789"}


@pytest.mark.parametrize("n_members", [1, 3])
def test_a_compressed_file_is_seen_through(tmp_path: Path, n_members: int) -> None:
    path = tmp_path / "a.gz"
    path.write_bytes(b"".join(gzip.compress(b"line %d\n" % i * 20_000, mtime=0) for i in range(n_members)))
    assert set(look(path).lines) == {b"line 0"}
    path.write_bytes(b"".join(gzip.compress(b"line %d\n" % i, mtime=0) for i in range(n_members)))
    assert look(path).lines == [b"line %d" % i for i in range(n_members)]


def test_a_damaged_one_is_told_so_when_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.gz"
    whole = gzip.compress(bytes(range(256)) * 40, mtime=0)
    path.write_bytes(whole[:-20])
    assert look(path).is_gzip
    with pytest.raises(DataError, match="cut short"):
        _ = look(path).sample
    path.write_bytes(whole[:20] + b"\xff" * 40 + whole[60:])
    with pytest.raises(DataError, match="damaged"):
        _ = look(path).sample


def test_a_folder_and_a_missing_file_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="is a folder"):
        look(tmp_path)
    with pytest.raises(DataError, match="no such file"):
        look(tmp_path / "none")


def test_within_a_block_a_file_is_looked_at_once_and_anew_after_it(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("one\n")
    with one_look(), one_look():
        first = look(path)
        assert look(str(path)) is first
    path.write_text("two\n")
    assert look(path).lines == [b"two"]


@contextmanager
def openings(*names: str) -> Iterator[Counter[str]]:
    """How often the interpreter opens files of these names."""
    opened: Counter[str] = Counter()
    is_on = True

    def hook(event: str, args: tuple[object, ...]) -> None:
        if is_on and event == "open" and Path(str(args[0])).name in names:
            opened[Path(str(args[0])).name] += 1

    sys.addaudithook(hook)
    try:
        yield opened
    finally:
        is_on = False


@pytest.mark.parametrize("with_report", [False, True])
@pytest.mark.parametrize("is_packed", [False, True])
def test_the_walk_of_a_table_goes_once_through_everything(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, with_report: bool, is_packed: bool
) -> None:
    """The input is opened once to be told and once to be read, the manifest read once, the checker run once.

    Its checksum, which a report tells, is found while it is read. What duckdb scans it opens by itself.
    """
    name = "people.csv.gz" if is_packed else "people.csv"
    path = tmp_path / name
    text = "age,disease\n" + "".join(f"{20 + i % 9},{'ab'[i % 2]}\n" for i in range(60))
    path.write_bytes(gzip.compress(text.encode()) if is_packed else text.encode())
    policy = shoal.Policy.of(quasi=["age"], sensitive=["disease"], k=3)
    n_checks = 0

    def counted(*args: Any, **options: Any) -> Any:
        nonlocal n_checks
        n_checks += 1
        return verify_publication(*args, **options)

    monkeypatch.setattr("shoal.kinds.tables.release.verify_publication", counted)
    with openings(name, "manifest.json") as opened:
        shoal.anonymize(path, policy, seed=1).save(tmp_path / "out", report=with_report)
        assert opened[name] == 2
        assert n_checks == 1
        for walk in (shoal.check, shoal.attack):
            opened.clear()
            walk(tmp_path / "out", path)
            assert opened == {name: 2, "manifest.json": 1}
    if with_report:
        told = json.loads((tmp_path / "out" / "private" / "report.json").read_text("utf-8"))["report"]["provenance"]
        assert told["sources"] == [[name, hashlib.sha256(path.read_bytes()).hexdigest()]]


@pytest.mark.parametrize(
    ("start", "what"),
    [
        (b"RDX3\nX\n", "saved by R"),
        (gzip.compress(b"X\n\x00\x00\x00\x03rest"), "saved by R"),
        (b"\x80\x04\x95abc", "pickled by Python"),
        (b"\x93NUMPY\x01", "NumPy"),
        (b"\x89HDF\r\n\x1a\n", "HDF5"),
        (b"\x89PNG\r\n\x1a\n", "PNG"),
        (b"\xef\xbb\xbf<!DOCTYPE HTML><html>", "web page"),
        (b"<?xml version='1.0'?>", "XML"),
        (b"\x7fELF\x02\x01", "a program"),
        (b"people.csv".ljust(257, b"\x00") + b"ustar", "tar archive"),
        (b'[{"age": 3}, {"age": 4}]', "JSON array"),
        (b'\n[\n  {\n "age": 3}]', "JSON array"),
        (b"Obj\x01avro", "Avro"),
    ],
)
def test_files_that_no_reader_knows_are_called_by_their_format(tmp_path: Path, start: bytes, what: str) -> None:
    (tmp_path / "data.csv").write_bytes(start)
    with pytest.raises(DataError, match=what):
        read_table(tmp_path / "data.csv")


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("x.dta", "a Stata"),
        ("x.SAS7BDAT", "a SAS"),
        ("x.sav", "an SPSS"),
        ("x.xpt", "a SAS transport"),
        ("x.xlsx", "an Excel"),
    ],
)
def test_a_name_that_says_more_than_the_file_holds(tmp_path: Path, name: str, what: str) -> None:
    (tmp_path / name).write_bytes(b"\x00\x01 something else, and much of it")
    with pytest.raises(DataError, match=f"is not {what}.*though its name says so"):
        read_table(tmp_path / name)
    (tmp_path / name).write_text("age,sex\n1,f\n2,m\n", encoding="utf-8")
    with pytest.raises(DataError, match=f"is not {what}"):
        read_table(tmp_path / name)


def test_documents_that_are_no_workbooks(tmp_path: Path) -> None:
    for name, part, content in (
        ("a.docx", "word/document.xml", "<w/>"),
        ("a.ods", "mimetype", "application/vnd.oasis.opendocument.spreadsheet"),
    ):
        with zipfile.ZipFile(tmp_path / name, "w") as archive:
            archive.writestr(part, content)
            archive.writestr("[Content_Types].xml" if name == "a.docx" else "content.xml", "<a/>")
        with pytest.raises(DataError, match=r"a Word document" if name == "a.docx" else "OpenDocument"):
            read_table(tmp_path / name)
