"""The first look at a delimited text file: encoding, delimiter, header, line ends, and what is wrong with it.

One pass over the bytes in large pieces. It also tells whether the quoting is regular, so that the fast
reader and the careful reader of :mod:`shoal.data.tables.csv` cannot disagree about the file.
"""

from __future__ import annotations

import codecs
import csv
import io
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import IO

import numpy as np

from shoal.arrays import Bytes
from shoal.data.bytes import open_bytes
from shoal.data.sniff import look
from shoal.errors import DataError

DELIMITERS = (",", ";", "\t", "|")
_PIECE = 4 << 20
_SAMPLE = 1 << 16
_QUOTE = ord('"')
_field_limit = threading.Lock()


@dataclass(frozen=True)
class Survey:
    """What is known of a delimited text file before its cells are read.

    Attributes
    ----------
    encoding : str
        The codec that decodes all of the file.
    header : tuple of str or None
        The fields of the first line as they stand; None if they do not end within the first piece.
    is_spaced : bool
        Every delimiter after the header is followed by a space, which then belongs to the delimiter.
    is_regular : bool
        UTF-8, one kind of line end, and quotes only around whole cells.
    n_delimiters : int
        Delimiters after the header and outside of quotes.
    has_quoted_header : bool
        Whether there is a quote in the first line; `has_quotes` is about the others.
    """

    encoding: str
    delimiter: str
    header: tuple[str, ...] | None
    is_spaced: bool
    is_regular: bool
    has_quotes: bool
    n_delimiters: int
    notes: tuple[str, ...] = ()
    has_quoted_header: bool = False


class _Undecodable(Exception):
    def __init__(self, line: int) -> None:
        super().__init__(line)
        self.line = line


def survey(path: os.PathLike[str], *, gzipped: bool, delimiter: str | None, encoding: str | None) -> Survey:
    """Look over a whole file and refuse it, with the line, if it cannot be a table of text."""
    chosen = _known(encoding) if encoding is not None else _by_mark(look(path).sample)
    try:
        found = _look_over(path, gzipped, delimiter, chosen)
    except _Undecodable as error:
        if encoding is not None or chosen != "utf-8":
            spoken = encoding or chosen.removesuffix("-sig")
            raise DataError(
                f"{path}, line {error.line}: not valid {spoken}; name the encoding that the file is in"
            ) from None
        try:
            found = _look_over(path, gzipped, delimiter, "cp1252")
        except _Undecodable:
            raise DataError(f"{path}, line {error.line}: neither UTF-8 nor Windows-1252; name the encoding") from None
        found = replace(found, notes=("read as Windows-1252, since it is not UTF-8", *found.notes))
    if chosen == "utf-16" and encoding is None:
        found = replace(found, notes=("read as UTF-16, as its first bytes say", *found.notes))
    return found


@contextmanager
def unlimited_fields(most: int = 2**31 - 1) -> Iterator[None]:
    """Lift the csv module's limit on the length of a cell, which holds for the whole process, for a while."""
    with _field_limit:
        before = csv.field_size_limit(most)
        try:
            yield
        finally:
            csv.field_size_limit(before)


def sniff(sample: str, first: str = ",") -> str:
    """Which delimiter cuts most lines of a sample into as many fields, at least two, as the first line.

    >>> sniff("a;b\\n1,5;2\\n"), sniff("only\\none\\n")
    (';', ',')
    """
    best, best_score = first, (0.0, 1)
    for delimiter in sorted(DELIMITERS, key=lambda d: d != first):
        widths = _widths(sample, delimiter)
        if not widths or widths[0] < 2:
            continue
        share = widths.count(widths[0]) / len(widths)
        # With a second line to compare with, a header that nothing agrees with is no evidence.
        if len(widths) > 1 and widths.count(widths[0]) == 1:
            continue
        if (share, widths[0]) > best_score:
            best, best_score = delimiter, (share, widths[0])
    return best


