"""The tests of `data/strings/column.py`."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path

import pytest

from shoal.data.strings.files import read_strings, read_strings_back, string_file_name, write_strings
from shoal.data.strings.formats.column import told_delimiter
from shoal.data.strings.strings import Strings, StringSource
from shoal.data.tables.table import Source
from shoal.errors import DataError


def file(folder: Path, content: bytes | str, name: str = "x.txt") -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def test_a_column_of_a_table(tmp_path: Path) -> None:
    path = file(tmp_path, "id,seq,kind\n1,acgt,x\n2,,y\n3,NA,x\n", "t.csv")
    strings = read_strings(path, column="seq", class_column="kind")
    assert strings.texts() == ["acgt", "", "NA"]
    assert strings.classes == ("x", "y")
    assert string_file_name(strings) == "data.csv"
    write_strings(strings, tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text() == "seq,kind\nacgt,x\n,y\nNA,x\n"
    assert read_strings(path, column="seq", alphabet="dna").texts() == ["ACGT", "", "NA"]
    tokens = read_strings(file(tmp_path, "who\twhat\na\tlog in, buy\nb\t\n", "t.tsv"), column="what", delimiter=",")
    assert tokens.texts() == [["log in", "buy"], []]
    assert string_file_name(tokens) == "data.tsv"


@pytest.mark.parametrize(
    ("cells", "between"),
    [
        (["home>cart>pay", "home > cart", "pay"], ">"),
        (["log in | buy", "buy | log in", "buy"], "|"),
        (["to be or not to be", "not to be"], " "),
        (["a,b", "b,a", "a"], ","),
        (["ATG CCG TTA", "ATG CCG"], None),
        (["atg ccg", "atg ccg"], None),
        (["MKV-LA", "MKVALA"], None),
        (["one two", "three four"], None),  # each word once: texts, and no tokens
        (["ab", "cd", "a>b"], None),
        (["", " "], None),
        ([], None),
    ],
)
def test_tokens_are_told_by_the_cells(tmp_path: Path, cells: list[str], between: str | None) -> None:
    assert told_delimiter(cells) == between
    if between is None or not cells:
        return
    quoted = "".join(f'"{cell}"\n' for cell in cells)
    strings = read_strings(file(tmp_path, f"path\n{quoted}", "t.csv"), column="path", header="first")
    assert strings.texts() == [[t for t in map(str.strip, cell.split(between)) if t] for cell in cells]
    assert strings.source.delimiter == between
    assert any("--alphabet learned" in note for note in strings.source.notes)
    write_strings(strings, tmp_path / "out.csv")
    assert read_strings_back(tmp_path / "out.csv", strings.source).texts() == strings.texts()
    told = read_strings(tmp_path / "t.csv", column="path", header="first", alphabet="learned")
    assert told.texts() == cells


def test_a_column_of_parquet(tmp_path: Path) -> None:
    strings = Strings.of(
        ["=1+1", "", "b"], ["+", "-", "+"], source=StringSource("t", "column", column="s", class_column="c")
    )
    strings = replace(strings, source=replace(strings.source, table=Source("t", "parquet")))
    path = tmp_path / string_file_name(strings)
    assert path.name == "data.parquet"
    write_strings(strings, path)
    for again in (
        read_strings(path, column="s", class_column="c"),
        read_strings_back(path, strings.source),
    ):
        assert again.texts() == strings.texts()
        assert again.classes == ("+", "-")
    with pytest.raises(DataError, match=r"name the column that holds the strings; the choices are 's', 'c'"):
        read_strings(path)


def test_a_cell_that_a_spreadsheet_would_run_is_guarded(tmp_path: Path) -> None:
    texts = ["=1+1", "'=1", "-a", "plain", "@x"]
    strings = Strings.of(texts, ["=c"] * 5, source=StringSource("t", "column", column="=s", class_column="+c"))
    write_strings(strings, tmp_path / "out.csv")
    with open(tmp_path / "out.csv", newline="") as stream:
        assert all(cell[0] not in "=+-@" for row in csv.reader(stream) for cell in row)
    again = read_strings_back(tmp_path / "out.csv", strings.source)
    assert again.texts() == texts
    assert again.classes == ("=c",)
    assert again.source.column == "=s"
