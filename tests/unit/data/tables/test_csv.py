"""Delimited text: what is read, what is refused, and on which line."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest

from shoal.data.memory import bounded
from shoal.data.tables import csv as text_file
from shoal.data.tables.files import read_table
from shoal.data.tables.format import HowToRead
from shoal.data.tables.table import Table
from shoal.errors import DataError


def put(folder: Path, content: bytes | str, name: str = "people.csv") -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def cells(table: Table) -> dict[str, list[str]]:
    return {n: [c.texts()[code] for code in c.codes] for n, c in table.columns.items()}


def test_cells_keep_their_spelling_and_order(tmp_path: Path) -> None:
    table = read_table(put(tmp_path, "zip,score\n007,1.50\n10, 2\n007,\n9,?\n"))
    assert cells(table) == {"zip": ["007", "10", "007", "9"], "score": ["1.50", " 2", "", "?"]}
    assert table["zip"].values.tolist() == ["007", "10", "9"]
    assert table["score"].values.tolist() == [" 2", "1.50"]
    assert table["score"].markers == ("", "?")
    assert table["score"].missing.tolist() == [False, False, True, True]
    assert table["zip"].codes.dtype == np.int32
    assert (table.source.name, table.source.format, table.source.delimiter) == ("people", "csv", ",")


def test_markers_can_be_given(tmp_path: Path) -> None:
    table = read_table(put(tmp_path, "a,b\n-,x\n?,y\n"), markers=["-"])
    assert table["a"].markers == ("-",)
    assert table["a"].values.tolist() == ["?"]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("last", [True, False])
def test_line_ends(tmp_path: Path, end: str, last: bool) -> None:
    text = end.join(["a,b", "1,x", '2,"y,z"']) + (end if last else "")
    assert cells(read_table(put(tmp_path, text))) == {"a": ["1", "2"], "b": ["x", "y,z"]}


def test_mixed_line_ends_and_blank_lines(tmp_path: Path) -> None:
    table = read_table(put(tmp_path, "a,b\r\n1,x\n2,y\r\n\r\n\n3,z\r\n\n\n"))
    assert cells(table) == {"a": ["1", "2", "3"], "b": ["x", "y", "z"]}


def test_quoted_cells(tmp_path: Path) -> None:
    table = read_table(put(tmp_path, 'a,b\n"line\nbreak","say ""hi"""\n"",\n5" pipe,"a,b"\n'))
    assert cells(table) == {"a": ["line\nbreak", "", '5" pipe'], "b": ['say "hi"', "", "a,b"]}


def test_a_single_column_with_an_empty_cell(tmp_path: Path) -> None:
    assert cells(read_table(put(tmp_path, 'only\nx\n""\n\ny\n\n'))) == {"only": ["x", "", "y"]}


def test_header_names_are_stripped(tmp_path: Path) -> None:
    assert read_table(put(tmp_path, ' a , "b"\n1,2\n')).names[0] == "a"


def test_the_blank_after_each_delimiter_goes_with_a_note(tmp_path: Path) -> None:
    table = read_table(put(tmp_path, "a, b\n1, x\n2, ?\n"))
    assert cells(table) == {"a": ["1", "2"], "b": ["x", "?"]}
    assert table["b"].missing.tolist() == [False, True]
    assert table.source.notes == ("the blanks after the delimiters were removed",)
    quoted = read_table(put(tmp_path, 'a, b\n1, "x, y"\n2, z\n'))
    assert cells(quoted) == {"a": ["1", "2"], "b": ["x, y", "z"]}


def test_one_delimiter_without_blank_keeps_all_blanks(tmp_path: Path) -> None:
    table = read_table(put(tmp_path, "a,b\n1, x\n2,y\n"))
    assert cells(table)["b"] == [" x", "y"]
    assert table.source.notes == ()


def test_gzip_in_several_members_and_under_any_name(tmp_path: Path) -> None:
    packed = gzip.compress(b'a,b\n1,"2"\n') + gzip.compress(b"3,4\n")
    table = read_table(put(tmp_path, packed, "odd[1]*.txt"))
    assert cells(table) == {"a": ["1", "3"], "b": ["2", "4"]}
    assert table.source.name == "odd[1]*"


