"""Workers that read and write shared storage themselves, so that no original row passes through the driver.

A Parquet file is read in runs of its row groups. Each worker collapses its run to distinct rows with the number of
their records, and writes these, in as many buckets as there are workers, to the scratch folder; then each merges a
bucket of all runs. Sums of counts are the same in whatever order they are made, so the driver reads the distinct rows
that it would have found itself. Of a published table workers write the row groups, which the driver puts behind each
other.

A file that a worker writes appears whole, under a name that depends on the block alone: what a lost worker had is
written anew. A worker that does not see the files of the driver says so, and its part is done by the driver.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import duckdb

from shoal.data.database import bound, bounded, connection, file_literal
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


@contextmanager
def collapsed(path: str | os.PathLike[str], cells: Mapping[str, str], n_columns: int) -> Iterator[str | None]:
    """Let workers collapse a Parquet file; the SQL that scans the distinct rows that they wrote, with counts ``n``.

    None where nobody else reads, or the file has a single row group. The rows are there as long as the block lasts.

    Parameters
    ----------
    cells : mapping of str to str
        The SQL of each cell by its name, where the columns of the file are called ``c0``, ``c1``, ...
    n_columns : int
        How many columns the file has.
    """
    workers = _readers.get()
    runs = [] if workers is None or not cells else row_group_runs(path, PARTS_A_WORKER * workers.n_workers)
    if workers is None or len(runs) < 2:
        yield None
        return
    n_buckets = workers.n_workers
    memory = bound()
    share = None if memory is None else memory // (n_buckets + 1)
    with scratch_folder() as folder:
        lock = folder / "driver"  # who sees it shares this folder too
        lock.touch(mode=0o600)
        seen = (Seen.of(path), Seen.of(lock))
        try:
            workers.run(
                collapse_run,
                [(*seen, run, dict(cells), n_columns, i, n_buckets, share) for i, run in enumerate(runs)],
            )
            merged = workers.run(merge_bucket, [(seen[1], list(cells), i, len(runs), share) for i in range(n_buckets)])
        except (duckdb.Error, OSError):  # this machine reads the file itself, and says what is wrong
            merged = []
        yield f"read_parquet([{', '.join(map(file_literal, merged))}])" if merged else None


def row_group_runs(path: str | os.PathLike[str], n_most: int) -> list[tuple[int, int]]:
    """First and last row, the latter not included, of runs of row groups of about equally many rows."""
    with connection() as database:
        told = database.execute(
            f"SELECT max(row_group_num_rows) FROM parquet_metadata({file_literal(path)}) GROUP BY row_group_id "
            "ORDER BY row_group_id"
        ).fetchall()
    ends = [0]
    for (n_rows,) in told:
        ends.append(ends[-1] + int(n_rows))
    wanted = {min(ends, key=lambda end: abs(end - ends[-1] * i / n_most)) for i in range(n_most + 1)}
    cuts = sorted(wanted | {0, ends[-1]})
    return list(pairwise(cuts))


def collapse_run(
    source: Seen,
    lock: Seen,
    run: tuple[int, int],
    cells: Mapping[str, str],
    n_columns: int,
    number: int,
    n_buckets: int,
    memory: int | None,
) -> bool | None:
    """Write the distinct rows of some rows of a file, with their counts, in buckets; None if the file is not here."""
    if not (source.is_here() and lock.is_here()):
        return None
    folder = Path(lock.path).parent
    names = ", ".join(cells)
    columns = ", ".join([*(f"c{i}" for i in range(n_columns)), "row_number"])
    told = ", ".join(f"{cell} AS {name}" for name, cell in cells.items())
    scan = f"read_parquet({file_literal(source.path)}, file_row_number = true) AS file({columns})"
    with bounded(memory), connection() as database:
        database.execute("SET preserve_insertion_order = false")
        database.execute(
            f"CREATE TEMP TABLE found AS SELECT {names}, count(*) AS n FROM (SELECT {told} FROM {scan} "
            f"WHERE row_number >= {run[0]} AND row_number < {run[1]}) GROUP BY {names}"
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
