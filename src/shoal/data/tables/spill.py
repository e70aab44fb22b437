"""Rows that are too many for memory, in files of codes: a file is read in runs of rows, and never as a whole.

A row is as many 32-bit numbers as there are columns, and one more: how many records it stands for. What the codes mean,
the dictionaries of the columns, is held.
"""

from __future__ import annotations

import os
import shutil
import weakref
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal.arrays import Codes, Ints
from shoal.data.tables.table import Column, Table
from shoal.errors import PolicyError, ShoalError
from shoal.resume import UNFINISHED, FinishedStep, StepFolder
from shoal.scratch import scratch_folder

ROWS_AT_ONCE = 1 << 18
"""Rows that are read, or written, in one piece."""

Rows2D = npt.NDArray[np.int32]

_steps: ContextVar[StepFolder | None] = ContextVar("steps", default=None)


@contextmanager
def kept_in(steps: StepFolder) -> Iterator[None]:
    """Let tables that are read in the block lie where steps are kept that are finished."""
    token = _steps.set(steps)
    try:
        yield
    finally:
        _steps.reset(token)


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Make a file that is the owner's alone, if it is not there, for the block to write; say why that cannot be."""
    try:
        path.touch(mode=0o600)
        yield
    except OSError as error:
        is_kept = path.parent.name.startswith(UNFINISHED)
        what = "what is finished" if is_kept else "rows that do not fit into memory"
        where = f"its folder ({path.parent.parent})" if is_kept else "the temporary folder"
        why = error.strerror or "a part of it was written, and no more"  # as numpy finds it
        raise ShoalError(
            f"{what} cannot be written to {where}: {why}; make room there, or name another "
            f"one{'' if is_kept else ' in TMPDIR'}"
        ) from None


def save_arrays(path: Path, *arrays: npt.NDArray[Any]) -> None:
    """Write an array, or several, beside the rows; `np.load` reads them."""
    with writing(path), path.open("wb") as file:
        if len(arrays) == 1:
            np.save(file, *arrays)
        else:
            np.savez(file, *arrays)


@dataclass
class RowFile:
    """Rows of codes behind each other; the last of each is its number of records."""

    path: Path
    n_columns: int
    n_rows: int = 0
    is_kept: bool = False
    """Whether it belongs to a finished step, and goes with that."""

    def append(self, rows: Rows2D) -> None:
        """Write rows behind those that are there."""
        with writing(self.path), self.path.open("ab") as file:
            file.write(np.ascontiguousarray(rows, dtype=np.int32).tobytes())
        self.n_rows += len(rows)

    def read(self, begin: int = 0, end: int | None = None) -> Rows2D:
        """Some rows, or all."""
        end = self.n_rows if end is None else min(end, self.n_rows)
        if end <= begin:
            return np.empty((0, self.n_columns + 1), dtype=np.int32)
        width = self.n_columns + 1
        flat = np.fromfile(self.path, np.int32, (end - begin) * width, offset=4 * width * begin)
        return flat.reshape(-1, width)

    def runs(self, n_rows: int = ROWS_AT_ONCE) -> Iterator[Rows2D]:
        """All rows, so many at once."""
        for begin in range(0, self.n_rows, n_rows):
            yield self.read(begin, begin + n_rows)

    def remove(self) -> None:
        """Forget the rows."""
        if not self.is_kept:
            self.path.unlink(missing_ok=True)
        self.n_rows = 0


class SpillFolder:
    """A scratch folder that is there until it is closed, or nobody has it any more.

    Parameters
    ----------
    steps : StepFolder, optional
        Where steps are kept that are finished; by default where `kept_in` says, if it does.
    """

    def __init__(self, steps: StepFolder | None = None) -> None:
        self.steps = steps or _steps.get()
        self._stack = ExitStack()
        if self.steps is None:
            self.path = self._stack.enter_context(scratch_folder())
        else:
            self.path = self.steps.work()
            self._stack.callback(shutil.rmtree, self.path, ignore_errors=True)
        self._end = weakref.finalize(self, self._stack.close)
        self._n_files = 0

    def new(self, n_columns: int) -> RowFile:
        """A file without rows."""
        self._n_files += 1
        return RowFile(self.path / f"rows-{self._n_files}", n_columns)

    def finished(self, name: str) -> FinishedStep | None:
        """A step that an earlier run has finished."""
        return None if self.steps is None else self.steps.found(name)

    @contextmanager
    def finishing(self, name: str, *, by_seed: bool = False) -> Iterator[FinishedStep]:
        """Where the files of a step are written, and what is to be known of it; kept if steps are."""
        if self.steps is None:
            yield FinishedStep(self.path, {})
            return
        with self.steps.finishing(name, by_seed=by_seed) as step:
            yield step

    def keep(self, name: str, files: Sequence[RowFile], *, by_seed: bool = False, **told: Any) -> None:
        """Let files be a finished step, if steps are kept."""
        if self.steps is None:
            return
        with self.steps.finishing(name, by_seed=by_seed) as step:
            more: Any = step.told
            more |= {**told, "files": [[file.n_columns, file.n_rows] for file in files]}
            for i, file in enumerate(files):
                if file.n_rows:
                    os.rename(file.path, step.path / f"rows-{i}")
        found = self.finished(name)
        assert found is not None
        for i, file in enumerate(files):
            file.path, file.is_kept = found.path / f"rows-{i}", True

    def kept(self, name: str) -> list[RowFile] | None:
        """The files of a step that an earlier run has finished."""
        found = self.finished(name)
        if found is None:
            return None
        sizes = enumerate(found.told["files"])
        return [RowFile(found.path / f"rows-{i}", n_columns, n_rows, True) for i, (n_columns, n_rows) in sizes]

    def drop(self, *names: str) -> None:
        """Forget steps that a later one stands for."""
        if self.steps is not None:
            for name in names:
                self.steps.drop(name)

    def tell(self, n_taken_up: int, n_parts: int) -> None:
        """Say of how many parts of the rows the groups were taken up, if some were."""
        if self.steps is not None and n_taken_up:
            self.steps.notes.append(
                f"The groups of {n_taken_up:,} of {n_parts:,} parts of the records were made by that run, too."
            )

    def forget(self, path: Path) -> None:
        """Remove a file that belongs to no finished step."""
        if path.parent == self.path:
            path.unlink(missing_ok=True)

    def close(self) -> None:
        """Remove all files, but those of finished steps."""
        self._end()


