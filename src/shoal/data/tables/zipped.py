"""One table out of a zip archive, unpacked into an owner-only folder for as long as it is read.

An archive may come from anywhere. What is encrypted, is an archive itself, or unpacks to far more than it takes is
refused, the last before it fills the disk; nothing is written under a name that the archive gives.
"""

from __future__ import annotations

import os
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from shoal.data.sniff import ZIP, Look
from shoal.data.tables.files import one_of
from shoal.errors import DataError
from shoal.scratch import scratch_folder

LEAST_BOUND = 1 << 28
MOST_RATIO = 200
_PIECE = 1 << 20
_ENCRYPTED = 0x1
_NOT_DATA = ("__MACOSX/", ".DS_Store", "Thumbs.db", "desktop.ini")


@contextmanager
def unpacked(seen: Look, wanted: str | None) -> Iterator[tuple[Path, str]]:
    """The file that is wanted of an archive, or its only one, as a file, and what to call it in messages.

    Raises
    ------
    DataError
        If the archive is damaged, empty, encrypted or a bomb, or holds several files and none is named.
    """
    path = seen.path
    try:
        with zipfile.ZipFile(path) as archive, scratch_folder() as folder:
            name = one_of(path, "file", _names(path, archive), wanted)
            # The suffix decides nothing but the delimiter of .tsv, and is what a message shows.
            target = folder / f"table{''.join(_plain(s) for s in PurePosixPath(name).suffixes[-2:])}"
            _unpack(path, archive, archive.getinfo(name), target)
            yield target, f"{path}?table={name}"
    except (zipfile.BadZipFile, zlib.error, EOFError):
        raise DataError(f"{path}: the zip archive or spreadsheet is damaged; fetch or copy it again") from None
    except NotImplementedError:
        raise DataError(f"{path}: the zip archive is packed in a way not known here; unpack it yourself") from None


def _names(path: Path, archive: zipfile.ZipFile) -> list[str]:
    files = [info for info in archive.infolist() if not info.is_dir()]
    files = [f for f in files if not f.filename.startswith(_NOT_DATA[0]) and not f.filename.endswith(_NOT_DATA[1:])]
    if not files:
        raise DataError(f"{path}: the zip archive is empty; put one table into it")
    names = [f.filename for f in files]
    if len(set(names)) < len(names):
        raise DataError(f"{path}: two files of the zip archive have the same name; pack them again")
    return names


def _plain(suffix: str) -> str:
    return suffix if suffix[1:].isalnum() and len(suffix) <= 10 else ""


def _unpack(path: Path, archive: zipfile.ZipFile, info: zipfile.ZipInfo, target: Path) -> None:
    if info.flag_bits & _ENCRYPTED:
        raise DataError(f"{path}: is encrypted; unpack it yourself, with its password")
    bound = max(LEAST_BOUND, MOST_RATIO * os.stat(path).st_size)
    total = 0
    with archive.open(info) as packed, open(target, "xb") as file:
        while piece := packed.read(_PIECE):
            total += len(piece)
            if total > bound:
                raise DataError(
                    f"{path}: unpacks to far more than the {os.stat(path).st_size:,} bytes that it takes, as archives "
                    "made to fill a disk do; unpack it yourself if you trust it"
                )
            file.write(piece)
    with open(target, "rb") as file:
        start = file.read(4)
    if start.startswith(ZIP) and target.suffix.casefold() not in (".xlsx", ".xlsm"):
        raise DataError(f"{path}: holds another zip archive; unpack it yourself")
