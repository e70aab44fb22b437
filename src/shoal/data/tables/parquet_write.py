"""Tables into Parquet files, written as runs: a row that stands for many records costs no more than one.

A column of a row group is a dictionary of its values and the runs of their numbers, or the numbers packed bit by bit
where that is shorter, or the values one by one where most of them occur once. The same table gives the same bytes,
whether equal rows are put together or not, and whoever writes the row groups: where there are workers, each writes some
into files of their own (`shoal.data.tables.workers`), which are put behind each other.

References
----------
Apache Parquet, "Encodings" and the definition of the file format (parquet-format, Encodings.md and parquet.thrift).
"""

from __future__ import annotations

import os
import shutil
import struct as packing
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from shoal.arrays import Bytes, Codes, Ints
from shoal.data.tables.sql_cells import refuse_alike, sql_type
from shoal.data.tables.table import Column, Table
from shoal.data.tables.thrift import Long, struct, varint
from shoal.data.tables.workers import Seen, Workers, writers
from shoal.errors import DataError

GROUP_RECORDS = 1 << 18
"""Records of a row group."""

_MAGIC = b"PAR1"
_HALF = "a text holds half a character (a lone surrogate), which no file can; mend it"
_PLAIN, _RLE, _RLE_DICTIONARY = 0, 3, 8
_GZIP, _LEVEL = 2, 1
_BOOLEAN, _INT32, _INT64, _DOUBLE, _BYTES = 0, 1, 2, 5, 6
_TYPES: dict[str, tuple[int, dict[int, Any]]] = {  # of SQL: the physical one, and what more its schema says
    "VARCHAR": (_BYTES, {6: 0, 10: {1: {}}}),
    "BIGINT": (_INT64, {}),
    "DOUBLE": (_DOUBLE, {}),
    "BOOLEAN": (_BOOLEAN, {}),
    "DATE": (_INT32, {6: 6, 10: {6: {}}}),
    "TIMESTAMP": (_INT64, {10: {8: {1: False, 2: {2: {}}}}}),
}


@dataclass(frozen=True)
class _Runs:
    """Codes of records that follow each other: ``codes[i]`` holds ``lengths[i]`` times."""

    codes: Codes
    lengths: Ints

    @classmethod
    def of(cls, codes: Codes, lengths: Ints) -> _Runs:
        """Join those that are equal."""
        opens = np.flatnonzero(np.concatenate([[True], codes[1:] != codes[:-1]]))
        return cls(codes[opens], np.add.reduceat(lengths, opens))

    @property
    def n_records(self) -> int:
        return int(self.lengths.sum())

    def spread(self) -> Codes:
        return np.repeat(self.codes, self.lengths)


@dataclass(frozen=True)
class _Kept:
    """A column as it is written: of codes above those of `values`, cells are null."""

    name: str
    kind: str
    codes: Codes
    values: npt.NDArray[Any]

    @classmethod
    def of(cls, column: Column) -> _Kept:
        place, held = _spelled_values(column)
        return cls(column.name, sql_type(column), place[column.codes] if len(place) else column.codes, held)

    def part(self, rows: slice) -> _Kept:
        """Some of the rows, with the values that they have."""
        codes = self.codes[rows]
        used, _ = _numbered(codes[codes < len(self.values)], len(self.values))
        numbers = np.searchsorted(used, codes).astype(np.int32)
        return replace(self, codes=numbers, values=self.values[used])


def _spelled_values(column: Column) -> tuple[Codes, npt.NDArray[Any]]:
    """What is written for the values of a column, and the place of each code among them."""
    place = np.arange(len(column.values) + len(column.markers), dtype=np.int32)
    if sql_type(column) != "VARCHAR":
        return place, column.values
    texts = [*column.values, *(m for m in column.markers if m is not None)]
    spelled = np.array([m is not None for m in column.markers], dtype=bool)
    place[len(column.values) :] = np.where(spelled, len(column.values) + np.cumsum(spelled) - 1, len(texts))
    held = np.empty(len(texts), dtype=object)
    held[:] = [str(text).encode() for text in texts]
    return place, held


