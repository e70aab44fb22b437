"""Who looks like whom over all files, asked of the files."""

from __future__ import annotations

import gzip
from pathlib import Path

import pandas as pd
import pytest

from shoal.check.linked.joint import WrittenTable, join_files
from shoal.data.tables.frames import from_frame
from shoal.data.tables.table import MARKERS
from shoal.errors import DataError

MAIN = pd.DataFrame({"age": ["[1..2]"] * 4 + ["3"], "id": list("abcde")})
ROWS = pd.DataFrame({"id": list("abbacd"), "ward": ["x", "y", "x", "y", "y", "y"], "note": ["?"] * 6})


def table(path: Path, frame: pd.DataFrame, quasi: list[str], how: str) -> WrittenTable:
    if how == "parquet":
        frame.to_parquet(path)
        return WrittenTable(path, None, from_frame(frame), quasi)
    text = frame.to_csv(index=False, sep=";", lineterminator="\n")
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    return WrittenTable(path, ";" if path.suffix in (".csv", ".gz") else None, from_frame(frame), quasi)


@pytest.mark.parametrize(("how", "end"), [("csv", ".csv"), ("csv", ".csv.gz"), ("parquet", ".parquet"), ("", ".dta")])
def test_persons_with_the_same_rows_everywhere_are_one_class(tmp_path, how, end) -> None:
    tables = {
        "main": table(tmp_path / f"main{end}", MAIN, ["age"], how),
        "rows": table(tmp_path / f"rows{end}", ROWS, ["ward"], how),
    }
    found = join_files(tables, "id", "value", MARKERS)
    classes = found.classes
    assert classes["a"] == classes["b"] != classes["c"] == classes["d"]
    assert classes["e"] not in {classes["a"], classes["c"]}
    assert sorted(found.sizes.tolist()) == [1, 2, 2]
    assert found.strangers == {"main": 0, "rows": 0}


def test_a_table_without_quasi_identifiers_tells_nobody_apart(tmp_path) -> None:
    tables = {
        "main": table(tmp_path / "main.csv", MAIN, ["age"], "csv"),
        "rows": table(tmp_path / "rows.csv", ROWS, [], "csv"),
    }
    assert sorted(join_files(tables, "id", "value", MARKERS).sizes.tolist()) == [1, 4]


def test_a_missing_value_that_may_be_any_hides_nobody(tmp_path) -> None:
    tables = {
        "main": table(tmp_path / "main.csv", MAIN, ["age"], "csv"),
        "rows": table(tmp_path / "rows.csv", ROWS, ["note"], "csv"),
    }
    assert sorted(join_files(tables, "id", "value", MARKERS).sizes.tolist()) == [1, 2, 2]
    assert join_files(tables, "id", "any", MARKERS).sizes.tolist() == [1] * 5


def test_cells_that_run_together_are_not_alike(tmp_path) -> None:
    main = pd.DataFrame({"id": list("ab"), "x": ["1, 2", "1"], "y": ["3", "2, 3"]})
    tables = {
        "main": table(tmp_path / "main.csv", main, ["x", "y"], "csv"),
        "rows": table(tmp_path / "rows.csv", ROWS.iloc[:2], [], "csv"),
    }
    assert join_files(tables, "id", "value", MARKERS).sizes.tolist() == [1, 1]


def test_rows_that_join_nobody_are_counted(tmp_path) -> None:
    tables = {
        "main": table(tmp_path / "main.csv", MAIN.iloc[1:], ["age"], "csv"),
        "rows": table(tmp_path / "rows.csv", ROWS, [], "csv"),
    }
    assert join_files(tables, "id", "value", MARKERS).strangers == {"main": 0, "rows": 2}


def test_a_file_that_cannot_be_read_is_not_quoted(tmp_path) -> None:
    tables = {name: table(tmp_path / f"{name}.csv", MAIN, ["age"], "csv") for name in ("main", "rows")}
    (tmp_path / "rows.csv").write_bytes(b"age;id\n3;secret\xe9\n")
    with pytest.raises(DataError, match=r"rows\.csv cannot be read as a table") as error:
        join_files(tables, "id", "value", MARKERS)
    assert "secret" not in str(error.value)
