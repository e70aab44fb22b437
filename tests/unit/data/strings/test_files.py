"""Files of strings: what is read, what is told, and what is refused with its line."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest

from shoal.data.strings.files import (
    looks_like_strings,
    read_strings,
    string_file_name,
    write_strings,
)
from shoal.data.strings.strings import Strings, StringSource
from shoal.errors import DataError, PolicyError


def file(folder: Path, content: bytes | str, name: str = "x.txt") -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def test_gzip_comes_back_as_gzip_with_the_same_bytes_each_time(tmp_path: Path) -> None:
    strings = read_strings(file(tmp_path, gzip.compress(b">a\nACGT\n"), "x.fasta.gz"))
    assert strings.source.gzip
    assert strings.source.name == "x"
    assert string_file_name(strings) == "data.fasta.gz"
    write_strings(strings, tmp_path / "one.gz")
    write_strings(strings, tmp_path / "two.gz")
    assert (tmp_path / "one.gz").read_bytes() == (tmp_path / "two.gz").read_bytes()
    assert gzip.decompress((tmp_path / "one.gz").read_bytes()) == b">pseudo_000001\nACGT\n"


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (">a\nACGT\n", "fasta"),
        ("\n;c\n>a|b, c\nACGT\nMK*\n", "fasta"),
        (b"\xef\xbb\xbf>a\nACGT\n", "fasta"),
        pytest.param(gzip.compress(b">a\nACGT\n", mtime=0), "fasta", id="packed, fasta"),
        (">50,<=50\n1,2\n", None),
        ("1 2 -1 3 -1 -2\n", "spmf"),
        ("1 2 3\n", None),
        ("-2\n-2\n", None),
        ("a,b\n1,2\n", None),
        ("", None),
        (b"\x1f\x8b\x08broken", None),
    ],
)
def test_what_is_surely_strings(tmp_path: Path, content: bytes | str, told: str | None) -> None:
    assert looks_like_strings(file(tmp_path, content)) == told


def test_nothing_is_told_of_a_file_that_is_not_there(tmp_path: Path) -> None:
    assert looks_like_strings(tmp_path / "none") is None
    assert looks_like_strings(tmp_path) is None


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        ("", {}, "is empty"),
        (" \n\r\n", {}, "holds only blank lines"),
        ("MKV\n>a\nMK\n", {"format": "fasta"}, r"line 1: a sequence stands before any description"),
        ("\nMKV\n", {"format": "fasta"}, r"line 2: a sequence stands before any description"),
        ("; only\n;comments\n", {"format": "fasta"}, "no line begins with '>'"),
        (b">a\nAC\x00GT\n", {}, r"line 2: holds a NUL byte"),
        (b"ab\r\ncd\x00", {"format": "lines"}, r"line 2: holds a NUL byte"),
        (b"ab\n\x81\n", {"format": "lines"}, r"line 2: neither UTF-8 nor Windows-1252"),
        pytest.param(gzip.compress(b">a\nACGT\n" * 1000, mtime=0)[:-20], {}, "gzip file is cut short", id="packed, cut short"),
        pytest.param(gzip.compress(b">a\nACGT\n", mtime=0)[:-8] + b"x" * 8, {}, "gzip file is damaged", id="packed, damaged"),
        (b"PK\x03\x04\x00\x00", {}, "a zip archive"),
        (b"BZh91AY\xff\x81", {}, "bzip2"),
        (">a\nACGT\nAC\n>b\nACZ\n", {"alphabet": "dna"}, r"line 5: holds a symbol that is not in the alphabet"),
        (">ä\nACÖ\n>b\nACZ\n", {"alphabet": "ACÖ"}, r"line 4: holds a symbol that is not in the alphabet"),
        ("ä\n\nacb\n", {"format": "lines", "alphabet": "äac"}, r"line 3: holds a symbol"),
        ("a b\n\nb c\n", {"alphabet": ["a", "b"]}, r"line 3: holds a symbol"),
        ("1 -1 -2\n2 -1 -2\n", {"alphabet": ["1"]}, r"line 2: holds a symbol"),
        ("# x\n1 -1 -2\na -1 -2\n", {"format": "spmf"}, r"line 3: holds something other than items"),
        ("1 -1 -2\n-3 -1 -2\n", {"format": "spmf"}, r"line 2: holds something other than items"),
        ("1 -1 -2\n\n2 -1\n", {"format": "spmf"}, r"line 3: the sequence that begins here has no end"),
        ("# nothing\n", {"format": "spmf"}, "holds no sequence"),
        ("a,b\nx,y\n", {"column": "c"}, "there is no column 'c'"),
        ("a,b\nx,y\nx,\n", {"column": "a", "class_column": "b"}, r"row 2 after the header: the column 'b' holds no class"),
        ("a,b\nAC,y\nAZ,y\n", {"column": "a", "alphabet": "dna"}, r"row 2 after the header: the column 'a' holds a symbol"),
        ("a,b\np q,y\np r,y\n", {"column": "a", "delimiter": " ", "alphabet": ["p", "q"]}, "row 2 after the header"),
        (">a x\nAC\n>b\nAC\n", {"label": "(x)"}, r"line 3: the expression finds no class in this description \(1 of 2"),
    ],
)  # fmt: skip
def test_bad_files_are_refused_in_one_sentence(
    tmp_path: Path, content: bytes | str, options: dict[str, object], message: str
) -> None:
    path = file(tmp_path, content)
    with pytest.raises(DataError, match=message) as caught:
        read_strings(path, **options)  # type: ignore[arg-type]  # keyword options of several types
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_files_that_are_not_there_or_no_files(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="there is no such file"):
        read_strings(tmp_path / "none")
    with pytest.raises(DataError, match="is a folder"):
        read_strings(tmp_path, format="fasta")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"format": "fsta"}, "did you mean 'fasta'"),
        ({"label": "("}, "not a regular one"),
        ({"label": "a(b)(c)"}, "has 2 groups"),
        ({"label": "x"}, "has 0 groups"),
        ({"format": "lines", "label": "(x)"}, "is for FASTA"),
        ({"format": "lines", "column": "x"}, "a column is for tables"),
        ({"class_column": "x"}, "a column is for tables"),
        ({"delimiter": "ab"}, "is not usable"),
        ({"delimiter": "\n"}, "is not usable"),
        ({"alphabet": []}, "neither a list of symbols"),
        ({"format": "tokens", "alphabet": "dna"}, "is of characters"),
        ({"column": "a", "delimiter": ";", "alphabet": "dna"}, "is of characters"),
    ],
)
def test_options_that_do_not_go_together(tmp_path: Path, options: dict[str, object], message: str) -> None:
    with pytest.raises(PolicyError, match=message):
        read_strings(file(tmp_path, ">a\nACGT\n"), **options)  # type: ignore[arg-type]  # as above


@pytest.mark.parametrize(
    ("strings", "source", "message"),
    [
        ([["a b"]], StringSource(format="tokens"), "a symbol cannot be written"),
        ([[""]], StringSource(format="tokens"), "a symbol cannot be written"),
        ([["a;b"]], StringSource(format="tokens", delimiter=";"), "a symbol cannot be written"),
        ([[" a"]], StringSource(format="tokens", delimiter=";"), "a symbol cannot be written"),
        ([["a\nb"]], StringSource(format="tokens", delimiter=";"), "a symbol cannot be written"),
        (["a\nb"], StringSource(format="lines"), "a symbol cannot be written"),
        (["a\rb"], StringSource(format="lines"), "a symbol cannot be written"),
        (["a\0b"], StringSource(format="column"), "a symbol cannot be written"),
        (["a\ud800"], StringSource(format="lines"), "a symbol cannot be written"),
        (["a>b"], StringSource(format="fasta"), "a symbol cannot be written"),
        (["a b"], StringSource(format="fasta"), "a symbol cannot be written"),
        ([["x"]], StringSource(format="spmf"), "a symbol cannot be written"),
        ([["01"]], StringSource(format="spmf"), "a symbol cannot be written"),
        ([["-1"]], StringSource(format="spmf"), "a symbol cannot be written"),
        ([["a"]], StringSource(format="fasta"), "strings of tokens cannot be written in the format 'fasta'"),
        ([["a"]], StringSource(format="column"), "without a delimiter"),
        (["a"], StringSource(format="tokens"), "strings of characters cannot be written"),
        ([], StringSource(format="fasta"), "no strings to write"),
        (["", " "], StringSource(format="lines"), "nothing but blanks"),
    ],
)
def test_what_a_format_cannot_hold_is_not_written(
    tmp_path: Path, strings: list[str], source: StringSource, message: str
) -> None:
    with pytest.raises(DataError, match=message):
        write_strings(Strings.of(strings, source=source), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_classes_need_a_place(tmp_path: Path) -> None:
    for labels, kind, message in (
        (["a"], "lines", "has no place for classes"),
        (["a\nb"], "fasta", "a class has an empty name, or one that the format cannot hold"),
        ([""], "fasta", "a class has an empty name"),
    ):
        with pytest.raises(DataError, match=message):
            write_strings(Strings.of(["x"], labels, source=StringSource(format=kind)), tmp_path / "out")


def test_symbols_that_no_string_has_do_not_matter_for_writing(tmp_path: Path) -> None:
    strings = Strings.of(["ab"], alphabet="ab\n", source=StringSource(format="lines"))
    write_strings(strings, tmp_path / "out")
    assert (tmp_path / "out").read_bytes() == b"ab\n"


def test_windows_1252_and_utf_16_are_noted(tmp_path: Path) -> None:
    old = read_strings(file(tmp_path, "Straße\n".encode("cp1252")), format="lines")
    assert old.texts() == ["Straße"]
    assert "Windows-1252" in old.source.notes[0]
    wide = read_strings(file(tmp_path, ">ä\nACGT\n".encode("utf-16")))
    assert wide.texts() == ["ACGT"]
    assert "UTF-16" in wide.source.notes[0]


def test_real_files(shared_data: Path) -> None:
    yeast = read_strings(shared_data / "swissprot" / "yeast.fasta.gz", label=r"_(\w+)$")
    assert (len(yeast), len(yeast.symbols), int(yeast.lengths.max())) == (3241, 1_482_842, 4910)
    assert (yeast.source.alphabet, yeast.classes) == ("protein", ("YEAST",))
    hvr1 = read_strings(shared_data / "mtdna_hvr1_coia2005" / "coia2005_hvr1.fasta.gz")
    assert (len(hvr1), set(hvr1.lengths.tolist()), hvr1.source.alphabet) == (435, {360}, "dna")
    assert len(set(hvr1.texts())) == 242  # type: ignore[arg-type]  # they are characters
    splice = shared_data / "splice" / "splice.csv"
    strings = read_strings(splice, column="sequence", class_column="class", alphabet="dna")
    assert strings.labels is not None
    assert np.bincount(strings.labels).tolist() == [767, 768, 1655]
    promoters = read_strings(
        shared_data / "promoters" / "promoters.csv", column="sequence", class_column="class", alphabet="dna"
    )
    assert (len(promoters), promoters.classes) == (106, ("+", "-"))
    assert any("folded" in note for note in promoters.source.notes)
    baskets = read_strings(shared_data / "t10i4d100k" / "T10I4D100K.dat.gz")
    assert (len(baskets), len(baskets.symbols), len(baskets.alphabet)) == (100_000, 1_010_228, 870)


@pytest.mark.parametrize(
    ("start", "name"),
    [
        (b"CLUSTAL W (1.82)\n\na ACGT\n", "a Clustal alignment"),
        (b"#NEXUS\nbegin data;\n", "a NEXUS file"),
        (b"# STOCKHOLM 1.0\n", "a Stockholm alignment"),
        (b"LOCUS       AB1\n", "a GenBank file"),
        (b"@HD\tVN:1.6\n", "a SAM file"),
        pytest.param(gzip.compress(b"BAM\1xxxx", mtime=0), "a BAM file", id="BAM"),
        pytest.param(gzip.compress(b"BCF\2\2xxxx", mtime=0), "a BCF file", id="BCF"),
    ],
)
def test_formats_of_others_are_refused_by_name(tmp_path: Path, start: bytes, name: str) -> None:
    with pytest.raises(DataError, match=f"is {name}.*convert it to FASTA"):
        read_strings(file(tmp_path, start))
