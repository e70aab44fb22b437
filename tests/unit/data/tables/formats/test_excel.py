"""Sheets of workbooks."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

import pytest

from shoal.data.tables.files import read_table
from shoal.data.tables.write import file_name, read_back, write_table
from shoal.errors import DataError

pytestmark = pytest.mark.unattacked

openpyxl: Any = pytest.importorskip("openpyxl")


def book(path: Path, **sheets: list[list[Any]]) -> Path:
    made = openpyxl.Workbook()
    made.remove(made.active)
    for name, rows in sheets.items():
        sheet = made.create_sheet(name)
        for row in rows:
            sheet.append(row)
    made.save(path)
    return path


DAY = datetime.datetime(2020, 5, 4)
ROWS = [["age", "town", "code", "day"], [31, "Ulm", 1, DAY], [None, "Bern", "x2", DAY]]


def test_cells_keep_their_types_and_mixed_ones_become_texts(tmp_path: Path) -> None:
    table = read_table(book(tmp_path / "x.xlsx", people=ROWS, empty=[]))
    assert [table[n].cells().tolist() for n in ("age", "town", "code")] == [[31, None], ["Ulm", "Bern"], ["1", "x2"]]
    assert table["day"].values.dtype.kind == "M"
    assert table.source.table == "people"


def test_what_is_written_reads_back_with_the_same_bytes_and_no_formula(tmp_path: Path) -> None:
    rows = [["t", "n"], ["'=1+1", 1], ["b", 2]]
    table = read_table(book(tmp_path / "x.xlsx", s=rows))
    assert file_name(table) == "data.xlsx"
    for name in ("one.xlsx", "two.xlsx"):
        write_table(table, tmp_path / name)
    assert (tmp_path / "one.xlsx").read_bytes() == (tmp_path / "two.xlsx").read_bytes()
    back = read_back(tmp_path / "one.xlsx", table.names, markers=())
    assert back["t"].cells().tolist() == ["'=1+1", "b"]
    risky = read_table(_risky(tmp_path / "r.xlsx"))
    write_table(risky, tmp_path / "three.xlsx")
    assert openpyxl.load_workbook(tmp_path / "three.xlsx").active["A2"].data_type == "s"


def _risky(path: Path) -> Path:
    made = openpyxl.Workbook()
    made.active.append(["t"])
    made.active.append(["x"])
    made.active["A2"].value, made.active["A2"].data_type = "=1+1", "s"
    made.save(path)
    return path


@pytest.mark.parametrize(
    ("sheets", "message"),
    [
        ({"a": ROWS, "b": ROWS}, r"holds 2 sheets; name one"),
        ({"a": []}, "no sheet holds anything"),
        ({"a": [["x", None], [1, 2]]}, "does not name every column"),
        ({"a": [["x", "x"], [1, 2]]}, "two columns have the same name"),
        ({"a": [["x", "y"]]}, "has columns but no rows"),
    ],
)
def test_what_is_no_table_is_refused(tmp_path: Path, sheets: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError, match=message):
        read_table(book(tmp_path / "x.xlsx", **sheets))


def test_a_sheet_is_named_by_the_address_and_may_have_no_header(tmp_path: Path) -> None:
    path = book(tmp_path / "x.xlsx", a=ROWS, b=[[1, 2], [3, 4]])
    assert read_table(f"{path}?table=b", header="none").names == ["c1", "c2"]


def test_a_damaged_workbook_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "x.xlsx").write_bytes(b"PK\x03\x04 not really")
    with pytest.raises(DataError, match="the workbook is damaged or protected"):
        read_table(tmp_path / "x.xlsx")
