"""Averages of a file are verified block by block, and all blocks beside the file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from shoal.check.tables.averages_in_blocks import Averaged, verify_averages
from shoal.check.verdict import Asked
from shoal.data.tables.attribute import Attribute
from shoal.data.tables.parquet_write import write_parquet
from shoal.data.tables.spill import once
from shoal.data.tables.table import Table, encode_cells
from shoal.models.k_anonymity import KAnonymity

ASKED = Asked((KAnonymity(k=3),), ["x"], attributes={"x": Attribute("x", "continuous", "quasi")})
OWN = np.array([[1.0, 2.0, 6.0, 10.0, 10.0, 13.0], [4.0, 4.0, 4.0, 7.0, 8.0, 9.0]])
GROUPS = np.array([[0, 0, 0, 1, 1, 1], [2, 2, 2, 3, 3, 3]], dtype=np.int64)
MEANS = np.array([3.0, 11.0, 4.0, 8.0])


def table_of(cells: np.ndarray) -> Table:
    return Table.of([encode_cells("x", cells)])


def findings(path: Path, blocks: list[Averaged], shown: np.ndarray, own: np.ndarray = OWN) -> tuple[str, ...]:
    write_parquet(table_of(shown), path)
    column = table_of(own.ravel())["x"]
    return verify_averages(path, ASKED, blocks, {"x": once(column, column.counts())}).findings


@pytest.fixture
def blocks() -> list[Averaged]:
    return [Averaged(table_of(own), table_of(MEANS[of]), of) for own, of in zip(OWN, GROUPS, strict=True)]


def test_averages_that_are_right_are_found_so(tmp_path: Path, blocks: list[Averaged]) -> None:
    assert findings(tmp_path / "a.parquet", blocks, MEANS[GROUPS].ravel()) == ()


def test_one_record_more_or_less_in_the_file_is_found(tmp_path: Path, blocks: list[Averaged]) -> None:
    shown = MEANS[GROUPS].ravel()
    for changed in (np.append(shown, 3.0), shown[1:], np.where(np.arange(12) == 0, 11.0, shown)):
        (told,) = findings(tmp_path / "a.parquet", blocks, changed)
        assert "in more or fewer records" in told


def test_what_is_no_average_or_one_of_few_is_found(tmp_path: Path, blocks: list[Averaged]) -> None:
    wrong = MEANS + [0, 0, 0, 0.5]
    blocks[1] = replace(blocks[1], published=table_of(wrong[GROUPS[1]]))
    assert "not the averages" in findings(tmp_path / "a.parquet", blocks, wrong[GROUPS].ravel())[0]
    few = np.array([2, 2, 3, 3, 3, 3])
    shown = np.array([4.0, 4.0, 7.0, 7.0, 7.0, 7.0])
    blocks[1] = Averaged(table_of(OWN[1]), table_of(shown), few)
    assert "fewer than 3" in findings(tmp_path / "a.parquet", blocks, np.append(MEANS[GROUPS[0]], shown))[0]


def test_blocks_of_other_records_are_found(tmp_path: Path, blocks: list[Averaged]) -> None:
    other = np.where(OWN == 13.0, 14.0, OWN)
    assert "that were read" in findings(tmp_path / "a.parquet", blocks, MEANS[GROUPS].ravel(), other)[0]
    assert "several blocks" in findings(tmp_path / "a.parquet", [blocks[0], blocks[0]], MEANS[GROUPS].ravel())[0]
