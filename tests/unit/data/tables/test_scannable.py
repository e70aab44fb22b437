"""What is scanned is read by this machine alone, unless it says otherwise."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from shoal.data.tables.parquet import read_distinct, read_parquet
from shoal.data.tables.scannable import Described, Scannable


class Numbers(Scannable):
    """The numbers below three, twice."""

    path = Path("numbers")

    def described(self, database: Any, is_read: Callable[[str], bool]) -> Described:
        return Described("(SELECT range % 3 FROM range(6)) AS file(c0)", ("x",), ("BIGINT",), 6)

    def damage(self) -> str:
        return "damaged"


def test_anything_that_can_be_scanned_is_read() -> None:
    assert read_parquet(Numbers(), markers=())[0].cells().tolist() == [0, 1, 2, 0, 1, 2]
    read = read_distinct(Numbers(), markers=(), drops=lambda _: False)
    assert read.weights is not None
    assert dict(zip(read.columns[0].cells().tolist(), read.weights.tolist(), strict=True)) == {0: 2, 1: 2, 2: 2}
    with Numbers().collapsed({"c0": "c0"}) as parts:
        assert parts is None
