"""The tests of `data/whole_text.py`."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from shoal.data import whole_text
from shoal.data.sparse.files import read_sparse
from shoal.data.sparse.records import Sparse
from shoal.errors import DataError


def file(folder: Path, content: bytes | str, name: str = "x.dat") -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def dicts(records: Sparse) -> list[dict[str, float]]:
    ends = records.starts.tolist()
    pairs = [(records.names[i], w) for i, w in zip(records.items.tolist(), records.weights.tolist(), strict=True)]
    return [dict(pairs[a:b]) for a, b in pairwise(ends)]


def test_lines_are_counted_over_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(whole_text, "_PIECE", 16)
    path = file(tmp_path, "1 1:1 2:1\n" * 20 + "1 1:\n")
    with pytest.raises(DataError, match="line 21: holds a token"):
        read_sparse(path, format="svmlight")
    good = read_sparse(file(tmp_path, "1 1:1 2:1\n" * 20))
    assert dicts(good) == [{"1": 1, "2": 1}] * 20
