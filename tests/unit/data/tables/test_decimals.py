"""The tests of `data/tables/decimals.py`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.data.tables.decimals import noted, with_points
from shoal.data.tables.files import read_table
from shoal.data.tables.parse import parse_numbers
from shoal.data.tables.table import Column, Source, Table, encode_cells
from shoal.errors import DataError


def column(*cells: str, name: str = "x") -> Column:
    return encode_cells(name, np.array(cells, dtype=object))


def cells(found: Column) -> list[str]:
    return [found.texts()[code] for code in found.codes]


@given(st.lists(st.decimals(-(10**6), 10**6, places=3, allow_nan=False), min_size=1, max_size=20))
def test_numbers_written_with_commas_are_the_same_numbers(numbers: list[object]) -> None:
    plain = [f"{number:f}" for number in numbers]  # type: ignore[str-format]
    (read,) = with_points("f", [column(*(text.replace(".", ",") for text in plain))])
    assert cells(read) == plain
    values = parse_numbers(read.values)
    assert values is not None
    assert values[read.codes].tolist() == [float(text) for text in plain]


def test_order_and_missing_spellings_stay() -> None:
    given = Column("x", np.array([0, 2, 1, 3], dtype=np.int32), np.array(["1,5", "10", "9,25"], dtype=object), ("NA",))
    (read,) = with_points("f", [given])
    assert cells(read) == ["1.5", "9.25", "10", "NA"]
    assert read.values.tolist() == sorted(read.values.tolist())


@pytest.mark.parametrize("others", [["a,b"], ["1,2,3"], ["1,5", "tall"], ["12", "13"], ["1.5", "2.5"]])
def test_what_are_no_numbers_with_commas_stay_as_they_are(others: list[str]) -> None:
    given = column(*others)
    assert with_points("f", [given]) == [given]


@pytest.mark.parametrize("mixed", [["1,5", "12", "2.5"], ["1,5", "1,25", "1.234,5"]])
def test_mixed_marks_are_refused_with_row_and_column(mixed: list[str]) -> None:
    with pytest.raises(
        DataError, match=r"^f, row 3, column 'weight': \d characters, a number with a point where"
    ) as told:
        with_points("f", [column(*mixed, name="weight")])
    assert mixed[2] not in str(told.value)


def test_what_looks_like_commas_is_noted_and_thousands_are_not() -> None:
    table = Table.of(
        [column("1,5", "2", name="weight"), column("1,500", "2,000", name="wage"), column("a", "b", name="c")]
    )
    assert [note.split(":")[0] for note in noted(table).source.notes] == ["'weight'"]
    assert noted(Table(table.columns, Source(format="parquet"))).source.notes == ()


def test_a_file_with_commas(tmp_path: Path) -> None:
    path = tmp_path / "g.csv"
    path.write_text("name;weight\nann;70,5\nbob;8\n")
    assert cells(read_table(path, decimal=",")["weight"]) == ["70.5", "8"]
    assert cells(read_table(path)["weight"]) == ["70,5", "8"]


def test_what_says_nothing_of_other_files_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text('{"a": 1}\n{"a": 2}\n')
    with pytest.raises(DataError, match=r"is not a text file .jsonl., so that decimal means nothing"):
        read_table(path, decimal=",")
