"""Baskets and SVMlight: what is read, at once or in blocks, and what is refused with its line."""

from __future__ import annotations

import gzip
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from shoal.data.sparse.files import looks_like_item_lists, looks_like_sparse, read_blocks, read_sparse
from shoal.data.sparse.records import Sparse
from shoal.errors import DataError, PolicyError


def file(folder: Path, content: bytes | str, name: str = "x.dat") -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def dicts(records: Sparse) -> list[dict[str, float]]:
    ends = records.starts.tolist()
    pairs = [(records.names[i], w) for i, w in zip(records.items.tolist(), records.weights.tolist(), strict=True)]
    return [dict(pairs[a:b]) for a, b in pairwise(ends)]


def test_other_encodings_are_told(tmp_path: Path) -> None:
    utf16 = read_sparse(file(tmp_path, "käse brot\n".encode("utf-16")))
    assert dicts(utf16) == [{"brot": 1, "käse": 1}]
    assert any("UTF-16" in note for note in utf16.source.notes)
    windows = read_sparse(file(tmp_path, "käse\n".encode("cp1252")))
    assert dicts(windows) == [{"käse": 1}]
    assert any("Windows-1252" in note for note in windows.source.notes)


def test_gzip(tmp_path: Path) -> None:
    records = read_sparse(file(tmp_path, gzip.compress(b"a b\nc\n"), "x.dat.gz"))
    assert dicts(records) == [{"a": 1, "b": 1}, {"c": 1}]
    assert records.source.gzip
    assert records.source.name == "x"


@pytest.mark.parametrize("format", ["baskets", "svmlight"])
@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b"\n \n\t\r\n", "only blank lines"),
        (b"1 1:1\n1 1\0:1\n", "line 2: holds a NUL"),
        pytest.param(
            gzip.compress(b"1 1:1\n" * 9, mtime=0)[:-12], "gzip file is (cut short|damaged)", id="packed, cut short"
        ),
        pytest.param(
            gzip.compress(b"1 1:1\n" * 9, mtime=0)[:-8] + b"12345678", "gzip file is damaged", id="packed, damaged"
        ),
        (b"PK\x03\x04\0\0\0", "zip archive"),
        (b"PAR1\0\0\0", "Parquet"),
        (b"1 1:1\n1 \x81\xff:1\n", "line 2: (neither UTF-8 nor Windows-1252|is not valid UTF-8)"),
        ("1 1:1\n".encode("utf-16")[:-1], "(?i)not valid utf-16"),
    ],
)
def test_what_is_no_text_is_refused(tmp_path: Path, format: str, content: bytes, message: str) -> None:
    path = file(tmp_path, content)
    with pytest.raises(DataError, match=message):
        read_sparse(path, format=format)
    with pytest.raises(DataError, match=message):
        list(read_blocks(path, format=format))
    assert looks_like_sparse(path) in (None, "svmlight")


def test_comments_alone_are_no_records(tmp_path: Path) -> None:
    path = file(tmp_path, "# 1 1:1\n#\n")
    assert looks_like_sparse(path) is None
    with pytest.raises(DataError, match="nothing but comments"):
        read_sparse(path, format="svmlight")
    with pytest.raises(DataError, match="nothing but comments"):
        list(read_blocks(path, format="svmlight", records=1))


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("1 1:1\n", "svmlight"),
        ("+1 1:0.5 3:1e5 # c\n-1\n", "svmlight"),
        ("1,2 1:1\n", "svmlight"),
        ("1 qid:5 1:1\n", "svmlight"),
        ("1\n2\n", None),
        ("1 2 3\n", None),
        ("1:1 2:1\n", None),
        ("spam 1:1\n", None),
        ("1 1:1\nmilk bread\n", None),
        ("a,b\n1,2\n", None),
        (">x\nMKV\n", None),
        ("", None),
    ],
)
def test_only_sure_signs_tell(tmp_path: Path, content: str, told: str | None) -> None:
    path = file(tmp_path, content)
    assert looks_like_sparse(path) == told
    assert looks_like_sparse(file(tmp_path, gzip.compress(content.encode()))) == told


def test_a_long_file_is_told_without_its_cut_line(tmp_path: Path) -> None:
    assert looks_like_sparse(file(tmp_path, "1 12345:1.25 99999:1\n" * 5000)) == "svmlight"
    assert looks_like_sparse(tmp_path / "missing") is None
    assert looks_like_sparse(tmp_path) is None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"format": "basket"}, "did you mean 'baskets'"),
        ({"format": "baskets", "column": "a"}, "a column is for tables"),
        ({"format": "svmlight", "class_column": "a"}, "a column is for tables"),
        ({"format": "svmlight", "delimiter": ","}, "a delimiter is for baskets"),
        ({"format": "baskets", "weights": "tfidf"}, "'tfidf' are for text"),
        ({"weights": "count"}, "did you mean 'counts'"),
        ({"stop_words": "german"}, "no stop words 'german'"),
        ({"ngrams": 0}, "ngrams from 1 to 5"),
        ({"delimiter": "ab"}, "is not usable"),
    ],
)
def test_options_that_do_not_go_together(tmp_path: Path, options: dict[str, str], message: str) -> None:
    with pytest.raises(PolicyError, match=message):
        read_sparse(file(tmp_path, "a b\n"), **options)  # type: ignore[arg-type]  # one of them is a number


def test_a_message_never_quotes_the_record(tmp_path: Path) -> None:
    path = file(tmp_path, "1 5:1\nsecret 8:secret\n")
    with pytest.raises(DataError) as caught:
        read_sparse(path, format="svmlight")
    assert "secret" not in str(caught.value)


def test_t10i4d100k(shared_data: Path) -> None:
    path = shared_data / "t10i4d100k" / "T10I4D100K.dat.gz"
    records = read_sparse(path)
    assert (len(records), records.n_items, records.n_occurring, len(records.items)) == (100_000, 870, 870, 1_010_228)
    assert records.is_binary
    assert looks_like_sparse(path) is None
    assert dicts(records.take(np.array([2]))) == [dict.fromkeys("35 249 674 712 733 759 854 950".split(), 1)]
    n_entries = [len(block.items) for block in read_blocks(path, format="baskets", records=30_000)]
    assert len(n_entries) == 4
    assert sum(n_entries) == 1_010_228


@pytest.mark.parametrize(
    ("content", "name", "is_lists"),
    [
        ("1 2\n3\n2 3 4\n", "x.dat", True),
        ("bread milk\nbeer bread eggs\nmilk\neggs beer bread milk\n", "x.dat", True),
        ("bread milk\nbeer bread eggs\nmilk\neggs beer bread milk\n", "x.csv", False),
        ("name town\nbeer bread eggs\nmilk\neggs beer bread milk\n", "x.dat", False),  # a header is on no other line
        ("the cat\nsaw the dog and the cat\nthe\ncat saw the\n", "x.txt", False),  # a text repeats its words
        ("a,b\nb,a\na\nb a\n", "x.dat", False),
    ],
)
def test_files_of_baskets_are_no_tables(tmp_path: Path, content: str, name: str, is_lists: bool) -> None:
    assert looks_like_item_lists(file(tmp_path, content, name)) is is_lists
