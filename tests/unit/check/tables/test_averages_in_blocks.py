"""Averages of a written file, checked block by block: what is right passes, and every planted fault is found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from shoal.check.tables.averages_in_blocks import Averaged, verify_averages
from shoal.check.verdict import Asked
from shoal.data.tables.attribute import Attribute
from shoal.data.tables.parquet_write import write_parquet
from shoal.data.tables.table import Column, Table, encode_cells
from shoal.errors import NotVerified
from shoal.models.k_anonymity import KAnonymity

ATTRIBUTES = {"age": Attribute("age", "continuous", "quasi")}
ASKED = Asked((KAnonymity(k=2),), ["age"], [], "value", (), ATTRIBUTES)
AGES = [np.array([20.0, 22.0, 31.0, 35.0]), np.array([60.0, 61.0, 62.0])]
GROUPS = [np.array([0, 0, 1, 1]), np.array([2, 2, 2])]


def table_of(ages: np.ndarray) -> Table:
    return Table.of([encode_cells("age", ages)])


def blocks() -> list[Averaged]:
    means = [np.array([21.0, 21.0, 33.0, 33.0]), np.full(3, 61.0)]
    return [Averaged(table_of(a), table_of(m), g) for a, m, g in zip(AGES, means, GROUPS, strict=True)]


def written(path: Path, ages: list[float]) -> Path:
    write_parquet(table_of(np.array(ages)), path)
    return path


def found(path: Path, some: list[Averaged], ages: np.ndarray | None = None) -> tuple[str, ...]:
    every = encode_cells("age", np.concatenate(AGES) if ages is None else ages)
    counts = every.counts().astype(np.int32)
    once = replace(every, codes=np.arange(len(counts), dtype=np.int32))
    return verify_averages(path, ASKED, some, {"age": (once, counts)}).findings


RIGHT = [21.0, 21.0, 33.0, 33.0, 61.0, 61.0, 61.0]


def test_what_is_right_passes(tmp_path: Path) -> None:
    assert not found(written(tmp_path / "a.parquet", RIGHT), blocks())


@pytest.mark.parametrize("huge", [[1e30, 20.0], [1e30, 1e30], [1e308, -1e308], [1e-310, 1e30]])
def test_a_huge_value_elsewhere_hides_no_wrong_average(tmp_path: Path, huge: list[float]) -> None:
    """Of the same block, so that the span of the column is as large; a group publishes the value of one of its two."""
    originals = table_of(np.array([31.0, 35.0, *huge]))
    own = huge[0] / 2 + huge[1] / 2
    for shown, is_right in ((33.0, True), (31.0, False)):
        block = Averaged(originals, table_of(np.array([shown, shown, own, own])), np.array([0, 0, 1, 1]))
        path = written(tmp_path / "a.parquet", [shown, shown, own, own])
        assert (not found(path, [block], np.array([31.0, 35.0, *huge]))) == is_right


def wrong_average(some: list[Averaged]) -> list[Averaged]:
    return [replace(some[0], published=table_of(np.array([21.0, 21.0, 33.5, 33.5]))), some[1]]


def group_of_one(some: list[Averaged]) -> list[Averaged]:
    return [replace(some[0], groups=np.array([0, 0, 1, 2]), published=table_of(np.array([21.0, 21.0, 31.0, 35.0])))]


def same_number(some: list[Averaged]) -> list[Averaged]:
    return [some[0], replace(some[1], groups=np.array([1, 1, 1]))]


def lost_block(some: list[Averaged]) -> list[Averaged]:
    return some[:1]


@pytest.mark.parametrize("spoil", [wrong_average, group_of_one, same_number, lost_block])
def test_a_fault_of_the_blocks_is_found(tmp_path: Path, spoil: Callable[[list[Averaged]], list[Averaged]]) -> None:
    assert found(written(tmp_path / "a.parquet", RIGHT), spoil(blocks()))


@pytest.mark.parametrize(
    "shown",
    [
        [21.0, 33.0, 33.0, 33.0, 61.0, 61.0, 61.0],
        RIGHT[:-1],
        [*RIGHT, 61.0],
        [21.0, 21.0, 33.0, 33.0, 61.0, 61.0, 62.0],
    ],
)
def test_a_file_that_says_something_else_is_found(tmp_path: Path, shown: list[float]) -> None:
    (told,) = found(written(tmp_path / "a.parquet", shown), blocks())
    assert "more or fewer records" in told


def test_other_originals_than_were_read_are_found(tmp_path: Path) -> None:
    ages = np.concatenate(AGES)
    ages[0] = 21.0
    (told,) = found(written(tmp_path / "a.parquet", RIGHT), blocks(), ages)
    assert told == "the blocks do not hold the values of 'age' that were read"


def test_a_missing_average_is_not_passed(tmp_path: Path) -> None:
    blank = Column("age", np.array([1, 1, 0, 0], dtype=np.int32), np.array([33.0]), (None,))
    some = [replace(blocks()[0], published=Table.of([blank])), blocks()[1]]
    with pytest.raises(NotVerified, match="are missing"):
        found(written(tmp_path / "a.parquet", RIGHT), some)
