"""The tests of `data/sparse/svmlight.py`."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from shoal.data.sparse.files import looks_like_sparse, read_blocks, read_sparse
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


def labels(records: Sparse) -> list[str]:
    assert records.labels is not None
    return [records.classes[code] for code in records.labels.tolist()]


SVM = "+1 3:0.5 1:2 # first 9:9\n# a comment: 1:1\n\n-1\n+1 0:1e-1 0012:-.5\t2:0 \n"


def test_svmlight(tmp_path: Path) -> None:
    path = file(tmp_path, SVM.replace("\n", "\r\n"))
    assert looks_like_sparse(path) == "svmlight"
    records = read_sparse(path)
    assert dicts(records) == [{"1": 2, "3": 0.5}, {}, {"0": 0.1, "12": -0.5}]
    assert labels(records) == ["+1", "-1", "+1"]
    assert records.weights.dtype == np.float64
    assert records.source.format == "svmlight"
    assert records.names == ("0", "1", "12", "2", "3")


def test_whole_values_of_svmlight_are_integers_and_stay(tmp_path: Path) -> None:
    records = read_sparse(file(tmp_path, "1 1:2.0 2:3\n0 1:-1\n"))
    assert dicts(records) == [{"1": 2, "2": 3}, {"1": -1}]
    assert records.weights.dtype == np.int64


def test_query_numbers_are_left_out_with_a_note(tmp_path: Path) -> None:
    records = read_sparse(file(tmp_path, "3 qid:1 1:1 2:1\n1 qid:1 2:1\n"))
    assert dicts(records) == [{"1": 1, "2": 1}, {"2": 1}]
    assert any("2 query numbers" in note for note in records.source.notes)


def test_labels_that_are_measurements_are_noted(tmp_path: Path) -> None:
    records = read_sparse(file(tmp_path, "".join(f"{i}.5 1:1\n" for i in range(30))))
    assert any("measurements" in note for note in records.source.notes)


@pytest.mark.parametrize("token", ["x", "1:", ":1", "1:2:3", "a:1", "-1:1", "1.5:1", "1:x", "1:nan", "1:inf", "1:1_0",
                                   "1:--1", "1:1e", "1:0x1", "1:,", "1" * 19 + ":1", "1:é", "1::", ":"])  # fmt: skip
def test_bad_tokens_of_svmlight_have_their_line(tmp_path: Path, token: str) -> None:
    for rest in (" 7:1\n1 1:2:3\n", "\n1 3:1\n1 4:1\n"):
        path = file(tmp_path, f"# comment\n1 5:1\n\n1 2:1 {token}{rest}")
        with pytest.raises(DataError, match=r"x\.dat, line 4: holds a token that is not index:value"):
            read_sparse(path, format="svmlight")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("1:1 2:1", "does not begin with a label"),
        ("1,2 1:1", "more than one label"),
        ("1 3:1 2:1 3:5", "same index twice"),
        ("1 03:1 3:1", "same index twice"),
        ("1 3:1e400", "no finite number"),
        ("1 3:2147483649", "no finite number"),
        ("1 3:-1e10", "no finite number"),
        ("1 3:1e-300", "no finite number"),
    ],
)
def test_bad_lines_of_svmlight(tmp_path: Path, line: str, message: str) -> None:
    path = file(tmp_path, f"1 1:1\n# 1:1\n0 3:1 1:1\n{line}\n1 1:1\n")
    for read in (read_sparse, lambda p, format: list(read_blocks(p, format=format, records=2))):
        with pytest.raises(DataError, match=f"line 4: .*{message}"):
            read(path, format="svmlight")
