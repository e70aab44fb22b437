"""Records of a stream of bytes: where each ends, and the cells of a window of CSV or JSON lines."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

import numpy as np

from shoal.arrays import Floats, Ints
from shoal.errors import DataError
from shoal.kernels.tables.number_cells import read_digits
from shoal.stream.windows import BadRecord

MOST_OF_A_RECORD = 1 << 24
DELIMITERS = ",;\t|"
_NEWLINE, _QUOTE = 10, 34
_NOT_ALONE = (
    "is not a CSV record: a quotation mark, or the end of a line, stands in a cell that is not in quotes, or a cell is "
    "too long; put the cell in quotes, and double those that it holds"
)


class RecordBuffer:
    """Bytes that came in and belong to no window yet; a newline between quotes ends no record.

    Parameters
    ----------
    is_quoted : bool
        Whether quotes mean something, as in CSV.
    """

    def __init__(self, *, is_quoted: bool) -> None:
        self.is_quoted = is_quoted
        self._bytes = bytearray()
        self._ends: list[Ints] = []
        self.n_ready = 0
        self._looked_at = 0
        self._inside = 0

    def feed(self, piece: bytes) -> None:
        """Take more bytes in."""
        self._bytes += piece
        fresh = np.frombuffer(bytes(self._bytes[self._looked_at :]), np.uint8)
        is_end = fresh == _NEWLINE
        if self.is_quoted and (self._inside or b'"' in piece):
            quotes = np.cumsum(fresh == _QUOTE) + self._inside
            is_end &= quotes % 2 == 0
            self._inside = int(quotes[-1]) % 2 if len(quotes) else self._inside
        ends = np.flatnonzero(is_end) + self._looked_at + 1
        self._looked_at = len(self._bytes)
        if len(ends):
            self._ends.append(ends.astype(np.int64))
            self.n_ready += len(ends)
        elif not self.n_ready and len(self._bytes) > MOST_OF_A_RECORD:
            raise DataError(
                f"a record has no end within {MOST_OF_A_RECORD:,} bytes; perhaps a quotation mark is left open"
            )

    def close(self) -> None:
        """Nothing more comes: what has no end is the last record, unless nothing is left."""
        if self._inside:
            raise DataError("the stream ends inside a quotation; close it")
        rest = len(self._bytes) - (int(self._ends[-1][-1]) if self._ends else 0)
        if rest:
            self.feed(b"\n")

    def take(self, n: int) -> bytes:
        """The first n records, which are gone from here then."""
        if not n:
            return b""
        ends = np.concatenate(self._ends)
        at = int(ends[n - 1])
        text = bytes(self._bytes[:at])
        del self._bytes[:at]
        self._ends = [ends[n:] - at] if len(ends) > n else []
        self.n_ready -= n
        self._looked_at -= at
        return text

    def rest(self) -> bytes:
        """What has no end yet."""
        return bytes(self._bytes[int(self._ends[-1][-1]) if self._ends else 0 :])

    def put_back(self, text: bytes) -> None:
        """Give the last records of a window back, to stand before all others."""
        rest = bytes(self._bytes)
        self._bytes, self._ends, self.n_ready, self._looked_at, self._inside = bytearray(), [], 0, 0, 0
        self.feed(text + rest)


def find_delimiter(line: str) -> str:
    """The delimiter of a header: the one that it holds most of.

    >>> find_delimiter("age;zip,code;sex")
    ';'
    """
    return max(DELIMITERS, key=line.count)


class WindowCells:
    """The cells of a window, column by column; texts are made of those that are asked for alone.

    Parameters
    ----------
    names : sequence of str
        Of the columns.
    columns : sequence of list of str, optional
        Their cells, where they are texts already.
    text, ends : bytes and int64 array (n_records, n_columns), optional
        Else the text, in which nothing is quoted, and where each cell of it ends.
    """

    def __init__(
        self,
        names: Sequence[str],
        columns: Sequence[list[str]] = (),
        text: bytes = b"",
        ends: Ints | None = None,
        delimiter: str = "",
    ) -> None:
        self.names, self.text, self.ends, self.delimiter = list(names), text, ends, delimiter
        self._columns = dict(zip(names, columns, strict=True)) if ends is None else {}

    @property
    def is_plain(self) -> bool:
        """Whether no cell was in quotes, so that none needs them."""
        return self.ends is not None

    def __getitem__(self, name: str) -> list[str]:
        if not self._columns:
            flat = self.text.decode().replace("\n", self.delimiter).split(self.delimiter)
            flat.pop()
            self._columns = {n: flat[j :: len(self.names)] for j, n in enumerate(self.names)}
        return self._columns[name]

    def numbers(self, name: str) -> Floats | None:
        """The numbers of a column, if all are written in digits."""
        if self.ends is None:
            return None
        j, ends = self.names.index(name), self.ends
        before = ends[:, j - 1] if j else np.concatenate([[-1], ends[:-1, -1]])
        values = np.empty(len(ends))
        is_read = read_digits(np.frombuffer(self.text, np.uint8), before + 1, np.ascontiguousarray(ends[:, j]), values)
        return values if is_read else None


def csv_cells(text: bytes, names: Sequence[str], delimiter: str, first: int) -> WindowCells:
    """The cells of CSV records; `first` is the number of the first record, for errors."""
    width = len(names)
    if b'"' not in text:
        if b"\r" in text:
            text = text.replace(b"\r\n", b"\n")
        _refuse_undecodable(text, first)
        if b"\r" in text:
            raise BadRecord(first + text[: text.index(b"\r")].count(b"\n"), _NOT_ALONE)
        codes = np.frombuffer(text, np.uint8)
        is_line = codes == _NEWLINE
        ends = np.flatnonzero(is_line | (codes == ord(delimiter)))
        is_whole = len(ends) % width == 0 and is_line[ends[width - 1 :: width]].all()
        if not is_whole or np.count_nonzero(is_line) * width != len(ends):
            cuts = np.searchsorted(np.flatnonzero(codes == ord(delimiter)), np.flatnonzero(is_line))
            widths = np.diff(cuts, prepend=0) + 1
            wrong = int(np.flatnonzero(widths != width)[0])
            raise BadRecord(first + wrong, f"has {_cells(int(widths[wrong]))} and the header {width}; correct the line")
        return WindowCells(names, (), text, ends.astype(np.int64).reshape(-1, width), delimiter)
    _refuse_undecodable(text, first)
    rows = _quoted_rows(text, delimiter, first)
    for i, row in enumerate(rows):
        if len(row) != width:
            raise BadRecord(first + i, f"has {_cells(len(row))} and the header {width}; correct the line")
    return WindowCells(names, [list(cells) for cells in zip(*rows, strict=True)])


def _quoted_rows(text: bytes, delimiter: str, first: int) -> list[list[str]]:
    """The cells of records with quotes; each has to be one row, or windows and rows would fall apart."""
    codes = np.frombuffer(text, np.uint8)
    ends = np.flatnonzero((codes == _NEWLINE) & (np.cumsum(codes == _QUOTE) % 2 == 0)) + 1
    reader = csv.reader((text[a:b].decode() for a, b in pairwise([0, *ends.tolist()])), delimiter=delimiter)
    rows: list[list[str]] = []
    try:
        for row in reader:
            if reader.line_num != len(rows) + 1:
                raise BadRecord(first + len(rows), _NOT_ALONE)
            rows.append(row)
    except csv.Error:
        raise BadRecord(first + len(rows), _NOT_ALONE) from None
    return rows


def json_cells(text: bytes, names: Sequence[str], first: int) -> WindowCells:
    """The cells of JSON objects, one a line, column by column; null is the empty text."""
    columns: list[list[str]] = [[] for _ in names]
    for i, line in enumerate(text.removesuffix(b"\n").split(b"\n")):
        row = json_object(line, first + i)
        absent = [name for name in names if name not in row]
        if absent or len(row) > len(names):
            extra = [name for name in row if name not in names]
            what = f"lacks the key {absent[0]!r}" if absent else f"has {len(extra)} more keys than the first"
            raise BadRecord(first + i, f"{what}; give all the same")
        for cells, name in zip(columns, names, strict=True):
            cells.append(spelled_cell(row[name], name, first + i))
    return WindowCells(names, columns)


def json_object(line: bytes, number: int) -> dict[str, object]:
    """One line as a JSON object."""
    try:
        row = json.loads(line)
    except ValueError:
        row = None
    if not isinstance(row, dict):
        raise BadRecord(number, "is no JSON object; write one a line")
    return row


def spelled_cell(value: object, name: str, number: int) -> str:
    """A value of JSON or of Python as a cell."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | dict | tuple | set):
        raise BadRecord(number, f"column {name!r} holds several values; give one")
    text = str(value)
    try:
        text.isascii() or text.encode()
    except UnicodeEncodeError:
        raise BadRecord(
            number, f"column {name!r} holds half a character, which cannot be written; correct it"
        ) from None
    return text


