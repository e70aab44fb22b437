"""Where a stream comes from: a pipe, a file, or a folder into which files are put. Each knows how far it was read."""

from __future__ import annotations

import gzip
import os
import select
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

from shoal.errors import DataError

PIECE = 1 << 20
_PIPE_PIECE = 1 << 16
_POLL_SECONDS = 0.2
Mark = dict[str, Any]


class ByteSource(ABC):
    """Bytes in an order, from a position on."""

    can_wait = True
    """Whether more may come later, so that what is there has to go out before it is waited for."""
    header = b""
    """The first line, where it is a header; who reads it says so."""

    @abstractmethod
    def read(self, wait: float | None) -> bytes | None:
        """More bytes; none where none came within so many seconds (None: however long it takes), None at the end."""

    def skip(self, n_bytes: int, mark: Mark) -> None:
        """Pass over what was read before a restart, `mark` being what was told then."""
        while n_bytes > 0:
            piece = self.read(None)
            if piece is None and n_bytes == 1:  # the end of the last line, which may have none
                return
            if piece is None:
                raise DataError(
                    "the stream ends before the place where it was left; give it again from its first record on"
                )
            n_bytes -= len(piece)
            self._left = piece[len(piece) + n_bytes :] if n_bytes < 0 else b""

    def mark(self, n_bytes: int) -> Mark:
        """What has to be remembered to go on after so many bytes."""
        return {}

    _left = b""
    """What was read with the last of what was passed over."""

    def more(self, wait: float | None) -> bytes | None:
        """What is left of passing over, and then what `read` brings."""
        left, self._left = self._left, b""
        return left or self.read(wait)

    def close(self) -> None:  # noqa: B027  most have nothing open
        """Let go of what is open."""


class PipeSource(ByteSource):
    """A pipe, such as standard input. After a restart it is to bring the same records from the first one on."""

    def __init__(self, file: BinaryIO) -> None:
        self._handle = file.fileno()

    def read(self, wait: float | None) -> bytes | None:
        if wait is not None and not select.select([self._handle], [], [], max(0.0, wait))[0]:
            return b""
        return os.read(self._handle, _PIPE_PIECE) or None


class FileSource(ByteSource):
    """A file, plain or compressed with gzip, from its first byte to its last."""

    can_wait = False

    def __init__(self, path: Path) -> None:
        try:
            with path.open("rb") as file:
                self._is_packed = file.read(2) == b"\x1f\x8b"
            self._file: Any = gzip.GzipFile(path) if self._is_packed else path.open("rb")
        except OSError as error:
            raise DataError(f"{path} cannot be read: {error.strerror or error}; name another file") from None

    def read(self, wait: float | None) -> bytes | None:
        try:
            piece: bytes = self._file.read(PIECE)
        except (OSError, EOFError) as error:
            raise DataError(f"the file cannot be read to its end ({type(error).__name__}); give a whole one") from None
        return piece or None

    def skip(self, n_bytes: int, mark: Mark) -> None:
        if self._is_packed:
            super().skip(n_bytes, mark)
        elif self._file.seek(0, os.SEEK_END) < n_bytes - 1:  # the last line may have no end
            raise DataError("the file ends before the place where it was left; give the same file")
        else:
            self._file.seek(n_bytes)

    def close(self) -> None:
        self._file.close()


class FolderSource(ByteSource):
    """The files of a folder in the order of their names, those of later names when they appear.

    A file has to be whole when it gets its name, and each begins with the same header, or is refused. Names that begin
    with a dot are passed over, and so are files that appear with a name before that of one that was read.
    """

    def __init__(self, folder: Path, *, once: bool, sleep: Callable[[float], None] = time.sleep) -> None:
        self.folder, self.once, self._sleep = folder, once, sleep
        self._last: str | None = None
        self._file: BinaryIO | None = None
        self._begun: list[tuple[int, str]] = []
        self._n_bytes, self._is_ended = 0, True
        self._first, self._is_first = "", True

    def read(self, wait: float | None) -> bytes | None:
        if self._file is None:
            name = self._next()
            if name is None and self.once:
                return None
            if name is None:
                self._sleep(_POLL_SECONDS if wait is None else min(wait, _POLL_SECONDS))
                return b""
            self._open(name)
        assert self._file is not None
        piece = self._file.read(PIECE)
        if not piece:
            self.close()
            piece = b"" if self._is_ended else b"\n"
        self._is_ended = not piece or piece.endswith(b"\n")
        self._n_bytes += len(piece)
        return piece

    def _open(self, name: str) -> None:
        try:
            self._file = (self.folder / name).open("rb")
        except OSError as error:
            raise DataError(f"{self.folder / name} cannot be read: {error.strerror or error}") from None
        if not self._is_first and self.header and _line(self._file.readline()) != _line(self.header):
            raise DataError(
                f"{self.folder / name} does not begin with the header of the files before it, so its columns may be "
                "others; give all the same"
            )
        self._last, self._is_first, self._is_ended = name, False, True
        self._begun.append((self._n_bytes, name))

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def mark(self, n_bytes: int) -> Mark:
        while len(self._begun) > 1 and self._begun[1][0] <= n_bytes:
            self._begun.pop(0)
        start, name = self._begun[0] if self._begun else (0, None)
        return {"start": start, "file": name, "header": self.header.decode("latin-1")}

    def skip(self, n_bytes: int, mark: Mark) -> None:
        """Files before the one that was being read may be gone."""
        self._n_bytes, self.header = mark["start"], mark["header"].encode("latin-1")
        self._first = mark["file"]
        self._is_first = mark["start"] == 0
        super().skip(n_bytes - self._n_bytes, mark)

    def _next(self) -> str | None:
        try:
            names = sorted(e.name for e in os.scandir(self.folder) if e.is_file() and not e.name.startswith("."))
        except OSError as error:
            raise DataError(f"{self.folder} cannot be read: {error.strerror or error}") from None
        return next((n for n in names if (n >= self._first if self._last is None else n > self._last)), None)


class RecordSource(ByteSource):
    """Records of an iterator, written as lines; as many at once as fill a window, or one where time counts."""

    def __init__(self, lines: Iterator[bytes], n_at_once: int) -> None:
        self._lines, self._n_at_once = lines, n_at_once

    def read(self, wait: float | None) -> bytes | None:
        return b"".join(islice(self._lines, self._n_at_once)) or None


def _line(line: bytes) -> bytes:
    """A line without its end, and without the mark that a file may begin with."""
    return line.removeprefix(b"\xef\xbb\xbf").rstrip(b"\r\n")


def open_source(path: Path, *, once: bool) -> ByteSource:
    """A file or a folder."""
    if not path.exists():
        raise DataError(f"there is no file or folder {path}; name another, or - for standard input")
    return FolderSource(path, once=once) if path.is_dir() else FileSource(path)
