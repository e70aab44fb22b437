"""A text file in blocks of lines or of records, for files larger than memory."""

from __future__ import annotations

import codecs
import io
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO

import numpy as np

from shoal.data.bytes import open_bytes
from shoal.data.sniff import alien_of, look
from shoal.data.whole_text import UTF16_NOTES, WholeText
from shoal.errors import DataError

_PIECE = 1 << 22


def line_blocks(path: str | os.PathLike[str], n_lines: int) -> Iterator[tuple[WholeText, int]]:
    """Read a text file, plain or compressed with gzip, in blocks of lines, each with the number of its first line.

    It is UTF-8, or UTF-16 with a mark at its start. Another encoding could be told only from the whole file, so unlike
    `shoal.data.whole_text.load_text` this refuses it. What is held in memory is one block and one piece of the file.

    Raises
    ------
    DataError
        With file and line if it is not there, empty, damaged or not text; after the blocks before that line.
    """
    where = Path(path)
    gzipped = look(where).is_gzip
    line, is_blank, is_empty = 1, True, True
    with open_bytes(where, gzipped) as stream:
        for data in _cut(_pieces(where, stream, stream.read(_PIECE)), n_lines):
            is_empty, is_blank = False, is_blank and not data.strip()
            yield WholeText(where, data, gzipped), line
            line += data.count(b"\n")
    if is_blank:
        raise DataError(f"{where}: {'is empty' if is_empty else 'holds only blank lines'}; there is nothing to read")


def text_blocks(
    path: str | os.PathLike[str], n_bytes: int, mark: bytes = b"", most: int | None = None
) -> Iterator[WholeText]:
    """Read a text file as `line_blocks` does, in blocks of about so many bytes, each of which knows its first line.

    Parameters
    ----------
    mark : bytes
        How the first line of a record begins; each block but the first begins with one, and each has one if any has.
        Without it any line may begin a block.
    most : int, optional
        Bytes that a block may have where a record is longer than `n_bytes`.

    Raises
    ------
    DataError
        As `line_blocks` does; and if a record makes a block too long.
    """
    where = Path(path)
    gzipped = look(where).is_gzip
    line, is_blank, is_empty = 1, True, True
    with open_bytes(where, gzipped) as stream:
        start = stream.read(_PIECE)
        notes = UTF16_NOTES if _is_utf16(start) else ()
        for data in _gathered(_pieces(where, stream, start), n_bytes, mark, most):
            if most is not None and len(data) > most:
                raise DataError(
                    f"{where}: a record that begins after line {line - 1:,} is too long for the bound on memory, which "
                    f"has room for {most / 1e6:,.0f} MB of text at once: raise memory or leave it out"
                )
            is_empty, is_blank = False, is_blank and not data.strip()
            yield WholeText(where, data, gzipped, notes, line)
            line += data.count(b"\n")
    if is_blank:
        raise DataError(f"{where}: {'is empty' if is_empty else 'holds only blank lines'}; there is nothing to read")


def _gathered(pieces: Iterable[bytes], n_bytes: int, mark: bytes, most: int | None) -> Iterator[bytes]:
    """Blocks that end where a record does, and the rest; the last line gets an end if it has none.

    A block of more than `most` bytes is given before its end is found.
    """
    held: list[bytes] = []
    n_held = 0
    for piece in pieces:
        held.append(piece)
        n_held += len(piece)
        if n_held < n_bytes:
            continue
        whole = b"".join(held)
        end = whole.rfind(b"\n" + mark) + 1
        if end > 0 and (not mark or whole.startswith(mark) or b"\n" + mark in whole[: end - 1]):
            yield whole[:end]
            whole = whole[end:]
        elif most is not None and len(whole) > most:
            yield whole
            return
        held, n_held = [whole], len(whole)
    rest = b"".join(held)
    if rest:
        yield rest if rest.endswith(b"\n") else rest + b"\n"


def _is_utf16(start: bytes) -> bool:
    return start[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def _pieces(path: Path, stream: IO[bytes], start: bytes) -> Iterator[bytes]:
    """The text as UTF-8 with plain line ends, in pieces that cut no character; `start` was read of it."""
    raw, is_utf16 = start, _is_utf16(start)
    decoder = io.IncrementalNewlineDecoder(
        codecs.getincrementaldecoder("utf-16" if is_utf16 else "utf-8-sig")(), translate=True
    )
    line = 1
    while True:
        try:
            text = decoder.decode(raw, final=not raw)
        except UnicodeDecodeError as error:
            line += error.object[: error.start].count(b"\n")
            raise _no_text(path, start, line, f"is not valid {'UTF-16' if is_utf16 else 'UTF-8'}") from None
        if "\0" in text:
            line += text[: text.index("\0")].count("\n")
            raise _no_text(path, start, line, "holds a NUL byte, so it is not text in a known encoding")
        line += text.count("\n")
        if text:
            yield text.encode()
        if not raw:
            return
        raw = stream.read(_PIECE)


def _no_text(path: Path, start: bytes, line: int, what: str) -> DataError:
    if alien := alien_of(start):
        return DataError(f"{path}: is {alien}")
    if start.startswith(b"PAR1"):
        return DataError(f"{path}: is a Parquet table, which is not read in blocks; read it as a whole")
    return DataError(f"{path}, line {line}: {what}; save it as UTF-8 text")


def _cut(pieces: Iterable[bytes], n_lines: int) -> Iterator[bytes]:
    """Blocks of so many lines, and the rest; the last line gets an end if it has none."""
    held: list[bytes] = []
    n_held = 0
    for piece in pieces:
        ends = np.flatnonzero(np.frombuffer(piece, np.uint8) == ord("\n")) + 1
        begin, n_held = 0, n_held + len(ends)
        for end in ends[len(ends) - n_held + n_lines - 1 :: n_lines].tolist() if n_held >= n_lines else ():
            yield b"".join([*held, piece[begin:end]])
            held, begin, n_held = [], end, n_held - n_lines
        held.append(piece[begin:])
    rest = b"".join(held)
    if rest:
        yield rest if rest.endswith(b"\n") else rest + b"\n"