def _widths(sample: str, delimiter: str) -> list[int]:
    widths: list[int] = []
    # What was read before a broken quote is evidence enough.
    with unlimited_fields(), suppress(csv.Error):
        widths.extend(len(r) for r in csv.reader(io.StringIO(sample, newline=""), delimiter=delimiter) if r)
    return widths


def _known(encoding: str) -> str:
    try:
        "".encode(encoding)
        name = codecs.lookup(encoding).name
        codecs.getincrementaldecoder(name)().decode(b"", final=True)
    except (LookupError, ValueError, NotImplementedError):  # also a codec that refuses or is none of texts
        raise DataError(f"there is no encoding {encoding!r}; try 'utf-8', 'utf-16' or 'cp1252'") from None
    return "utf-8-sig" if name == "utf-8" else name


def _by_mark(start: bytes) -> str:
    if start.startswith(codecs.BOM_UTF8):
        return "utf-8-sig"
    return "utf-16" if start[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE) else "utf-8"


def _utf8_pieces(stream: IO[bytes], encoding: str) -> Iterator[tuple[bytes, int]]:
    """Pieces of the file as UTF-8, each with the number of the line that it begins in."""
    decoder = codecs.getincrementaldecoder(encoding)()
    is_utf8 = encoding in ("utf-8", "utf-8-sig")
    is_whole = encoding == "utf-8"  # no character is cut by the end of the piece before
    lines, at_start = 1, True
    while piece := stream.read(_PIECE):
        if at_start and encoding == "utf-8-sig":
            piece = piece.removeprefix(codecs.BOM_UTF8)
        at_start = False
        if not (is_utf8 and is_whole and piece.isascii()):
            try:
                text = decoder.decode(piece)
            except UnicodeDecodeError as error:
                raise _Undecodable(lines + _line_ends(error.object[: error.start])) from None
            is_whole = not decoder.getstate()[0]
            if not is_utf8:
                piece = text.encode("utf-8", "surrogatepass")
        yield piece, lines
        lines += _line_ends(piece)
    try:
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        raise _Undecodable(lines) from None


def _line_ends(piece: bytes) -> int:
    return piece.count(b"\n") or piece.count(b"\r")


def _look_over(path: os.PathLike[str], gzipped: bool, delimiter: str | None, encoding: str) -> Survey:
    with open_bytes(path, gzipped) as stream:
        pieces = _utf8_pieces(stream, encoding)
        first, _ = next(pieces, (b"", 1))
        _refuse_nul(path, first, 1)
        blank = not first.strip()
        sample = first[:_SAMPLE].decode("utf-8", "ignore")
        if len(first) > _SAMPLE and "\n" in sample:
            sample = sample[: sample.rindex("\n") + 1]
        if delimiter is None:
            tabbed = any(s.casefold() in (".tsv", ".tab") for s in _suffixes(path))
            delimiter = sniff(sample, "\t" if tabbed else ",")
        header, size = _header(first.decode("utf-8", "ignore"), delimiter)
        counts = _Counts(delimiter)
        counts.add(first[size:])
        for piece, line in pieces:
            _refuse_nul(path, piece, line)
            blank = blank and not piece.strip()
            counts.add(piece)
    if blank:
        raise DataError(f"{path}: {'holds only blank lines' if first else 'is empty'}; there is nothing to read")
    is_spaced = header is not None and len(header) > 1 and counts.delimiters == counts.spaced > 0
    has_one_line_end = counts.returns == 0 or (not counts.is_plain and counts.returns == counts.feeds == counts.pairs)
    has_simple_header = header is not None and first[:1] not in (b"\r", b"\n") and "\n" not in "".join(header)
    is_regular = (
        has_simple_header
        and has_one_line_end
        and counts.is_regular
        and not counts.is_inside
        and encoding in ("utf-8", "utf-8-sig")
        and b"\r" not in first[:size].replace(b"\r\n", b"")
    )
    notes = ("the blanks after the delimiters were removed",) if is_spaced else ()
    return Survey(
        encoding,
        delimiter,
        header,
        is_spaced,
        is_regular,
        counts.quotes > 0,
        counts.delimiters,
        notes,
        b'"' in first[:size],
    )