@pytest.mark.parametrize("quote", ["", '"'])
def test_very_long_cells(tmp_path: Path, quote: str) -> None:
    long = "x" * 3_000_000
    table = read_table(put(tmp_path, f"a,b\n1,{quote}{long}{quote}\n2,y\n"))
    assert table["b"].values.tolist() == [long, "y"]


def test_many_distinct_texts_go_another_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = put(tmp_path, "a,b\n" + "".join(f"{i * 7 % 101},{i % 3}\n" for i in range(101)))
    expected = cells(read_table(path))
    monkeypatch.setattr(text_file, "_FEW_DISTINCT", 10)
    assert cells(read_table(path)) == expected


def test_many_columns_of_few_rows_are_read_by_the_careful_reader(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cells = [[f"{(i * j) % 7}" for j in range(60)] for i in range(9)]
    lines = [",".join(f"c{j}" for j in range(60)), *map(",".join, cells)]
    (tmp_path / "wide.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    wide = read_table(tmp_path / "wide.csv")
    monkeypatch.setattr(text_file, "_MANY_COLUMNS", 1000)
    fast = read_table(tmp_path / "wide.csv")
    monkeypatch.setattr(text_file, "_read_regular", None)  # which would fail if it were called
    monkeypatch.setattr(text_file, "_MANY_COLUMNS", 60)
    again = read_table(tmp_path / "wide.csv")
    for name in wide.names:
        assert wide[name].texts() == fast[name].texts() == again[name].texts()
        assert wide[name].codes.tolist() == fast[name].codes.tolist()


def test_the_careful_reader_takes_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = put(tmp_path, "a,b\n1,2\n3,?\n")
    expected = cells(read_table(path))
    monkeypatch.setattr(text_file, "_read_regular", lambda *_: None)
    assert cells(read_table(path)) == expected


SECRET = "Ms-Secret"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b"\n\r\n  \n", "holds only blank lines"),
        (b"\xef\xbb\xbf", "is empty"),
        (b"a,b\n", "has a header but no rows"),
        (b"a,b", "has a header but no rows"),
        (b"a,b\n\n\n", "has a header but no rows"),
        (b"a,b,a\n1,2,Ms-Secret\n", "columns 1 and 3 have the same name"),
        (b"a,b, a \n1,2,Ms-Secret\n", "columns 1 and 3 have the same name"),
        (b"a,,c\n1,2,Ms-Secret\n", "column 2 has no name"),
        (b"a,b, \n1,2,Ms-Secret\n", "column 3 has no name"),
        (b"a,b\n1,2\nMs-Secret\n", "line 3: has 1 field where the header has 2"),
        (b"a,b\n1,2\n\nMs-Secret,1,2\n", "line 4: has 3 fields where the header has 2"),
        (b"a,b\n1,2\nMs-Secret,1,\n", "line 3: has 3 fields where the header has 2"),
        (b'a,b\n"x\ny",2\nMs-Secret,1,\n', "line 4: has 3 fields where the header has 2"),
        (b'a,b\n"x,","1",\n3,4\n', "line 2: has 3 fields"),
        (b'a,b\n1,2\n"Ms-Secret,2\n3,4\n', "line 3: a quote opens"),
        (b'a,b\n1,"Ms-Secret"x\n', "line 2: a quote opens"),
        (b'a,"b\n1,2\n', "line 1: a quote opens"),
        (b"a,b\r1,2\rMs-Secret\r", "line 3: has 1 field"),
        (b"a,b\n1,2\nMs-Secret,\0\n", "line 3: holds a NUL byte"),
        (b"a,b\n1,2\n\x81\x8d,Ms-Secret\n", "line 3: neither UTF-8 nor Windows-1252"),
        ("a,b\n1,Ms-Secret\n".encode("utf-16-le"), "line 1: holds a NUL byte"),
        (b"\xff\xfea\0,\0b\0\n\0x", "line 2: not valid utf-16"),
        pytest.param(
            gzip.compress(b"a,b\n1,Ms-Secret\n" * 99, mtime=0)[:-12], "gzip file is cut short", id="packed, cut short"
        ),
        pytest.param(
            gzip.compress(b"a,b\n1,Ms-Secret\n", mtime=0)[:-6] + b"abcdef", "gzip file is damaged", id="packed, damaged"
        ),
        (b"\x1f\x8b" + b"rubbish" * 9, "gzip file is damaged"),
        pytest.param(gzip.compress(b"", mtime=0), "is empty", id="packed, is empty"),
        (b"PK\x03\x04aaaa", "zip archive or spreadsheet is damaged"),
    ],
)
def test_broken_files_are_refused_in_one_sentence(tmp_path: Path, content: bytes, message: str) -> None:
    path = put(tmp_path, content)
    with pytest.raises(DataError, match=message) as caught:
        read_table(path)
    text = str(caught.value)
    assert text.startswith(str(path))
    assert "\n" not in text
    assert SECRET not in text


