"""A table in JSON lines."""

from __future__ import annotations

from pathlib import Path

import pytest

from shoal.data.tables.files import read_table
from shoal.data.tables.write import file_name, read_back, write_table
from shoal.errors import DataError


def test_an_object_is_a_row_and_a_key_that_lacks_is_missing(tmp_path: Path) -> None:
    path = tmp_path / "people.jsonl"
    path.write_text('{"age": 31, "zip": "007", "day": "2020-01-02"}\n{"age": null, "zip": "12", "town": "Ulm"}\n')
    table = read_table(path)
    assert table.names == ["age", "zip", "day", "town"]
    assert [table[n].cells().tolist() for n in ("age", "zip", "town")] == [[31, None], ["007", "12"], [None, "Ulm"]]
    assert (file_name(table), table["day"].values.dtype.kind) == ("data.jsonl", "M")
    write_table(table, tmp_path / "data.jsonl")
    back = read_back(tmp_path / "data.jsonl", table.names, markers=())
    assert [back[n].texts() for n in back.names] == [table[n].texts() for n in table.names]


def test_a_date_that_could_be_read_in_two_ways_stays_a_text(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text('{"d": "03-04-2020", "z": "2020-01-02T10:00:00+02:00"}\n')
    table = read_table(path)
    assert [table[n].values.tolist() for n in table.names] == [["03-04-2020"], ["2020-01-02T10:00:00+02:00"]]


def test_an_infinite_number_is_not_written(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text('{"a": 1e999}\n{"a": 1.5}\n')
    with pytest.raises(DataError, match="infinite"):
        write_table(read_table(path), tmp_path / "data.jsonl")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"a": 1}\nx\n', "is not one JSON object a line"),
        ('{"a": {"b": 1}}\n', "not a single value"),
        ('{"a": [1, 2]}\n', "not a single value"),
    ],
)
def test_what_is_no_table_is_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text(text)
    with pytest.raises(DataError, match=message):
        read_table(path)
