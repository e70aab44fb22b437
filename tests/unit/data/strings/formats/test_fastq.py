"""FASTQ comes in, FASTA goes out."""

from __future__ import annotations

from pathlib import Path

import pytest

import shoal
from shoal.data.samples.proteins import protein_families
from shoal.data.strings.files import (
    looks_like_strings,
    read_strings,
    read_strings_back,
    string_file_name,
    write_strings,
)
from shoal.errors import DataError

pytestmark = pytest.mark.unattacked

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


def test_a_release_is_checked_with_the_expression_that_finds_classes(tmp_path: Path) -> None:
    texts = protein_families(60, n_families=2, mean_length=25.0, seed=3).texts()
    reads = (f"@r{i} lane={i % 2}\n{text}\n+\n{'I' * len(text)}\n" for i, text in enumerate(texts))
    (tmp_path / "reads.fq").write_text("".join(reads))
    policy = shoal.StringPolicy.of(k=5, label=r"lane=(\d)", alphabet="protein")
    shoal.anonymize(tmp_path / "reads.fq", policy, seed=1).save(tmp_path / "out", report=False)
    found = shoal.check(tmp_path / "out" / "publish", tmp_path / "reads.fq", label=r"lane=(\d)")
    assert not found.findings