@pytest.mark.parametrize(
    ("name", "n_rows", "n_columns", "delimiter"),
    [
        ("adult/arx_adult.csv.gz", 30_162, 9, ";"),
        ("diabetes130/diabetic_data.csv.gz", 101_766, 50, ","),
        ("sdcmicro_testdata/testdata.csv", 4_580, 15, ","),
        ("newsgroups20/20news_bydate.csv.gz", 18_846, 4, ","),
    ],
)
def test_real_files(shared_data: Path, name: str, n_rows: int, n_columns: int, delimiter: str) -> None:
    table = read_table(shared_data / name)
    assert (table.n_rows, len(table.names)) == (n_rows, n_columns)
    assert table.source.delimiter == delimiter


EXPECTED = {
    "all of them": [["x", "y", "", "'q"], ["1", "2"]],
    "more than there are": [["x", "y", "", "'q", "z", "?"], ["1", "2", "3", "x"]],
    "the same twice": [["x", "x", "y", "", "'q"], ["2", "1", "1"]],
    "not all": [["x", "y"], ["1", "2"]],
    "none": [[], []],
    "of other columns": [["x", "y", "", "'q"]],
}


@pytest.mark.parametrize("expected", EXPECTED.values(), ids=EXPECTED.keys())
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_what_is_expected_changes_nothing(tmp_path: Path, expected: list[list[str]], line_end: str) -> None:
    rows = ["a,b", "x,1", "y,2", ",1", "'q,2", "x,1"]
    path = put(tmp_path, line_end.join(rows) + line_end)
    plain, _ = text_file.read_text(path, HowToRead(["?", ""]), gzipped=False)
    looked_up, _ = text_file.read_text(path, HowToRead(["?", ""]), gzipped=False, expected=expected)
    for a, b in zip(plain, looked_up, strict=True):
        assert (a.name, a.codes.tolist(), a.values.tolist(), a.markers) == (
            b.name,
            b.codes.tolist(),
            b.values.tolist(),
            b.markers,
        )
        assert a.codes.dtype == b.codes.dtype


def test_expected_texts_spare_a_pass_over_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = put(tmp_path, "a,b\nx,1\ny,2\n")
    found: list[object] = []
    kept = text_file._by_expected
    monkeypatch.setattr(text_file, "_by_expected", lambda *given: found.append(kept(*given)) or found[-1])
    text_file.read_text(path, HowToRead(()), gzipped=False, expected=[["x", "y"], ["1", "2"]])
    text_file.read_text(path, HowToRead(()), gzipped=False, expected=[["x", "y"], ["1", "other"]])
    assert found[0] is not None
    assert found[1] is None


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ("5," + "x" * 40_000_000, r"line 3: has more than 31\.2 MB, too many for the bound on memory"),
        (
            '5,"' + "x\n" * 20_000_000 + '"',
            "line 3: a cell that begins in this row is too long for the bound on memory",
        ),
    ],
    ids=["line", "cell"],
)
@pytest.mark.parametrize("suffix", [".csv", ".csv.gz"])
def test_under_a_bound_an_enormous_line_or_cell_is_not_held_to_say_what_is_wrong(
    tmp_path: Path, row: str, told: str, suffix: str
) -> None:
    """As of a small file that unpacks to a single line."""
    path = tmp_path / f"people{suffix}"
    text = f"age,note\n4,a\n{row}\n4,a\n".encode()
    path.write_bytes(gzip.compress(text, 1) if suffix.endswith(".gz") else text)
    with bounded(500_000_000), pytest.raises(DataError, match=told):
        read_table(path, drops=lambda _: False)
