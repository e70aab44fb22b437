"""A text file as one piece of UTF-8 with plain line ends, refused with the line where it is no text."""

from __future__ import annotations

import codecs
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from shoal.arrays import Bytes, Ints
from shoal.data.bytes import open_bytes
from shoal.data.sniff import alien_of, look
from shoal.data.tables.unchanged import unchanged
from shoal.errors import DataError

_PIECE = 1 << 21
UTF16_NOTES = ("read as UTF-16, as its first bytes say",)


@dataclass(frozen=True)
class WholeText:
    """The content of a text file.

    Attributes
    ----------
    path : Path
        For messages.
    data : bytes
        UTF-8 without a mark at its start and without NUL; every line ends with ``\\n``, also the last one.
    gzipped : bool
        Whether it was compressed.
    notes : tuple of str
        What was done to it that a user might not expect.
    first_line : int
        The number of its first line: more than 1 where it is a part of a file.
    """

    path: Path
    data: bytes = field(repr=False)
    gzipped: bool = False
    notes: tuple[str, ...] = ()
    first_line: int = 1

    @property
    def array(self) -> Bytes:
        """The bytes, not copied."""
        return np.frombuffer(self.data, np.uint8)

    def line_at(self, position: int) -> int:
        """The line, from 1, in which a byte stands."""
        return self.data.count(b"\n", 0, position) + self.first_line

    def line_starts(self) -> Ints:
        """Where each line begins, and where the last one ends."""
        ends = np.flatnonzero(self.array == ord("\n"))
        return np.concatenate([np.zeros(1, np.int64), ends + 1])

    def pieces(self) -> Iterator[bytes]:
        """The text in large pieces of whole lines."""
        start = 0
        while start < len(self.data):
            end = self.data.find(b"\n", min(start + _PIECE, len(self.data)) - 1) + 1
            yield self.data[start:end]
            start = end


def load_text(path: str | os.PathLike[str]) -> WholeText:
    """Read a whole text file, plain or compressed with gzip.

    It is UTF-8, UTF-16 with a mark at its start, or Windows-1252 with a note. Line ends may be of any kind and mixed.

    Raises
    ------
    DataError
        With file and line if it is not there, empty, damaged or not text.
    """
    where = Path(path)
    seen = look(where)
    gzipped = seen.is_gzip
    with unchanged(where), open_bytes(where, gzipped) as stream:
        data = stream.read()
    data, notes = _as_utf8(where, data)
    if b"\0" in data:
        _refuse_alien(where, seen.raw)
        line = _line(data[: data.index(b"\0")])
        raise DataError(
            f"{where}, line {line}: holds a NUL byte, so it is not text in a known encoding; save it as UTF-8 text"
        )
    if b"\r" in data:
        data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    if not data or data.isspace():
        raise DataError(f"{where}: {'holds only blank lines' if data else 'is empty'}; there is nothing to read")
    return WholeText(where, data if data.endswith(b"\n") else data + b"\n", gzipped, notes)


def _as_utf8(path: Path, data: bytes) -> tuple[bytes, tuple[str, ...]]:
    if data[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        try:
            return data.decode("utf-16").encode(), UTF16_NOTES
        except UnicodeError:
            raise DataError(f"{path}: not valid utf-16, though its first bytes say so; save it as UTF-8 text") from None
    data = data.removeprefix(codecs.BOM_UTF8)
    if data.isascii():
        return data, ()
    try:
        data.decode()
    except UnicodeDecodeError as error:
        _refuse_alien(path, data[:16])
        line = _line(data[: error.start])
        if b"\0" in data:
            return data, ()  # which is refused with its own line
        try:
            return data.decode("cp1252").encode(), ("read as Windows-1252, since it is not UTF-8",)
        except UnicodeDecodeError:
            raise DataError(
                f"{path}, line {line}: neither UTF-8 nor Windows-1252; save the file as UTF-8 text"
            ) from None
    return data, ()


def _line(before: bytes) -> int:
    return before.replace(b"\r\n", b"\n").replace(b"\r", b"\n").count(b"\n") + 1


def _refuse_alien(path: Path, start: bytes) -> None:
    if what := alien_of(start):
        raise DataError(f"{path}: is {what}")
    if start.startswith(b"PAR1"):
        raise DataError(f"{path}: is a Parquet table; name the column that holds the strings")