def write_parquet(table: Table, path: str | os.PathLike[str]) -> None:
    """Write a table; a missing cell is a null, unless it was spelled in a column of texts.

    Raises
    ------
    OSError
        If the file cannot be written.
    DataError
        If two names differ only in case, or a text holds half a character.
    """
    refuse_alike(table, "Parquet")
    try:
        columns = [_Kept.of(column) for column in table.columns.values()]
    except UnicodeEncodeError:
        raise DataError(_HALF) from None

    def write(file: BinaryIO) -> list[dict[int, Any]]:
        workers = writers()
        if workers is not None and n_groups(table) > 1:
            return _write_on_workers(file, Path(path), table, columns, workers)
        return [_write_group(file, columns, rows, lengths) for rows, lengths in table.pieces(GROUP_RECORDS)]

    _write_file(path, columns, table.n_records, write)


def write_parquet_pieces(
    table: Table, pieces: Iterable[npt.NDArray[np.int32]], path: str | os.PathLike[str], n_records: int
) -> None:
    """Write a table whose rows come in pieces, of codes and their number of records; the bytes are those of the whole.

    Of `table` names and dictionaries are taken, and no rows. Raises as `write_parquet`.
    """
    refuse_alike(table, "Parquet")
    try:
        spelled = [(column, *_spelled_values(column)) for column in table.columns.values()]
    except UnicodeEncodeError:
        raise DataError(_HALF) from None
    kinds = [sql_type(column) for column in table.columns.values()]

    def write(file: BinaryIO) -> list[dict[int, Any]]:
        groups = []
        for rows in _of_records(pieces, GROUP_RECORDS):
            columns = [
                _Kept(column.name, kind, place[rows[:, i]], held)
                for i, (kind, (column, place, held)) in enumerate(zip(kinds, spelled, strict=True))
            ]
            groups.append(_write_group(file, columns, slice(None), rows[:, -1].astype(np.int64)))
        return groups

    nothing = np.zeros(0, dtype=np.int32)
    told = [_Kept(column.name, kind, nothing, held) for kind, (column, _, held) in zip(kinds, spelled, strict=True)]
    _write_file(path, told, n_records, write)


def _of_records(pieces: Iterable[npt.NDArray[np.int32]], n_records: int) -> Iterator[npt.NDArray[np.int32]]:
    """Rows of every so many records, the last with fewer; a row may be parted, each part with some of its records."""
    rest: list[npt.NDArray[np.int32]] = []
    n_rest = 0
    for piece in pieces:
        rest.append(piece)
        n_rest += int(piece[:, -1].sum(dtype=np.int64))
        if n_rest < n_records:
            continue
        rows = np.concatenate(rest)
        ends = np.cumsum(rows[:, -1], dtype=np.int64)
        for begin in range(0, n_rest - n_records + 1, n_records):
            yield _between(rows, ends, begin, begin + n_records)
        begin = n_rest // n_records * n_records
        rest = [_between(rows, ends, begin, n_rest)] if begin < n_rest else []
        n_rest -= begin
    if n_rest:
        yield np.concatenate(rest)


def _between(rows: npt.NDArray[np.int32], ends: Ints, begin: int, end: int) -> npt.NDArray[np.int32]:
    """The rows of some records that follow each other."""
    first, last = int(np.searchsorted(ends, begin, "right")), int(np.searchsorted(ends, end, "left")) + 1
    found: npt.NDArray[np.int32] = rows[first:last].copy()
    found[:, -1] = np.minimum(ends[first:last], end) - np.maximum(ends[first:last] - rows[first:last, -1], begin)
    return found


def _write_file(
    path: str | os.PathLike[str],
    columns: list[_Kept],
    n_records: int,
    write: Callable[[BinaryIO], list[dict[int, Any]]],
) -> None:
    """Write what stands around row groups; `write` writes these, and says what is to be told of each."""
    schema = [{4: "schema", 5: len(columns)}, *map(_schema, columns)]
    with open(path, "wb") as file:
        file.write(_MAGIC)
        groups = write(file)
        footer = struct({1: 1, 2: schema, 3: Long(n_records), 4: groups, 6: "shoal"})
        file.write(footer + packing.pack("<I", len(footer)) + _MAGIC)


