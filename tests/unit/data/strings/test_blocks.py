"""Strings of a file that is read in blocks are those of the whole file."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from shoal.data import line_blocks
from shoal.data.strings import blocks
from shoal.data.strings.blocks import StringBlocks
from shoal.data.strings.files import blocks_back, read_strings, string_blocks
from shoal.errors import DataError, PolicyError
from shoal.kinds.strings.policy import StringInput

FASTA = ";a comment\n>p1 class=a\nACGT\nacgtn\n\n>p2 class=b\n>p3 class=a\nAC GT\n>p4\nTTTTTTTTTTTT\nTT\n"


def in_blocks(path: Path, **options: Any) -> StringBlocks:
    return string_blocks(path, **StringInput(**options).model_dump()).settled()


@pytest.mark.parametrize("n_bytes", [1, 7, 30, 1000])
@pytest.mark.parametrize("piece", [3, 1000])
@pytest.mark.parametrize(
    ("text", "options"),
    [
        (FASTA, {}),
        (FASTA.replace(">p4", ">p4 class=b"), {"label": "class=(.)"}),
        ("ab\n\nba\u00e4b\nb", {"format": "lines"}),
        ("a b\n\nb  c a\nlonger a", {"format": "tokens"}),
        ("a, b\n,\nb,c\n", {"delimiter": ",", "format": "tokens"}),
    ],
)
def test_blocks_are_the_whole(
    tmp_path: Path, n_bytes: int, piece: int, text: str, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(line_blocks, "_PIECE", piece)
    monkeypatch.setattr(blocks, "BYTES_AT_ONCE", n_bytes)
    for name, data in (("plain.txt", text.encode()), ("packed.txt.gz", gzip.compress(text.encode()))):
        path = tmp_path / name
        path.write_bytes(data)
        found, whole = list(in_blocks(path, **options)), read_strings(path, **options)
        assert [t for block in found for t in block.texts()] == whole.texts()
        assert tuple(sorted({s for block in found for s in block.alphabet})) == whole.alphabet or whole.source.alphabet
        assert {block.source.alphabet for block in found} == {whole.source.alphabet}
        assert {block.source.gzip for block in found} == {name.endswith("gz")}
        if whole.labels is not None:
            labels = [block.classes[i] for block in found for i in block.labels]
            assert labels == [whole.classes[i] for i in whole.labels]


def test_what_is_wrong_is_told_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "strings.txt"
    path.write_text("ACGT\n" * 9 + "ACXT\n")
    with patch.object(blocks, "BYTES_AT_ONCE", 12), pytest.raises(DataError, match=r"strings\.txt, line 10: "):
        list(in_blocks(path, format="lines", alphabet="dna"))
    with patch.object(blocks, "BYTES_AT_ONCE", 12), pytest.raises(DataError, match=r"strings\.txt, line 10: "):
        list(in_blocks(path, format="tokens", alphabet=("ACGT",)))
    path.write_text(">a x=1\nACGT\n" * 9 + ">a\nACGT\n")
    with patch.object(blocks, "BYTES_AT_ONCE", 12), pytest.raises(DataError, match=r"strings\.txt, line 19: "):
        list(in_blocks(path, format="fasta", label="x=(.)"))
    path.write_text("\n\n")
    with pytest.raises(DataError, match="only blank lines"):
        list(in_blocks(path, format="lines"))


def test_other_formats_are_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "strings.jsonl"
    path.write_text('"ab"\n')
    with pytest.raises(PolicyError, match="is 'jsonl': leave memory out"):
        in_blocks(path)


def test_a_file_is_read_back_without_guessing(tmp_path: Path) -> None:
    path = tmp_path / "data.txt"
    path.write_text(">not fasta\n")
    source = read_strings(path, format="lines").source
    assert [block.texts() for block in blocks_back(path, source)] == [[">not fasta"]]
