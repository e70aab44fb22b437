"""The tests of `data/strings/alphabets.py`."""

from __future__ import annotations

from pathlib import Path

import pytest

from shoal.data.strings.files import read_strings


def file(folder: Path, content: bytes | str, name: str = "x.txt") -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


@pytest.mark.parametrize(
    ("sequence", "alphabet"),
    [
        ("ACGTACGTACGTNNRY-ACGTACGT", "dna"),
        ("ACGUACGUACGU", "rna"),
        ("MKVLAAGRKDE", "protein"),
        ("ACGTACGTACGTX", None),
        ("ACGTUACGTU", None),
        ("MKV1", None),
        ("ÄACGT", None),
    ],
)
def test_alphabets_of_fasta_are_guessed(tmp_path: Path, sequence: str, alphabet: str | None) -> None:
    strings = read_strings(file(tmp_path, f">a\n{sequence}\n>b\n{sequence}\n"))
    assert strings.source.alphabet == alphabet
    assert strings.texts() == [sequence, sequence]


def test_a_learned_alphabet_keeps_the_case(tmp_path: Path) -> None:
    path = file(tmp_path, ">a\nacgTä\n>b\nä\n")
    assert read_strings(path, alphabet="learned").texts() == ["acgTä", "ä"]
    assert read_strings(path, alphabet="acgTä").alphabet == ("T", "a", "c", "g", "ä")
