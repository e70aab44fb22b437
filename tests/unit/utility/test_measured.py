"""Measures are told as their fields."""

from __future__ import annotations

from dataclasses import dataclass

from shoal.utility.measured import Measured


@dataclass(frozen=True)
class Distance(Measured):
    mean: float
    by_column: dict[str, float]


def test_fields_are_told_in_their_order() -> None:
    told = Distance(0.5, {"age": 0.25}).to_dict()
    assert told == {"mean": 0.5, "by_column": {"age": 0.25}}
    assert list(told) == ["mean", "by_column"]
