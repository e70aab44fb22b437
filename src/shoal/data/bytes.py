"""The bytes of a file, decompressed, and its checksum, which whoever reads all of it finds on the way."""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import IO, Any, cast

from shoal.errors import DataError

_digests: ContextVar[dict[Path, str] | None] = ContextVar("digests", default=None)


@contextmanager
def digests_kept() -> Iterator[dict[Path, str]]:
    """For the time of the block, whoever reads a file to its end by `open_bytes` leaves its SHA-256 here.

    By absolute path, of the bytes as they stand there: of a compressed file, compressed.
    """
    found: dict[Path, str] = {}
    token = _digests.set(found)
    try:
        yield found
    finally:
        _digests.reset(token)


@contextmanager
def open_bytes(path: os.PathLike[str], gzipped: bool) -> Iterator[IO[bytes]]:
    """Open a file, decompressed, and turn what a damaged or unreadable one raises into a sentence."""
    try:
        with _opened(Path(path)) as stream, gzip.open(stream, "rb") if gzipped else stream as unpacked:
            yield cast(IO[bytes], unpacked)
    except EOFError:
        raise DataError(f"{path}: the gzip file is cut short; fetch or copy it again") from None
    except (gzip.BadGzipFile, zlib.error):
        raise DataError(f"{path}: the gzip file is damaged; fetch or copy it again") from None
    except PermissionError:
        raise DataError(f"{path}: no permission to read it; change its rights or copy it") from None
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror or 'input error'})") from None


def _opened(path: Path) -> IO[bytes]:
    found, where = _digests.get(), path.absolute()
    if found is None or where in found:
        return open(path, "rb")
    return io.BufferedReader(_Digested(open(path, "rb", buffering=0), lambda digest: found.update({where: digest})))


class _Digested(io.RawIOBase):
    """A file that is read from its start, and that tells its SHA-256 when the end is reached."""

    def __init__(self, file: io.FileIO, tell: Callable[[str], Any]) -> None:
        self._file = file
        self._tell = tell
        self._total = hashlib.sha256()

    def readable(self) -> bool:
        """It is."""
        return True

    def readinto(self, buffer: Any) -> int:
        """The next bytes."""
        n_read = self._file.readinto(buffer)
        if n_read:
            self._total.update(memoryview(buffer)[:n_read])
        elif len(buffer):
            self._tell(self._total.hexdigest())
        return n_read or 0

    def close(self) -> None:
        """Close the file too."""
        self._file.close()
        super().close()
