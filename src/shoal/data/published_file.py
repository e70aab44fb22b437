"""Files of a folder that somebody else may have made: plain files alone, and no more of them than there may be.

A published folder can be edited by whoever hands it on. A link, a pipe or a device in the place of a file is refused
before it is opened. How much a file may unpack to is bounded by what it takes on the disk and by the number of cells
that the manifest claims, so that a small file cannot fill the memory.
"""

from __future__ import annotations

import json
import math
import os
import re
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb

from shoal.data.bytes import open_bytes
from shoal.data.database import connection, file_literal
from shoal.errors import DataError

MOST_MANIFEST = 64 << 20
"""Bytes of a manifest; larger ones are neither written nor read."""
LEAST_BOUND = 64 << 20
MOST_RATIO = 100
CELL_BYTES = 256
_PIECE = 1 << 20
_HALF_CHARACTER = re.compile(r"\\u[dD][89a-fA-F]")


def read_json(path: Path) -> Any:
    """What a JSON file holds, which may be hostile: ValueError for what is not plain JSON of finite numbers."""
    plain_file(path)
    with open(path, "rb") as file:
        content = file.read(MOST_MANIFEST + 1)
    if len(content) > MOST_MANIFEST:
        raise ValueError(f"it is larger than {MOST_MANIFEST >> 20} MiB")
    text = content.decode("utf-8")
    try:
        found = json.loads(text, parse_float=_finite, parse_constant=_refuse, object_pairs_hook=_without_repeats)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    if _HALF_CHARACTER.search(text):
        json.dumps(found, ensure_ascii=False).encode()  # UnicodeEncodeError, a ValueError, for half a character
    return found


def plain_file(path: Path) -> os.stat_result:
    """What is known of a plain file; `DataError` for a link, a pipe, a device or a folder, OSError if there is none."""
    try:
        found = os.lstat(path)
    except ValueError:  # a NUL in its name
        raise DataError("the manifest names a file that cannot be; restore it from the release") from None
    if stat.S_ISLNK(found.st_mode):
        raise DataError(f"{path} is a link, and a release has none; restore it from the release")
    if not stat.S_ISREG(found.st_mode):
        raise DataError(f"{path} is not a plain file; restore it from the release")
    return found


def refuse_oversized(path: Path, n_rows: int, n_columns: int = 0) -> None:
    """`DataError` for a data file that holds more than a release of so many rows may.

    Parameters
    ----------
    n_rows, n_columns : int
        What the manifest claims. Without columns, cells may be of any length and do not count.
    """
    found = plain_file(path)
    stored = getattr(found, "st_blocks", None)
    on_disk = found.st_size if stored is None else min(found.st_size, 512 * stored)  # a file may have holes
    bound = max(LEAST_BOUND, MOST_RATIO * on_disk, CELL_BYTES * (n_rows + 1) * n_columns)
    if found.st_size > bound or _unpacked(path, bound) > bound:
        raise DataError(
            f"{path} holds far more than the {n_rows:,} records that its manifest claims; restore it from the release"
        )


def _unpacked(path: Path, bound: int) -> int:
    """How many bytes a file unpacks to, or more than the bound."""
    with open(path, "rb") as file:
        start = file.read(4)
    if start.startswith(b"PAR1"):
        return _parquet_bytes(path)
    if not start.startswith(b"\x1f\x8b"):
        return 0
    total = 0
    with open_bytes(path, gzipped=True) as stream:
        while total <= bound and (piece := stream.read(_PIECE)):
            total += len(piece)
    return total


def _parquet_bytes(path: Path) -> int:
    """What the columns of a Parquet file take in memory, as its metadata tells: eight bytes a value at least."""
    told = f"SELECT sum(greatest(total_uncompressed_size, 8 * num_values)) FROM parquet_metadata({file_literal(path)})"
    try:
        with connection() as database:
            found = database.execute(told).fetchone()
    except duckdb.Error:
        raise DataError(f"{path}: the Parquet file is damaged or of an unknown make; export it again") from None
    return int(found[0] or 0) if found else 0


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError("a number is too large")
    return number


def _refuse(text: str) -> float:
    raise ValueError(f"{text} is no JSON")


def _without_repeats(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) < len(pairs):
        raise ValueError("a key occurs twice")
    return content
