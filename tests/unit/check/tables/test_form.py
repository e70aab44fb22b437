"""Marks on rows that no value shows."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from shoal.check.tables.form import compare_form, out_of_order
from shoal.data.tables.table import Source, Table, encode_cells
from shoal.data.tables.write import read_back, write_table
from tests.unit.attack.tables.small_cases import texts

MARKERS = ("", "NA")


def table(**source: object) -> Table:
    rng = np.random.default_rng(1)
    age = np.sort(rng.integers(5, 15, 60)).astype(float)
    columns = [encode_cells("age", age), texts("sex", rng.choice(["f", "m", None], 60)), texts("job", ["a, b"] * 60)]
    return Table.of(columns, Source(**source))  # type: ignore[arg-type]  # options of several types


def written(folder: Path, name: str, edit: Callable[[bytes], bytes] = lambda b: b, **source: object) -> Path:
    path = folder / name
    write_table(table(**source), path)
    data = path.read_bytes()
    path.write_bytes(gzip.compress(edit(gzip.decompress(data)), 1) if name.endswith(".gz") else edit(data))
    return path


def compared(path: Path) -> tuple[list[str], list[str]]:
    return compare_form(path, read_back(path, ["age", "sex", "job"], markers=MARKERS, delimiter=","))


def test_a_file_as_a_release_writes_it_is_found_alike(tmp_path: Path) -> None:
    assert compared(written(tmp_path, "data.csv")) == ([], [])
    assert compared(written(tmp_path, "data.parquet", format="parquet")) == ([], [])


@pytest.mark.parametrize(
    "edit",
    [
        lambda b: b.replace(b"\n", b"\r\n"),
        lambda b: b + b"\n",
        lambda b: b"\xef\xbb\xbf" + b,
        lambda b: b.replace(b",f,", b',"f",', 1),
        lambda b: b.rstrip(b"\n"),
    ],
)
def test_other_quotes_and_ends_of_lines_are_found(tmp_path: Path, edit: Callable[[bytes], bytes]) -> None:
    for name, source in (("data.csv", {}), ("data.csv.gz", {"gzip": True})):
        (finding,), _ = compared(written(tmp_path, name, edit, **source))
        assert "than a release with these rows" in finding


def test_what_depends_on_a_library_is_said_not_to_be_compared(tmp_path: Path) -> None:
    path = written(tmp_path, "data.csv.gz", gzip=True)  # compressed less than releases are
    assert compared(path) == ([], ["how data.csv.gz is compressed"])
    import pyarrow.parquet as pq

    marked = tmp_path / "data.parquet"
    write_table(table(format="parquet"), marked)
    pq.write_table(pq.read_table(marked).replace_schema_metadata({"row 3": "Doe"}), marked)
    assert compared(marked) == ([], ["the bytes of data.parquet that hold no value"])


def in_order(n: int, **columns: list[object]) -> Table:
    made = [texts(name, cells) for name, cells in columns.items()]
    assert all(len(c.codes) == n for c in made)
    return Table.of(made)


def test_rows_stand_in_the_order_of_what_they_say() -> None:
    assert out_of_order(in_order(4, zip=["1", "1", "2", "2"], age=["9", "10", "8", "9"]), ["zip", "age"]) != []
    assert out_of_order(in_order(4, zip=["1", "1", "9", "9"], age=["9", "10", "8", "9"]), ["zip"]) == []
    numbers, days = ["8", "9", "10", None], ["2/1/2020", "11/1/2020", "12/1/2020", None]
    assert out_of_order(in_order(4, age=numbers), ["age"]) == []
    assert out_of_order(in_order(4, day=days), ["day"]) == []
    assert out_of_order(in_order(4, age=["10", "8", "9", None]), ["age"]) == []  # as texts
    assert out_of_order(in_order(3, age=["8", "10", "9"]), ["age"]) != []
    assert out_of_order(in_order(3, age=[None, "8", "9"]), ["age"]) != []
    assert out_of_order(in_order(3, name=["b", "a", "c"], age=["1", "2", "3"]), ["age"]) == []
    (finding,) = out_of_order(in_order(3, name=["b", "a", "c"], age=["1", "1", "3"]), ["age"])
    assert "'name'" in finding
