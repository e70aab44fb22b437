"""One look at the start of a file, by which kind, format, compression and encoding are told.

Several readers have to look before one of them reads. Within `one_look` they share what was seen, so that a file is
opened once to be told and once to be read, however many ask.
"""

from __future__ import annotations

import os
import re
import stat
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from shoal.errors import DataError

SAMPLE = 1 << 16
GZIP = b"\x1f\x8b"
PARQUET = b"PAR1"
ZIP = (b"PK\x03\x04", b"PK\x05\x06")
_R = (b"RDX2\n", b"RDX3\n", b"RDA3\n", b"X\n\x00\x00\x00\x02", b"X\n\x00\x00\x00\x03")
_PICKLES = (b"\x80\x03", b"\x80\x04\x95", b"\x80\x05\x95")
_ALIENS = {
    b"PK\x03\x04": "a zip archive or a damaged spreadsheet; unpack it, or save the sheet again",
    b"BZh": "compressed with bzip2; unpack it or compress it with gzip",
    b"\xfd7zXZ\x00": "compressed with xz; unpack it or compress it with gzip",
    b"\x28\xb5\x2f\xfd": "compressed with zstd; unpack it or compress it with gzip",
    b"7z\xbc\xaf\x27\x1c": "a 7z archive; unpack it, or make a zip of it",
    b"\xd0\xcf\x11\xe0": "an old spreadsheet; save the sheet as CSV",
    b"%PDF": "a PDF; give the table as CSV or Parquet",
    **dict.fromkeys(_R, "saved by R; write the table with write.csv there"),
    **dict.fromkeys(_PICKLES, "pickled by Python, and is not opened, as that may run code; write a table"),
    b"\x93NUMPY": "an array of NumPy; write a table with the names of its columns",
    b"\x89HDF\r\n": "HDF5, or MATLAB's or NetCDF's form of it; export the table as CSV or Parquet",
    b"MATLAB 5.0 MAT": "of MATLAB; export the table as CSV",
    b"Obj\x01": "Avro; convert it to Parquet or CSV",
    b"\x89PNG\r\n": "a picture (PNG), and no table",
    b"\xff\xd8\xff": "a picture (JPEG), and no table",
    **dict.fromkeys((b"<!doctype html", b"<html"), "a web page; save the table that it shows as CSV"),
    **dict.fromkeys((b"\x7fELF", b"MZ\x90\x00"), "a program, and no table"),
    b"<?xml": "XML; convert it to a table, as CSV or Parquet",
}
"""What files begin with that no reader knows, by the first bytes in small letters or as they are."""
_TAR_MARK = (257, b"ustar")
_JSON_ARRAY = re.compile(rb"\s*\[\s*\{")
_seen: ContextVar[dict[Path, Look] | None] = ContextVar("seen", default=None)


@dataclass(frozen=True)
class Look:
    """The start of a file.

    Attributes
    ----------
    path : Path
    raw : bytes
        The first 64 KiB as they stand there.
    is_whole : bool
        Whether that is all of it.
    """

    path: Path
    raw: bytes
    is_whole: bool

    @property
    def is_gzip(self) -> bool:
        """Whether it is compressed with gzip."""
        return self.raw.startswith(GZIP)

    @property
    def is_parquet(self) -> bool:
        """Whether it is a Parquet file."""
        return self.raw.startswith(PARQUET)

    @property
    def is_zip(self) -> bool:
        """Whether it is a zip archive, as workbooks are too."""
        return self.raw.startswith(ZIP)

    @cached_property
    def sample(self) -> bytes:
        """The first bytes, decompressed; `DataError` if they are damaged."""
        return self._unpacked() if self.is_gzip else self.raw

    @property
    def lines(self) -> list[bytes]:
        """The lines of the sample in UTF-8, without one that is cut at its end."""
        sample = self.sample
        is_cut = not self.is_whole or len(sample) >= SAMPLE
        if sample[:2] in (b"\xff\xfe", b"\xfe\xff"):
            sample = sample.decode("utf-16", "ignore").encode("utf-8", "ignore")
        lines = sample.removeprefix(b"\xef\xbb\xbf").splitlines()
        return lines[:-1] if is_cut and len(lines) > 1 else lines

    def _unpacked(self) -> bytes:
        left, found = self.raw, b""
        while left.startswith(GZIP) and len(found) < SAMPLE:  # a file may be several that were put behind each other
            unpacker = zlib.decompressobj(wbits=31)
            try:
                found += unpacker.decompress(left, SAMPLE - len(found))
            except zlib.error:
                raise DataError(f"{self.path}: the gzip file is damaged; fetch or copy it again") from None
            if not unpacker.eof:
                if self.is_whole and len(found) < SAMPLE:
                    raise DataError(f"{self.path}: the gzip file is cut short; fetch or copy it again")
                break
            left = unpacker.unused_data
        return found


def alien_of(start: bytes) -> str | None:
    """What a file is that is surely no text and that no reader knows, and what to do about it; None of others.

    >>> alien_of(b"%PDF-1.7"), alien_of(b"name,age")
    ('a PDF; give the table as CSV or Parquet', None)
    """
    if start[_TAR_MARK[0] :].startswith(_TAR_MARK[1]):
        return "a tar archive; unpack it, or make a zip of it"
    start = start.removeprefix(b"\xef\xbb\xbf")[:32]
    if _JSON_ARRAY.match(start):
        return "a JSON array; write JSON lines instead, one object on each line, without the brackets around them"
    small = start.lower()
    return next((what for magic, what in _ALIENS.items() if magic in (start[: len(magic)], small[: len(magic)])), None)


@contextmanager
def one_look() -> Iterator[None]:
    """For the time of the block every file is looked at once; it is taken not to change meanwhile."""
    if _seen.get() is not None:
        yield
        return
    token = _seen.set({})
    try:
        yield
    finally:
        _seen.reset(token)


def look(path: str | os.PathLike[str]) -> Look:
    """Look at the start of a file.

    Raises
    ------
    DataError
        If it is not there, not readable, or no plain file.
    """
    where, seen = Path(path), _seen.get()
    if seen is not None and where in seen:
        return seen[where]
    found = _look(where)
    if seen is not None:
        seen[where] = found
    return found


def _look(path: Path) -> Look:
    try:
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            raise DataError(f"{path}: is a folder; give one file")
        if not stat.S_ISREG(mode):
            raise DataError(f"{path}: is a device or a pipe; save its content to a file, or give - and pipe it in")
        with open(path, "rb") as stream:
            raw = stream.read(SAMPLE)
            return Look(path, raw, is_whole=len(raw) < SAMPLE)
    except FileNotFoundError:
        raise DataError(f"{path}: there is no such file") from None
    except PermissionError:
        raise DataError(f"{path}: no permission to read it; change its rights or copy it") from None
    except (OSError, ValueError) as error:  # ValueError: a NUL inside the path
        reason = getattr(error, "strerror", None) or "not a usable path"
        raise DataError(f"{path}: cannot be read ({reason})") from None
