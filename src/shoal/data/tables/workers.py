"""Workers that read and write shared storage themselves, so that no original row passes through the driver.

A Parquet file, or several that are one table, is read in runs of row groups. Each worker collapses its run to distinct
rows with the number of their records, and writes these, in as many buckets as there are workers, to the scratch folder;
then each merges a bucket of all runs. Sums of counts are the same in whatever order they are made, so the driver reads
the distinct rows that it would have found itself. Of a published table workers write the row groups, which the driver
puts behind each other.

A file that a worker writes appears whole, under a name that depends on the block alone: what a lost worker had is
written anew. A worker that does not see the files of the driver says so, and its part is done by the driver.
"""

from __future__ import annotations

import os
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

import duckdb

from shoal.data.database import connection, file_literal
from shoal.data.memory import bound, bounded
from shoal.scratch import scratch_folder

PARTS_A_WORKER = 4
"""Runs of row groups for each worker, so that none waits long for the slowest."""

UNSEEN = (
    "Some workers do not see the files of this machine, so their part was read or written here; give them the source "
    "and the temporary folder (TMPDIR) on storage that all machines share."
)


@dataclass
class Workers:
    """Who reads and writes for the driver.

    Attributes
    ----------
    n_workers : int
        How many there are: other processes, here or elsewhere.
    spread : callable
        Calls a function with each tuple of arguments on the workers, in spite of lost ones; its last argument takes a
        sentence for the user. It is handed in, for the checker reads files too and knows no engine.
    notes : list of str
        What the user should know of how it went.
    """

    n_workers: int
    spread: Callable[[Callable[..., Any], Collection[tuple[Any, ...]], Callable[[str], None]], list[Any]]
    notes: list[str] = field(default_factory=list)

    def note(self, sentence: str) -> None:
        """Remember a sentence, once."""
        if sentence not in self.notes:
            self.notes.append(sentence)

    def run(self, job: Callable[..., Any], blocks: Collection[tuple[Any, ...]]) -> list[Any]:
        """The results in the order of the blocks; what workers could not see is done here."""
        found = self.spread(job, blocks, self.note)
        for i, block in enumerate(blocks):
            if found[i] is None:
                self.note(UNSEEN)
                found[i] = job(*block)
        return found


_readers: ContextVar[Workers | None] = ContextVar("readers", default=None)
_writers: ContextVar[Workers | None] = ContextVar("writers", default=None)


@contextmanager
def reading_on(workers: Workers | None) -> Iterator[None]:
    """Let files that are collapsed in here be read by workers; None leaves it to this machine."""
    before = _readers.set(workers)
    try:
        yield
    finally:
        _readers.reset(before)


@contextmanager
def writing_on(workers: Workers | None) -> Iterator[None]:
    """Let tables that are written in here be written by workers; None leaves it to this machine."""
    before = _writers.set(workers)
    try:
        yield
    finally:
        _writers.reset(before)


def writers() -> Workers | None:
    """Who writes, if it is not this machine."""
    return _writers.get()


@dataclass(frozen=True)
class Seen:
    """A file as the driver sees it: a worker that finds another one there shares no storage with it."""

    path: str
    n_bytes: int
    changed_at: int

    @classmethod
    def of(cls, path: str | os.PathLike[str]) -> Seen:
        told = os.stat(path)
        return cls(os.path.abspath(path), told.st_size, told.st_mtime_ns)

    def is_here(self) -> bool:
        """Whether this machine sees the same file."""
        try:
            return Seen.of(self.path) == self
        except OSError:
            return False


@dataclass(frozen=True)
class FileCells:
    """One of the Parquet files that are a table.

    Attributes
    ----------
    path : Path
    cells : tuple of str
        The SQL of the cells of the table's columns c0, c1, ..., where those of the file are called p0, p1, ...
    n_columns : int
        How many columns the file has.
    """

    path: Path
    cells: tuple[str, ...]
    n_columns: int

    @classmethod
    def plain(cls, path: Path, n_columns: int) -> FileCells:
        """The only one, with the columns of the table."""
        return cls(path, tuple(f"p{i}" for i in range(n_columns)), n_columns)

    def scan(self, begin: int, end: int) -> str:
        """The SQL that scans some of its rows, as columns c0, c1, ..."""
        columns = ", ".join([*(f"p{i}" for i in range(self.n_columns)), "row_number"])
        told = ", ".join(f"{cell} AS c{i}" for i, cell in enumerate(self.cells))
        return (
            f"SELECT {told} FROM read_parquet({file_literal(self.path)}, file_row_number = true) AS file({columns}) "
            f"WHERE row_number >= {begin} AND row_number < {end}"
        )