def csv_lines(columns: Sequence[Sequence[str]], delimiter: str, *, is_plain: bool) -> bytes:
    """Columns as CSV; `is_plain` where no cell needs quotes."""
    if is_plain:
        return ("\n".join(map(delimiter.join, zip(*columns, strict=True))) + "\n").encode()
    out = io.StringIO()
    csv.writer(out, delimiter=delimiter, lineterminator="\n").writerows(zip(*columns, strict=True))
    return out.getvalue().encode()


@lru_cache(1 << 16)
def csv_cell(text: str, delimiter: str) -> str:
    """One cell, in quotes where it needs them."""
    is_plain = not any(mark in text for mark in (delimiter, '"', "\n", "\r"))
    return text if is_plain else '"' + text.replace('"', '""') + '"'


def json_lines(columns: Sequence[Sequence[str]], names: Sequence[str]) -> bytes:
    """Columns as JSON objects, one a line; every cell is a text."""
    rows = (dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True))
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()


def _cells(n: int) -> str:
    return f"{n} cell" if n == 1 else f"{n} cells"


def _refuse_undecodable(text: bytes, first: int) -> None:
    try:
        text.decode("utf-8")
    except UnicodeDecodeError as error:
        number = first + text[: error.start].count(b"\n")
        raise BadRecord(number, "is not UTF-8; convert the stream") from None