def _suffixes(path: os.PathLike[str]) -> list[str]:
    return ["." + s for s in os.path.basename(os.fspath(path)).split(".")[1:]]


def _refuse_nul(path: os.PathLike[str], piece: bytes, line: int) -> None:
    at = piece.find(b"\0")
    if at >= 0:
        line += _line_ends(piece[:at])
        raise DataError(
            f"{path}, line {line}: holds a NUL byte, so it is not text in a known encoding; save it as UTF-8 text"
        )


def _header(text: str, delimiter: str) -> tuple[tuple[str, ...] | None, int]:
    """The first record and how many bytes it takes, if it ends in this text."""
    lines = io.StringIO(text, newline="")
    size = 0

    def counted() -> Iterator[str]:
        nonlocal size
        for line in lines:
            size += len(line.encode())
            yield line

    with unlimited_fields():
        try:
            header = next(csv.reader(counted(), delimiter=delimiter, strict=True), None)
        except csv.Error:
            return None, 0
    return (None, 0) if not header or size == len(text.encode()) else (tuple(header), size)


class _Counts:
    """Counts of delimiters, quotes and line ends, over pieces of UTF-8."""

    def __init__(self, delimiter: str) -> None:
        self.delimiter = delimiter.encode()
        self.delimiters = self.spaced = self.quotes = self.feeds = self.returns = self.pairs = 0
        self.is_plain = False  # there is a piece with line feeds and without returns, whose feeds are not counted
        self.is_regular = len(self.delimiter) == 1
        self.is_inside = False
        self._before = b"\n"
        self._closing = False
        edge = np.zeros(256, dtype=bool)
        edge[[_QUOTE, ord("\n"), ord("\r"), *self.delimiter]] = True
        self._edge = edge

    def add(self, piece: bytes) -> None:
        """Count on in the next piece."""
        if not piece or len(self.delimiter) != 1:
            return
        joined = self._before + piece
        returns = piece.count(b"\r")
        self.returns += returns
        if returns or self._before == b"\r":
            self.feeds += piece.count(b"\n")
            self.pairs += joined.count(b"\r\n")
        else:
            self.is_plain = self.is_plain or b"\n" in piece
        if self._closing and not self._edge[piece[0]]:
            self.is_regular = False
        self._closing = False
        if self.is_inside or b'"' in piece:
            self._add_quoted(np.frombuffer(joined, dtype=np.uint8))
        else:
            # One more than the blanks may stand at the end of a piece; two more never get theirs.
            if self.delimiters - self.spaced <= 1:
                self.spaced += joined.count(self.delimiter + b" ")
            self.delimiters += piece.count(self.delimiter)
        self._before = piece[-1:]

    def _add_quoted(self, joined: Bytes) -> None:
        is_quote = joined == _QUOTE
        is_quote[0] = False  # that one was counted with the piece before
        inside = np.bitwise_xor.accumulate(is_quote) ^ self.is_inside
        at = np.flatnonzero(is_quote)
        opens, closes = at[inside[at]], at[~inside[at]]
        self._closing = bool(len(closes)) and int(closes[-1]) == len(joined) - 1
        followed = closes[:-1] if self._closing else closes
        self.is_regular &= bool(self._edge[joined[opens - 1]].all() and self._edge[joined[followed + 1]].all())
        outside = (joined == self.delimiter[0]) & ~inside
        self.delimiters += int(np.count_nonzero(outside[1:]))
        self.spaced += int(np.count_nonzero(outside[:-1] & (joined[1:] == ord(" "))))
        self.quotes += len(at)
        self.is_inside = bool(inside[-1])