@contextmanager
def collapsed(files: Sequence[FileCells], cells: Mapping[str, str]) -> Iterator[str | None]:
    """Let workers collapse Parquet files; the SQL that scans the distinct rows that they wrote, with counts ``n``.

    None where nobody else reads, or there is a single row group. The rows are there as long as the block lasts.

    Parameters
    ----------
    files : sequence of FileCells
    cells : mapping of str to str
        The SQL of each cell by its name, where the columns of the table are called ``c0``, ``c1``, ...
    """
    workers = _readers.get()
    paths = [file.path for file in files]
    runs = [] if workers is None or not cells else row_group_runs(paths, PARTS_A_WORKER * workers.n_workers)
    if workers is None or len(runs) < 2:
        yield None
        return
    n_buckets = workers.n_workers
    memory = bound()
    share = None if memory is None else memory // (n_buckets + 1)
    with scratch_folder() as folder:
        lock = folder / "driver"  # who sees it shares this folder too
        lock.touch(mode=0o600)
        here = Seen.of(lock)
        try:
            jobs = [tuple((Seen.of(paths[i]), files[i].scan(*rows)) for i, *rows in run) for run in runs]
            workers.run(collapse_run, [(job, here, dict(cells), i, n_buckets, share) for i, job in enumerate(jobs)])
            merged = workers.run(merge_bucket, [(here, list(cells), i, len(runs), share) for i in range(n_buckets)])
        except (duckdb.Error, OSError):  # this machine reads the files itself, and says what is wrong
            merged = []
        yield f"read_parquet([{', '.join(map(file_literal, merged))}])" if merged else None


def row_group_runs(paths: Sequence[str | os.PathLike[str]], n_most: int) -> list[list[tuple[int, int, int]]]:
    """Runs of row groups of about equally many rows: which file, its first row, and the one behind its last."""
    listed = f"[{', '.join(map(file_literal, paths))}]"
    with connection() as database:
        told = database.execute(
            f"SELECT file_name, max(row_group_num_rows) FROM parquet_metadata({listed}) "
            "GROUP BY file_name, row_group_id ORDER BY file_name, row_group_id"
        ).fetchall()
    groups: dict[str, list[int]] = {}
    for name, n_rows in told:
        groups.setdefault(str(name), []).append(int(n_rows))
    ends, first = [0], [0]  # of row groups and of files, behind each other
    for path in paths:
        ends += [ends[-1] + n for n in accumulate(groups.get(os.path.abspath(path), ()))]
        first.append(ends[-1])
    wanted = {min(ends, key=lambda end: abs(end - ends[-1] * i / n_most)) for i in range(n_most + 1)}
    runs: list[list[tuple[int, int, int]]] = []
    for begin, end in pairwise(sorted(wanted | {0, ends[-1]})):
        inside = range(bisect_right(first, begin) - 1, bisect_left(first, end))
        pieces = [(i, max(begin, first[i]) - first[i], min(end, first[i + 1]) - first[i]) for i in inside]
        runs.append([piece for piece in pieces if piece[1] < piece[2]])
    return runs


def collapse_run(
    pieces: Sequence[tuple[Seen, str]],
    lock: Seen,
    cells: Mapping[str, str],
    number: int,
    n_buckets: int,
    memory: int | None,
) -> bool | None:
    """Write the distinct rows of some rows of files, with their counts, in buckets; None if a file is not here.

    A piece is a file, and the SQL that scans some of its rows as columns ``c0``, ``c1``, ...
    """
    if not (lock.is_here() and all(file.is_here() for file, _ in pieces)):
        return None
    folder = Path(lock.path).parent
    names = ", ".join(cells)
    told = ", ".join(f"{cell} AS {name}" for name, cell in cells.items())
    scan = " UNION ALL ".join(query for _, query in pieces)
    with bounded(memory), connection() as database:
        database.execute("SET preserve_insertion_order = false")
        database.execute(
            f"CREATE TEMP TABLE found AS SELECT {names}, count(*) AS n FROM (SELECT {told} FROM ({scan})) "
            f"GROUP BY {names}"
        )
        for bucket in range(n_buckets):
            some = f"SELECT * FROM found WHERE hash({names}) % {n_buckets} = {bucket}"
            _copy(database, some, _bucket_file(folder, number, bucket))
    return True


def merge_bucket(lock: Seen, names: Sequence[str], bucket: int, n_runs: int, memory: int | None) -> str | None:
    """Put the distinct rows of a bucket of all runs together; the file, or None if they are not here."""
    folder = Path(lock.path).parent
    parts = [_bucket_file(folder, number, bucket) for number in range(n_runs)]
    if not lock.is_here() or not all(part.exists() for part in parts):
        return None
    told, out = ", ".join(names), folder / f"bucket-{bucket}.parquet"
    scan = f"read_parquet([{', '.join(map(file_literal, parts))}])"
    with bounded(memory), connection() as database:
        database.execute("SET preserve_insertion_order = false")
        _copy(database, f"SELECT {told}, CAST(sum(n) AS BIGINT) AS n FROM {scan} GROUP BY {told}", out)
    return str(out)


def _bucket_file(folder: Path, number: int, bucket: int) -> Path:
    return folder / f"run-{number}-{bucket}.parquet"


def _copy(database: duckdb.DuckDBPyConnection, query: str, path: Path) -> None:
    """Write what a query finds; the file appears whole, whoever else writes the same one."""
    partial = path.with_name(f"{path.name}.{os.getpid()}")
    partial.touch(mode=0o600)
    database.execute(f"COPY ({query}) TO {file_literal(partial)} (FORMAT parquet)")
    os.replace(partial, path)