class _GroupBlocks(Collection[tuple[Any, ...]]):
    """What `write_part` takes for each row group, made one after the other."""

    def __init__(self, lock: Seen, table: Table, columns: list[_Kept]) -> None:
        self._lock, self._table, self._columns = lock, table, columns

    def __len__(self) -> int:
        return n_groups(self._table)

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        for number, (rows, lengths) in enumerate(self._table.pieces(GROUP_RECORDS)):
            yield self._lock, number, [column.part(rows) for column in self._columns], lengths

    def __contains__(self, _: object) -> bool:
        return False


def n_groups(table: Table) -> int:
    """How many row groups a table is written in."""
    return -(-table.n_records // GROUP_RECORDS)


def _write_on_workers(
    file: BinaryIO, path: Path, table: Table, columns: list[_Kept], workers: Workers
) -> list[dict[int, Any]]:
    """Let workers write the row groups beside the file, and put them behind each other; what the footer says."""
    lock = path.with_name(f"{path.name}.parts")
    lock.touch(mode=0o600)
    told = workers.run(write_part, _GroupBlocks(Seen.of(lock), table, columns))
    found = []
    for number, group in enumerate(told):
        part = _part_file(lock, number)
        found.append(_moved(group, file.tell()))
        with part.open("rb") as written:
            shutil.copyfileobj(written, file, 1 << 20)
        part.unlink()
    lock.unlink()
    return found


def write_part(lock: Seen, number: int, columns: list[_Kept], lengths: Ints) -> dict[int, Any] | None:
    """Write one row group into a file of its own; what is to be said of it, or None if the folder is not here."""
    if not lock.is_here():
        return None
    part = _part_file(Path(lock.path), number)
    partial = part.with_name(f"{part.name}.{os.getpid()}")
    with partial.open("wb") as file:
        os.chmod(partial, 0o600)
        told = _write_group(file, columns, slice(None), lengths)
    os.replace(partial, part)
    return told


def _part_file(lock: Path, number: int) -> Path:
    return lock.with_name(f"{lock.name}-{number}")


def _moved(group: dict[int, Any], by: int) -> dict[int, Any]:
    """What is said of a row group that stands so many bytes later."""

    def later(told: dict[int, Any], *places: int) -> dict[int, Any]:
        return {**told, **{place: Long(told[place].number + by) for place in places if place in told}}

    chunks = [{**later(chunk, 2), 3: later(chunk[3], 9, 11)} for chunk in group[1]]
    return {**later(group, 5), 1: chunks}


def _schema(column: _Kept) -> dict[int, Any]:
    physical, more = _TYPES[column.kind]
    return {1: physical, 3: 1, 4: column.name, **more}  # 1: may be null


def _write_group(file: BinaryIO, columns: list[_Kept], rows: slice, lengths: Ints) -> dict[int, Any]:
    chunks, size, begin = [], 0, file.tell()
    for column in columns:
        chunk, n_bytes = _write_chunk(file, column, _Runs.of(column.codes[rows], lengths))
        chunks.append(chunk)
        size += n_bytes
    told = {2: Long(size), 3: Long(int(lengths.sum())), 5: Long(begin), 6: Long(file.tell() - begin)}
    return {1: chunks, **told}


def _write_chunk(file: BinaryIO, column: _Kept, runs: _Runs) -> tuple[dict[int, Any], int]:
    """One column of a row group; what the footer says of it, and its bytes before they are packed."""
    physical, begin, size = _TYPES[column.kind][0], file.tell(), 0
    is_null = runs.codes >= len(column.values)
    levels = _Runs.of((~is_null).astype(np.int32), runs.lengths)
    present = _Runs(runs.codes[~is_null], runs.lengths[~is_null])
    used, numbers = _numbered(present.codes, len(column.values))
    by_number = physical != _BOOLEAN and 0 < 2 * len(used) <= present.n_records
    if by_number:
        size += _write_page(file, _spelled(column, used), {7: {1: len(used), 2: _PLAIN}}, 2)
        data_at, width = file.tell(), max(1, int(len(used) - 1).bit_length())
        body = bytes([width]) + hybrid(_Runs.of(numbers, present.lengths), width)
    else:
        data_at, body = begin, _spelled(column, present.spread())
    told_levels = hybrid(levels, 1)
    header = {1: runs.n_records, 2: _RLE_DICTIONARY if by_number else _PLAIN, 3: _RLE, 4: _RLE}
    size += _write_page(file, packing.pack("<I", len(told_levels)) + told_levels + body, {5: header}, 0)
    encodings = [_PLAIN, _RLE, *([_RLE_DICTIONARY] if by_number else [])]
    told = {1: physical, 2: encodings, 3: [column.name], 4: _GZIP, 5: Long(runs.n_records), 6: Long(size)}
    told |= {7: Long(file.tell() - begin), 9: Long(data_at), **({11: Long(begin)} if by_number else {})}
    return {2: Long(begin), 3: told}, size


def _numbered(codes: Codes, n_values: int) -> tuple[Codes, Codes]:
    """The codes that occur, ascending, and the place of each cell's among them."""
    if n_values > 4 * len(codes):
        used, numbers = np.unique(codes, return_inverse=True)
        return used, numbers.astype(np.int32)
    used = np.flatnonzero(np.bincount(codes, minlength=n_values)).astype(np.int32)
    place = np.zeros(n_values, dtype=np.int32)
    place[used] = np.arange(len(used))
    return used, place[codes]


def _write_page(file: BinaryIO, body: bytes, header: dict[int, Any], kind: int) -> int:
    """Pack and write a page; how long it is with its header before it is packed."""
    packer = zlib.compressobj(_LEVEL, zlib.DEFLATED, 31)  # gzip without a time
    packed = packer.compress(body) + packer.flush()
    if max(len(body), len(packed)) > 2**31 - 1:
        raise DataError("the texts of a column are too long to be written as Parquet; give it as CSV")
    spelled = struct({1: kind, 2: len(body), 3: len(packed), **header})
    file.write(spelled + packed)
    return len(spelled) + len(body)


def _spelled(column: _Kept, codes: Codes) -> bytes:
    """The values of codes, one after the other."""
    values = column.values[codes]
    if column.kind == "VARCHAR":
        return b"".join([packing.pack("<I", len(text)) + text for text in values.tolist()])
    if column.kind == "BOOLEAN":
        return np.packbits(values, bitorder="little").tobytes()
    if column.kind == "DATE":
        return values.astype("datetime64[D]").astype("<i4").tobytes()
    return values.astype("<f8" if column.kind == "DOUBLE" else "<i8").tobytes()


def hybrid(runs: _Runs, width: int) -> bytes:
    """Numbers of so many bits as runs or, where that is shorter, one after the other."""
    n_records, n_bytes = runs.n_records, -(-width // 8)
    heads = runs.lengths << 1
    n_heads = 1 + np.searchsorted(np.array([1 << bits for bits in range(7, 35, 7)]), heads, side="right")
    by_run = int(n_heads.sum()) + n_bytes * len(runs.codes)
    n_eights = -(-n_records // 8)
    if by_run <= n_eights * width:
        return _runs(runs.codes, heads, n_heads, n_bytes)
    numbers = np.zeros((8 * n_eights, 4), dtype=np.uint8)
    numbers[:n_records] = runs.spread().astype("<u4").view(np.uint8).reshape(-1, 4)
    bits = np.unpackbits(numbers[:, :n_bytes], axis=1, bitorder="little")[:, :width]
    return varint(n_eights << 1 | 1) + np.packbits(bits, bitorder="little").tobytes()


def _runs(codes: Codes, heads: Ints, n_heads: Ints, n_bytes: int) -> bytes:
    """The length of each run, seven bits a byte, the lowest first, and then its number."""
    ends = np.cumsum(n_heads + n_bytes)
    begins = ends - n_heads - n_bytes
    spelled: Bytes = np.zeros(int(ends[-1]) if len(ends) else 0, dtype=np.uint8)
    for i in range(int(n_heads.max(initial=0))):
        has = n_heads > i
        more = n_heads[has] > i + 1
        spelled[begins[has] + i] = (heads[has] >> 7 * i & 0x7F) | np.where(more, 0x80, 0)
    for i in range(n_bytes):
        spelled[begins + n_heads + i] = codes >> 8 * i & 0xFF
    return spelled.tobytes()
