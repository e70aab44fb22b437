"""FASTQ comes in, FASTA goes out."""

from __future__ import annotations

from pathlib import Path

import pytest

from shoal.data.strings.files import (
    looks_like_strings,
    read_strings,
    read_strings_back,
    string_file_name,
    write_strings,
)
from shoal.errors import DataError

READS = "@r1 lane 3\nACGT\n+\nIIII\n@r2\nGGTA\n+r2\n!!!!\n"


def test_sequences_are_read_and_qualities_are_not(tmp_path: Path) -> None:
    path = tmp_path / "reads.fq"
    path.write_text(READS)
    strings = read_strings(path)
    assert looks_like_strings(path) == "fastq"
    assert strings.texts() == ["ACGT", "GGTA"]
    assert any("qualities" in note for note in strings.source.notes)
    assert string_file_name(strings) == "data.fasta"
    write_strings(strings, tmp_path / "data.fasta")
    assert (tmp_path / "data.fasta").read_text() == ">pseudo_000001\nACGT\n>pseudo_000002\nGGTA\n"
    assert read_strings_back(tmp_path / "data.fasta", strings.source).texts() == strings.texts()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("@a\nACGT\n+\nIII\n", "line 4: there are not as many qualities as letters"),
        ("@a\nACGT\n+\nIIII\n@b\nAC\n", "line 5: the last record is cut short"),
        ("@a\nACGT\n+\nIIII\nb\nAC\n+\nII\n", "line 5: no FASTQ record"),
        ("@a\nACGT\n+\nIIII\n@b\nACJ1\n+\nIIII\n", "line 6: holds a symbol that is not in the alphabet"),
    ],
)
def test_what_is_broken_is_refused_with_its_line(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "reads.fastq"
    path.write_text(text)
    with pytest.raises(DataError, match=message):
        read_strings(path, format="fastq", alphabet="dna")
