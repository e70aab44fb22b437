"""Baskets and SVMlight: what is read, at once or in blocks, and what is refused with its line."""

from __future__ import annotations

import gzip
from itertools import chain, pairwise
from pathlib import Path

import numpy as np
import pytest

from shoal.data import whole_text
from shoal.data.sparse import line_blocks
from shoal.data.sparse.files import looks_like_sparse, read_blocks, read_sparse
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


def labels(records: Sparse) -> list[str]:
    assert records.labels is not None
    return [records.classes[code] for code in records.labels.tolist()]


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


SVM = "+1 3:0.5 1:2 # first 9:9\n# a comment: 1:1\n\n-1\n+1 0:1e-1 0012:-.5\t2:0 \n"


def test_svmlight(tmp_path: Path) -> None:
    path = file(tmp_path, SVM.replace("\n", "\r\n"))
    assert looks_like_sparse(path) == "svmlight"
    records = read_sparse(path)
    assert dicts(records) == [{"1": 2, "3": 0.5}, {}, {"0": 0.1, "12": -0.5}]
    assert labels(records) == ["+1", "-1", "+1"]
    assert records.weights.dtype == np.float64
    assert records.source.format == "svmlight"
    assert records.names == ("0", "1", "12", "2", "3")


def test_whole_values_of_svmlight_are_integers_and_stay(tmp_path: Path) -> None:
    records = read_sparse(file(tmp_path, "1 1:2.0 2:3\n0 1:-1\n"))
    assert dicts(records) == [{"1": 2, "2": 3}, {"1": -1}]
    assert records.weights.dtype == np.int64


def test_query_numbers_are_left_out_with_a_note(tmp_path: Path) -> None:
    records = read_sparse(file(tmp_path, "3 qid:1 1:1 2:1\n1 qid:1 2:1\n"))
    assert dicts(records) == [{"1": 1, "2": 1}, {"2": 1}]
    assert any("2 query numbers" in note for note in records.source.notes)


def test_labels_that_are_measurements_are_noted(tmp_path: Path) -> None:
    records = read_sparse(file(tmp_path, "".join(f"{i}.5 1:1\n" for i in range(30))))
    assert any("measurements" in note for note in records.source.notes)


@pytest.mark.parametrize("token", ["x", "1:", ":1", "1:2:3", "a:1", "-1:1", "1.5:1", "1:x", "1:nan", "1:inf", "1:1_0",
                                   "1:--1", "1:1e", "1:0x1", "1:,", "1" * 19 + ":1", "1:é", "1::", ":"])  # fmt: skip
def test_bad_tokens_of_svmlight_have_their_line(tmp_path: Path, token: str) -> None:
    for rest in (" 7:1\n1 1:2:3\n", "\n1 3:1\n1 4:1\n"):
        path = file(tmp_path, f"# comment\n1 5:1\n\n1 2:1 {token}{rest}")
        with pytest.raises(DataError, match=r"x\.dat, line 4: holds a token that is not index:value"):
            read_sparse(path, format="svmlight")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("1:1 2:1", "does not begin with a label"),
        ("1,2 1:1", "more than one label"),
        ("1 3:1 2:1 3:5", "same index twice"),
        ("1 03:1 3:1", "same index twice"),
        ("1 3:1e400", "no finite number"),
        ("1 3:2147483649", "no finite number"),
        ("1 3:-1e10", "no finite number"),
        ("1 3:1e-300", "no finite number"),
    ],
)
def test_bad_lines_of_svmlight(tmp_path: Path, line: str, message: str) -> None:
    path = file(tmp_path, f"1 1:1\n# 1:1\n0 3:1 1:1\n{line}\n1 1:1\n")
    for read in (read_sparse, lambda p, format: list(read_blocks(p, format=format, records=2))):
        with pytest.raises(DataError, match=f"line 4: .*{message}"):
            read(path, format="svmlight")


def test_lines_are_counted_over_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(whole_text, "_PIECE", 16)
    path = file(tmp_path, "1 1:1 2:1\n" * 20 + "1 1:\n")
    with pytest.raises(DataError, match="line 21: holds a token"):
        read_sparse(path, format="svmlight")
    good = read_sparse(file(tmp_path, "1 1:1 2:1\n" * 20))
    assert dicts(good) == [{"1": 1, "2": 1}] * 20


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


@pytest.mark.parametrize("records", [1, 2, 3, 7, 100])
@pytest.mark.parametrize("piece", [1, 5, 1 << 22])
def test_blocks_are_the_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, records: int, piece: int) -> None:
    monkeypatch.setattr(line_blocks, "_PIECE", piece)
    baskets = file(tmp_path, gzip.compress("a ä\r\n\r\nb a\rc\n\nd 𝄞".encode()))
    blocks = list(read_blocks(baskets, format="baskets", records=records))
    assert list(chain.from_iterable(map(dicts, blocks))) == dicts(read_sparse(baskets))
    assert [len(b) for b in blocks] == [min(records, 6 - at) for at in range(0, 6, records)]
    svm = file(tmp_path, SVM)
    parts = list(read_blocks(svm, format="svmlight", records=records))
    whole = read_sparse(svm)
    assert list(chain.from_iterable(map(dicts, parts))) == dicts(whole)
    assert list(chain.from_iterable(map(labels, parts))) == labels(whole)
    assert all(part.weights.dtype == np.float64 for part in parts)


def test_blocks_over_pieces_have_the_right_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(line_blocks, "_PIECE", 6)
    blocks = read_blocks(file(tmp_path, "a\nb\nc\nd\ne\n"), format="baskets", records=2)
    assert [block.names for block in blocks] == [("a", "b"), ("c", "d"), ("e",)]


def test_blocks_stay_real_after_a_real_one(tmp_path: Path) -> None:
    path = file(tmp_path, "1 1:1\n1 1:0.5\n1 1:1\n")
    kinds = [block.weights.dtype.kind for block in read_blocks(path, format="svmlight", records=1)]
    assert kinds == ["i", "f", "f"]


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


def test_options_of_blocks(tmp_path: Path) -> None:
    path = file(tmp_path, "a b\n")
    with pytest.raises(PolicyError, match="not read in blocks"):
        read_blocks(path, format="folder")
    with pytest.raises(PolicyError, match="give 1 or more"):
        read_blocks(path, format="baskets", records=0)
    with pytest.raises(DataError, match="no such file"):
        list(read_blocks(tmp_path / "missing", format="baskets"))
    with pytest.raises(DataError, match="no such file"):
        read_sparse(tmp_path / "missing")


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
