"""Records of bytes, and their cells."""

from __future__ import annotations

import pytest

from shoal.errors import DataError
from shoal.stream.text import (
    RecordBuffer,
    WindowCells,
    csv_cell,
    csv_cells,
    csv_lines,
    find_delimiter,
    json_cells,
    json_lines,
)


def columns_of(cells: WindowCells) -> list[list[str]]:
    return [cells[name] for name in cells.names]


def fed(pieces: list[bytes], *, is_quoted: bool = True) -> RecordBuffer:
    buffer = RecordBuffer(is_quoted=is_quoted)
    for piece in pieces:
        buffer.feed(piece)
    return buffer


@pytest.mark.parametrize("size", [1, 2, 3, 7, 100])
def test_records_end_where_they_end_however_they_come(size: int) -> None:
    text = b'a,1\n"b\nc",2\n"d""\n",3\ne,4'
    buffer = fed([text[i : i + size] for i in range(0, len(text), size)])
    assert buffer.n_ready == 3
    buffer.close()
    assert [buffer.take(1) for _ in range(4)] == [b"a,1\n", b'"b\nc",2\n', b'"d""\n",3\n', b"e,4\n"]


def test_quotes_mean_nothing_where_they_are_no_csv() -> None:
    assert fed([b'{"a": "1"}\n"x\ny\n'], is_quoted=False).n_ready == 3


def test_what_is_put_back_comes_first() -> None:
    buffer = fed([b"1\n2\n3\n4"])
    text = buffer.take(2)
    assert buffer.rest() == b"4"
    buffer.put_back(text[2:])
    assert (buffer.n_ready, buffer.take(2)) == (2, b"2\n3\n")


def test_an_open_quotation_is_told() -> None:
    buffer = fed([b'a,"1\n'])
    with pytest.raises(DataError, match="inside a quotation"):
        buffer.close()


@pytest.mark.parametrize("text", [b"a,1\nb,2\n", b"a,1\r\nb,2\r\n", b'"a",1\nb,"2"\n'])
def test_csv_becomes_columns(text: bytes) -> None:
    assert columns_of(csv_cells(text, ["x", "y"], ",", 1)) == [["a", "b"], ["1", "2"]]


@pytest.mark.parametrize(
    "text",
    [
        b'"a",1\n5" pipe,2\n7" pipe,3\n',  # two quotes, between which a line ends
        b'"a",1\nb\r2,3\n',
        b"a,1\nb\rc,2\n",
        b'"a",1\nx"y,"b\nc",2\n"d,3\n',  # ends inside quotes by one reading, and outside by the other
    ],
)
def test_a_record_that_is_not_one_row_is_told_by_its_number(text: bytes) -> None:
    with pytest.raises(DataError, match=r"^record 5: is not a CSV record") as caught:
        csv_cells(text, ["x", "y"], ",", 4)
    assert "pipe" not in str(caught.value)


def test_a_json_object_may_hold_the_end_of_a_line_of_old() -> None:
    assert columns_of(json_cells(b'{"x": 1,\r"y": 2}\n', ["x", "y"], 1)) == [["1"], ["2"]]


@pytest.mark.parametrize("text", [b"a,1\nsecret\n", b"a,1\nb,2,secret\n", b'a,1\n"secret"\n', b"a,1\n\xff,2\n"])
def test_a_bad_line_is_named_and_not_quoted(text: bytes) -> None:
    with pytest.raises(DataError, match="record 8: ") as told:
        csv_cells(text, ["x", "y"], ",", 7)
    assert "secret" not in str(told.value)


def test_lines_that_are_wrong_in_sum_right_are_found() -> None:
    with pytest.raises(DataError, match="record 1: has 1 cell"):
        csv_cells(b"a\nb,2,3\n", ["x", "y"], ",", 1)


def test_json_becomes_columns() -> None:
    text = b'{"x": 1, "y": null}\n{"y": true, "x": "a"}\n'
    assert columns_of(json_cells(text, ["x", "y"], 1)) == [["1", "a"], ["", "true"]]


@pytest.mark.parametrize("line", [b"{", b"[1]", b'{"x": 1}', b'{"x": 1, "y": 2, "z": 3}', b'{"x": [1], "y": 2}'])
def test_bad_json_is_named(line: bytes) -> None:
    with pytest.raises(DataError, match="record 4: "):
        json_cells(line + b"\n", ["x", "y"], 4)


def test_what_is_written_reads_back() -> None:
    columns = [["[1..2]", "{a, b}"], ['say "x"', "plain"]]
    assert columns_of(csv_cells(csv_lines(columns, ",", is_plain=False), ["x", "y"], ",", 1)) == columns
    assert columns_of(json_cells(json_lines(columns, ["x", "y"]), ["x", "y"], 1)) == columns
    assert csv_lines([["a"], [csv_cell("{b, c}", ",")]], ",", is_plain=True) == b'a,"{b, c}"\n'


def test_the_delimiter_is_the_commonest() -> None:
    assert [find_delimiter(line) for line in ("a,b", "a\tb", "a|b|c,d", "alone")] == [",", "\t", "|", ","]


def test_numbers_are_read_where_all_are_digits() -> None:
    cells = csv_cells(b"1,a,-2.50\r\n30,b,0\r\n", ["x", "y", "z"], ",", 1)
    numbers = {name: cells.numbers(name) for name in "xyz"}
    assert numbers["y"] is None
    assert numbers["x"] is not None
    assert numbers["z"] is not None
    assert (numbers["x"].tolist(), numbers["z"].tolist()) == ([1.0, 30.0], [-2.5, 0.0])
    assert csv_cells(b'"1"\n', ["x"], ",", 1).numbers("x") is None


def test_half_a_character_is_told_by_its_record() -> None:
    with pytest.raises(DataError, match="record 4: column 'x' holds half a character"):
        json_cells(b'{"x": "\\ud800"}\n', ["x"], 4)
