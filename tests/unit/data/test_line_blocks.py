"""The tests of `data/line_blocks.py`."""

from __future__ import annotations

import gzip
from itertools import chain, pairwise
from pathlib import Path

import numpy as np
import pytest

from shoal.data import line_blocks
from shoal.data.sparse.files import read_blocks, read_sparse
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


SVM = "+1 3:0.5 1:2 # first 9:9\n# a comment: 1:1\n\n-1\n+1 0:1e-1 0012:-.5\t2:0 \n"


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


@pytest.mark.parametrize("mark", [b"", b">"])
def test_a_record_that_is_too_long_is_refused_before_its_end_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mark: bytes
) -> None:
    monkeypatch.setattr(line_blocks, "_PIECE", 10)
    path = file(tmp_path, ">a\nACD\n" * 5 + ">b\n" + "C" * 300 + "\n>c\nA\n")
    blocks = [text.data for text in line_blocks.text_blocks(path, 20, mark, most=1_000)]
    assert b"".join(blocks) == path.read_bytes()
    pieces = line_blocks._pieces
    read = []
    monkeypatch.setattr(line_blocks, "_pieces", lambda *asked: (read.append(p) or p for p in pieces(*asked)))
    with pytest.raises(DataError, match=r"after line 1\d is too long for the bound on memory"):
        list(line_blocks.text_blocks(path, 20, mark, most=100))
    assert len(b"".join(read)) < 200
