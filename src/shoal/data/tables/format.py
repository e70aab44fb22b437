"""What every file format of tables offers. Each stands in a file of its own in `data/tables/formats/`."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy.typing as npt

from shoal.arrays import Codes
from shoal.data.sniff import Look
from shoal.data.tables.table import MARKERS, Column, Source, Table
from shoal.errors import DataError
from shoal.registry import Registry

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

BOUNDED = "with a bound on memory only Parquet, text, SQLite and DuckDB are read"


@dataclass(frozen=True)
class HowToRead:
    """How a file is to be read; see `shoal.data.tables.files.read_table`."""

    markers: Sequence[str] = MARKERS
    delimiter: str | None = None
    encoding: str | None = None
    header: str | None = None
    table: str | None = None
    decimal: str | None = None
    expected: Table | None = None
    """What a file is thought to hold, which may make reading it faster and changes nothing else."""
    drops: Callable[[str], bool] | None = None
    """Given, every distinct row is read once, with the number of its records, without the columns that it names."""
    person: Sequence[str] = ()
    """Then the columns that say whose a record is: all records are read unless each is known to be another person's."""

    spills: bool = False
    """Then whether distinct rows that do not fit into memory are left in files."""

    def tells_one_each(self, weights: Codes | None) -> bool:
        """Whether rows that were read so, with these weights, are known to be of records of different persons."""
        return bool(self.person) and weights is not None


@dataclass(frozen=True)
class DistinctScan:
    """A file as a database scans it, to collapse it to distinct rows.

    Attributes
    ----------
    source : str
        The SQL of what is scanned.
    names : tuple of str
        Its columns.
    cells : tuple of str
        The SQL of a cell of each column; equal cells read the same, and cells that differ may.
    column : callable
        Given the number of a column and some of its cells, as they are fetched, these cells as a column.
    has_records : callable
        Whether a file that is whole has so many records.
    """

    source: str
    names: tuple[str, ...]
    cells: tuple[str, ...]
    column: Callable[[int, npt.NDArray[Any]], Column]
    has_records: Callable[[int], bool]


class TableFormat(ABC):
    """A way to write a table into a file."""

    name: ClassVar[str]
    """As `Source.format` calls it."""
    place: ClassVar[int]
    """Which format is asked first whether a file is its own; the last is asked for what is left."""
    files: ClassVar[tuple[str, ...]]
    """What the file of a published table may be called."""
    reads_distinct: ClassVar[bool] = False
    """Whether it can read every distinct row once, and write rows that stand for several records."""
    stands_in_files: ClassVar[bool] = True
    """Whether all that is read stands in the files that are named, so that nothing changes unless they do."""

    @abstractmethod
    def looks_like(self, seen: Look) -> bool:
        """Whether a file is of this format, by its start."""

    @abstractmethod
    def read(self, seen: Look, reading: HowToRead) -> Table:
        """Read a file."""

    def scan(self, database: DuckDBPyConnection, seen: Look, reading: HowToRead) -> DistinctScan:
        """The same file to be scanned, where its distinct rows are not held in memory."""
        raise DataError(f"{seen.path}: {BOUNDED}; leave memory out")

    @abstractmethod
    def file_name(self, source: Source) -> str:
        """What the file of a published table is called."""

    @abstractmethod
    def write(self, table: Table, path: str | os.PathLike[str]) -> None:
        """Write a table; the same bytes every time."""

    @abstractmethod
    def read_back(self, path: str | os.PathLike[str], names: Iterable[str], reading: HowToRead) -> Table:
        """Read a file that `write` wrote, whose columns have these names."""

    def scan_back(
        self, database: DuckDBPyConnection, path: str | os.PathLike[str], names: Iterable[str], reading: HowToRead
    ) -> DistinctScan:
        """The same file to be scanned, where its distinct rows are not held in memory."""
        raise DataError(f"{path}: {BOUNDED}; leave memory out")


FORMATS: Registry[TableFormat] = Registry("shoal.data.tables.formats")


def format_named(name: str) -> TableFormat:
    """The format of a source; of what came from no file, the last."""
    return FORMATS[name] if name in FORMATS else list(FORMATS.values())[-1]


def data_files() -> tuple[str, ...]:
    """What the file of a published table may be called, in whatever format."""
    return tuple(name for known in FORMATS.values() for name in known.files)