@dataclass(frozen=True)
class SpilledRows:
    """The distinct rows of a table, in a file.

    Attributes
    ----------
    folder : SpillFolder
        Where they, and whatever is made of them, lie.
    file : RowFile
        The rows.
    names : tuple of str
        The columns of the file, in its order.
    counts : mapping of str to int64 arrays
        How many records have each code of a column.
    n_records : int
        Of all rows.
    """

    folder: SpillFolder
    file: RowFile
    names: tuple[str, ...]
    counts: Mapping[str, Ints]
    n_records: int


@dataclass(frozen=True)
class SpilledTable(Table):
    """A table whose rows lie in a file.

    Its columns have their dictionaries and no rows: for whoever asks what a column means, they hold each of their codes
    in turn, as often as it takes to be of equal length. Who counts asks for the `marginal` of a column.
    """

    spilled: SpilledRows | None = field(default=None, repr=False)

    @classmethod
    def over(cls, table: Table, spilled: SpilledRows) -> SpilledTable:
        """The table of columns whose dictionaries are those of some rows in a file."""
        weights = np.ones(table.n_rows, dtype=np.int32)
        return cls(table.columns, table.source, weights, table.is_one_each, spilled)

    @property
    def rows(self) -> SpilledRows:
        """Where the rows are."""
        assert self.spilled is not None
        return self.spilled

    def __len__(self) -> int:
        return self.rows.file.n_rows

    @property
    def n_records(self) -> int:
        """Number of records, of which a row may stand for several."""
        return self.rows.n_records

    def marginal(self, name: str) -> tuple[Column, Codes | None]:
        """Every code of the column once, with its records."""
        return once(self[name], self.rows.counts[name])

    def take(self, rows: npt.NDArray[np.intp]) -> Table:
        """Not of rows that lie in a file.

        Raises
        ------
        PolicyError
            Always.
        """
        raise PolicyError("rows that do not fit into memory are not divided: leave memory out, or hold none out")

    def some(self, rows: Rows2D) -> Table:
        """Rows of the file as a table of their own."""
        found = {n: replace(self[n], codes=np.ascontiguousarray(rows[:, i])) for i, n in enumerate(self.rows.names)}
        columns = {n: found.get(n, replace(c, codes=np.zeros(len(rows), np.int32))) for n, c in self.columns.items()}
        return Table(columns, self.source, np.ascontiguousarray(rows[:, -1]), self.is_one_each)


def spill(table: Table, names: Sequence[str]) -> SpilledTable:
    """Write the rows of a table that is held into a file, with some of its columns."""
    assert table.weights is not None
    folder, kept = SpillFolder(), [table[n] for n in names]
    file = folder.new(len(kept))
    for begin in range(0, table.n_rows, ROWS_AT_ONCE):
        cells = [column.codes[begin : begin + ROWS_AT_ONCE] for column in kept]
        file.append(np.column_stack([*cells, table.weights[begin : begin + ROWS_AT_ONCE]]))
    counts = {column.name: column.counts(table.weights) for column in kept}
    rows = SpilledRows(folder, file, tuple(names), counts, table.n_records)
    columns = {column.name: column for column in spread(list(table.columns.values()))}
    return SpilledTable.over(Table(columns, table.source, None, table.is_one_each), rows)


def once(column: Column, counts: Ints) -> tuple[Column, Codes]:
    """A column that holds every code which some record has once, and how many have it."""
    used = np.flatnonzero(counts).astype(np.int32)
    return replace(column, codes=used), counts[used].astype(np.int32)


def spread(columns: Sequence[Column]) -> list[Column]:
    """Columns that hold each of their codes in turn, all as long as the one with most."""
    sizes = [len(c.values) + len(c.markers) for c in columns]
    length = max(sizes, default=0)
    turns: list[npt.NDArray[Any]] = [np.arange(length) % max(1, size) for size in sizes]
    return [replace(c, codes=codes.astype(np.int32)) for c, codes in zip(columns, turns, strict=True)]
