"""PHYLIP in all its arrangements."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from shoal.data.strings.files import looks_like_strings, read_strings, read_strings_back, write_strings
from shoal.data.strings.format import FORMATS
from shoal.errors import DataError

ROWS = ["ACGTACGT", "ACGAACGA", "TTGAAC-A"]
RELAXED = "3 8\nmouse ACGTACGT\nthe_cat   ACGA ACGA\ndog\tTTGAAC-A\n"
STRICT = " 3 8\nHomo sapieACGTACGT\nPan       ACGAACGA\nA b c d e TTGAAC-A\n"
INTERLEAVED = "3 8\na ACGT\nb ACGA\nc TTGA\n\nACGT\nACGA\nAC-A\n"
IN_TURN = "3 8\na ACGT\nACGT\nb ACGAACGA\nc TT\nGAAC\n-A\n"


@pytest.mark.parametrize(
    "text", [RELAXED, STRICT, INTERLEAVED, IN_TURN], ids=["relaxed", "strict", "interleaved", "in turn"]
)
def test_every_arrangement_gives_the_same_strings(tmp_path: Path, text: str) -> None:
    path = tmp_path / "x.phy"
    path.write_text(text)
    assert read_strings(path, format="phylip").texts() == ROWS


def test_what_is_written_reads_back_and_names_nobody(tmp_path: Path) -> None:
    path = tmp_path / "x.phy"
    path.write_text(RELAXED)
    strings = read_strings(path)
    assert looks_like_strings(path) == "phylip"
    write_strings(strings, tmp_path / "data.phy")
    assert (tmp_path / "data.phy").read_text().startswith("3 8\npseudo_000001 ACGTACGT\n")
    assert read_strings_back(tmp_path / "data.phy", strings.source).texts() == ROWS
    assert FORMATS["phylip"].beside(tmp_path / "data.phy", strings.source) == []
    assert FORMATS["phylip"].beside(path, strings.source) == ["3 names in the data cannot come from a release"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a b\nx ACGT\n", "begins with the numbers"),
        ("2 4\nx ACGT\ny ACG\n", "these are not 2 sequences of 4 letters"),
        ("3 4\nx ACGT\ny ACGT\n", "these are not 3 sequences of 4 letters"),
        ("2 4\nx ACGT\ny AC1T\n", "sequence 2: holds a symbol that is not in the alphabet"),
    ],
)
def test_what_is_broken_is_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "x.phy"
    path.write_text(text)
    with pytest.raises(DataError, match=message):
        read_strings(path, format="phylip", alphabet="dna")


def test_strings_of_several_lengths_are_not_written(tmp_path: Path) -> None:
    from dataclasses import replace

    path = tmp_path / "x.phy"
    path.write_text(RELAXED)
    strings = read_strings(path)
    shorter = replace(strings, starts=np.array([0, 8, 16, 20]), symbols=strings.symbols[:20])
    with pytest.raises(DataError, match="of one length"):
        write_strings(shorter, tmp_path / "data.phy")


def test_two_numbers_and_a_table_are_no_alignment(tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    path.write_text("3 8\n1 2 3\n4 5\n")
    assert looks_like_strings(path) is None
