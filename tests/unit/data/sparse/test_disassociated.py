"""Disassociated records are read back as they were written, and what is no such file is refused with its line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from shoal.data.sparse.disassociated import Disassociated, read_disassociated, write_disassociated
from shoal.errors import DataError

TEXT = "cluster records chunk items\n1 3 1 a b\n1 3 1 a b\n1 3 terms c\n2 4 1 b\n1-2 7 1 d e\n"


def fields(records: Disassociated) -> list[object]:
    return [
        value.tolist() if isinstance(value, np.ndarray) else value
        for name, value in vars(records).items()
        if name != "source"
    ]


@pytest.mark.parametrize("delimiter", [None, ";"])
@pytest.mark.parametrize("packed", [False, True])
def test_what_was_written_is_read_back(tmp_path: Path, delimiter: str | None, packed: bool) -> None:
    (tmp_path / "one").write_text(TEXT)
    records = read_disassociated(tmp_path / "one", None, has_classes=False)
    assert (records.sizes.tolist(), records.names, len(records)) == ([3, 4], tuple("abcde"), 7)
    assert (records.firsts.tolist(), records.lasts.tolist()) == ([0, 0, 1, 0], [0, 0, 1, 1])
    assert records.is_terms.tolist() == [False, True, False, False]
    write_disassociated(records, tmp_path / "two", delimiter, packed=packed)
    assert fields(read_disassociated(tmp_path / "two", delimiter, has_classes=False)) == fields(records)
    if delimiter is None and not packed:
        assert (tmp_path / "two").read_text() == TEXT


def test_classes_stand_behind_the_number_of_records(tmp_path: Path) -> None:
    path = tmp_path / "classes"
    path.write_text("cluster records class chunk items\n1 3 x 1 a\n2 4 y 1 b\n2 4 y 2 1 3\n")
    records = read_disassociated(path, None, has_classes=True)
    assert (records.classes, records.labels.tolist(), records.names) == (("x", "y"), [0, 1], ("1", "3", "a", "b"))
    write_disassociated(records, tmp_path / "two", None)
    assert (tmp_path / "two").read_bytes() == path.read_bytes()
    made = records.reconstructed(np.random.default_rng(0))
    assert made.labels.tolist() == [0] * 3 + [1] * 4
    path.write_text("cluster records class chunk items\n1 3 x 1 a\n1 3 y 2 b\n")
    with pytest.raises(DataError, match="different classes"):
        read_disassociated(path, None, has_classes=True)


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("1 3 2\n", "line 7: is not a line of disassociated records"),
        ("x 3 2 a\n", "line 7: is not a line"),
        ("2-1 7 2 a\n", "line 7: is not a line"),
        ("1 three 2 a\n", "line 7: is not a line"),
        ("1 3 some a\n", "line 7: is not a line"),
        ("1 4 2 a\n", "do not agree, first on line 2"),
        ("1-2 8 2 a\n", "do not agree, first on line 7"),
        ("99 3 1 a\n", "more clusters or records than it has lines for"),
        ("\n", "line 7: is not a line"),
    ],
)
def test_what_is_no_line_is_refused(tmp_path: Path, line: str, says: str) -> None:
    path = tmp_path / "bad"
    path.write_text(TEXT + line)
    with pytest.raises(DataError, match=says):
        read_disassociated(path, None, has_classes=False)


def test_records_may_have_been_so(tmp_path: Path) -> None:
    (tmp_path / "one").write_text(TEXT)
    records = read_disassociated(tmp_path / "one", None, has_classes=False)
    for seed in range(5):  # no two subrecords of a chunk go to one record, and terms go to empty ones
        made = records.reconstructed(np.random.default_rng(seed))
        assert np.bincount(made.items).tolist() == [2, 3, 1, 1, 1]
        assert (made.sizes[:3] > 0).all()
    assert len(records.take(np.array([1, 2]))) == 2
