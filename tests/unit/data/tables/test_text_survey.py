"""The tests of `data/tables/text_survey.py`."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from shoal.data.tables.files import read_table
from shoal.data.tables.table import Table
from shoal.data.tables.text_survey import _Counts, sniff
from shoal.errors import DataError


def put(folder: Path, content: bytes | str, name: str = "people.csv") -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def cells(table: Table) -> dict[str, list[str]]:
    return {n: [c.texts()[code] for code in c.codes] for n, c in table.columns.items()}


@pytest.mark.parametrize(
    ("content", "delimiter"),
    [
        ("a,b\n1,2\n", ","),
        ("a;b\n1,5;2,5\n", ";"),
        ("a\tb\n1,5\t2\n", "\t"),
        ("a|b|c\n1|2|3\n", "|"),
        ('a;b\n"x,y,z";1\n"u,v";2\n', ";"),
        ("single\none\n", ","),
        ("a;b,c;d\n1;2,2;3\n4;5;6\n", ";"),
    ],
)
def test_the_delimiter_is_found(tmp_path: Path, content: str, delimiter: str) -> None:
    assert sniff(content) == delimiter
    assert read_table(put(tmp_path, content)).source.delimiter == delimiter


def test_the_delimiter_can_be_given(tmp_path: Path) -> None:
    path = put(tmp_path, "a:b\n1:2\n")
    assert cells(read_table(path, delimiter=":")) == {"a": ["1"], "b": ["2"]}
    assert read_table(path).names == ["a:b"]
    for bad in ("", "ab", '"', "\n"):
        with pytest.raises(DataError, match="not usable"):
            read_table(path, delimiter=bad)


def test_a_delimiter_outside_ascii(tmp_path: Path) -> None:
    assert cells(read_table(put(tmp_path, "a§b\n1§2\n"), delimiter="§")) == {"a": ["1"], "b": ["2"]}


def test_a_tsv_of_one_column_stays_tab_separated(tmp_path: Path) -> None:
    assert read_table(put(tmp_path, "a\nx\n", "p.tsv")).source.delimiter == "\t"


@pytest.mark.parametrize(
    ("encoding", "note"),
    [
        ("utf-8", None),
        ("utf-8-sig", None),
        ("utf-16", "read as UTF-16, as its first bytes say"),
        ("cp1252", "read as Windows-1252, since it is not UTF-8"),
    ],
)
@pytest.mark.parametrize("is_packed", [False, True])
def test_encodings(tmp_path: Path, encoding: str, note: str | None, is_packed: bool) -> None:
    raw = "näme,b\nMüller,€\nx,ß\n".encode(encoding)
    table = read_table(put(tmp_path, gzip.compress(raw) if is_packed else raw))
    assert cells(table) == {"näme": ["Müller", "x"], "b": ["€", "ß"]}
    assert table.source.notes == ((note,) if note else ())
    assert table.source.gzip == is_packed


def test_an_encoding_can_be_given(tmp_path: Path) -> None:
    path = put(tmp_path, "a,b\nж,1\n".encode("cp1251"))
    assert cells(read_table(path, encoding="cp1251"))["a"] == ["ж"]
    with pytest.raises(DataError, match=r"line 2: not valid utf-8"):
        read_table(path, encoding="utf-8")
    with pytest.raises(DataError, match="no encoding 'klingon'"):
        read_table(path, encoding="klingon")
    with pytest.raises(DataError, match="no encoding 'base64'"):
        read_table(path, encoding="base64")


@given(st.lists(st.text(alphabet=', \r\n"a', max_size=6).map(str.encode), max_size=6))
@example([b"a,", b" a\r", b"\na, a\r\n"])
@example([b"a\n", b"a\r\n"])
@example([b"a,", b",", b" ,"])
def test_counts_over_pieces_are_those_of_the_slow_twin(pieces: list[bytes]) -> None:
    counts, whole = _Counts(","), b"".join(pieces)
    for piece in pieces:
        counts.add(piece)
    inside = [whole[: i + 1].count(b'"') % 2 == 1 for i in range(len(whole))]
    outside = [i for i in range(len(whole)) if whole[i : i + 1] == b"," and not inside[i]]
    spaced = [i for i in outside if whole[i + 1 : i + 2] == b" "]
    assert counts.delimiters == len(outside)
    assert (counts.delimiters == counts.spaced) is (len(outside) == len(spaced))
    assert counts.returns == whole.count(b"\r")
    is_one = counts.returns == 0 or (not counts.is_plain and counts.returns == counts.feeds == counts.pairs)
    assert is_one is (counts.returns == 0 or whole.count(b"\r") == whole.count(b"\n") == whole.count(b"\r\n"))
