"""Rows of different lengths, with one or more values an entry, that are held or lie in files of no name.

What works on such rows run by run is one and the same for both. The files are the owner's alone and gone with the
process, however that ends. Rows are put into another order by two sequential passes: each goes to the range of the file
that its place is in, and ranges are then put in order one by one.
"""

from __future__ import annotations

import tempfile
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal.arrays import Ints
from shoal.data import ragged
from shoal.data.ragged import ragged_places, runs_of_rows, take_ragged
from shoal.errors import DataError
from shoal.scratch import temporary_folder

ENTRIES_OF_A_RANGE, MOST_RANGES = 1 << 21, 512
"""Entries that are put in order at once, or more where there would be too many ranges of them."""
GAP = 1 << 12
"""Entries between two rows that are rather read than left out."""

Values = npt.NDArray[Any]
Make = Callable[["Ragged"], Values]


class _Rows(ABC):
    """What all rows have that begin somewhere and can be read in parts."""

    starts: Ints

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def sizes(self) -> Ints:
        """The number of entries of each row."""
        return np.diff(self.starts)

    @property
    def n_entries(self) -> int:
        """How many entries they have in all."""
        return int(self.starts[-1])

    def runs(self, n_entries: int | None = None) -> Iterator[tuple[int, int]]:
        """Rows from and to, in runs of about so many entries."""
        return runs_of_rows(self.starts, n_entries)

    @abstractmethod
    def part(self, low: int, high: int) -> Ragged:
        """The rows from one to before another, held."""

    def parts(self) -> Iterator[Ragged]:
        """All rows, in runs, held."""
        return (self.part(low, high) for low, high in self.runs())


@dataclass(frozen=True)
class Ragged(_Rows):
    """Rows that are held.

    Attributes
    ----------
    starts : int64 array (n_rows + 1,)
        Where each begins, from 0 on.
    values : sequence of arrays (n_entries,)
    """

    starts: Ints
    values: Sequence[Values]

    @property
    def n_values(self) -> int:
        """How many values an entry has."""
        return len(self.values)

    def part(self, low: int, high: int) -> Ragged:
        """The rows from one to before another."""
        first, last = int(self.starts[low]), int(self.starts[high])
        starts = self.starts[low : high + 1]
        return Ragged(starts - first if first else starts, [v[first:last] for v in self.values])

    def take(self, rows: npt.NDArray[np.integer[Any]]) -> Ragged:
        """Some of the rows, in the given order."""
        return Ragged(*take_ragged(self.starts, rows, *self.values))

    def in_order(self, rows: npt.NDArray[np.integer[Any]]) -> Ragged:
        """Some of the rows, each once, in the given order."""
        return self.take(rows)

    def in_turn(self, rows: npt.NDArray[np.integer[Any]]) -> _InTurn:
        """The same to be read in parts."""
        return _InTurn(self, rows)

    def beside(self, dtype: Any, make: Make) -> Ragged:
        """The same rows with one more value an entry, which is made run by run."""
        more = np.empty(self.n_entries, dtype)
        for low, high in self.runs():
            more[self.starts[low] : self.starts[high]] = make(self.part(low, high))
        return Ragged(self.starts, [*self.values, more])

    def columns(self, *which: int) -> Ragged:
        """The same rows with some of the values of an entry."""
        return Ragged(self.starts, [self.values[i] for i in which])

    def overwrite(self, rows: Ints, values: Values) -> None:
        """Put other values in the place of the first ones of some rows, which ascend."""
        places, _ = ragged_places(self.starts, rows)
        self.values[0][places] = values

    def empty(self, starts: Ints, dtype: Any) -> Ragged:
        """Rows of other sizes that are still to be written, held as these are."""
        return Ragged(starts, [np.empty(int(starts[-1]), dtype)])

    def writer(self, *dtypes: Any) -> HeldWriter:
        """What gathers rows, held as these are."""
        return HeldWriter(dtypes)


class _InTurn(_Rows):
    """Some rows in another order, which are taken when they are read."""

    def __init__(self, whole: Ragged, rows: npt.NDArray[np.integer[Any]]) -> None:
        self.starts, self._whole, self._rows = _sums([whole.sizes[rows]]), whole, rows

    def part(self, low: int, high: int) -> Ragged:
        """The rows from one to before another."""
        return self._whole.take(self._rows[low:high])


class HeldWriter:
    """Rows that are gathered as they come."""

    def __init__(self, dtypes: Sequence[Any]) -> None:
        self._sizes: list[Ints] = [np.zeros(0, np.int64)]
        self._values: list[list[Values]] = [[np.zeros(0, dtype)] for dtype in dtypes]

    def add(self, sizes: Ints, *values: Values) -> None:
        """Put some more behind the others."""
        self._sizes.append(sizes)
        for held, more in zip(self._values, values, strict=True):
            held.append(more.astype(held[0].dtype, copy=False))

    def done(self) -> Ragged:
        """All of them; nothing can be added any more."""
        values = []
        while self._values:
            values.append(np.concatenate(self._values.pop(0)))
        return Ragged(_sums(self._sizes), values)


class ValueFile:
    """Numbers one after another in a file of no name."""

    def __init__(self, dtype: Any, shown: Any = None) -> None:
        self.dtype, self.shown = np.dtype(dtype), np.dtype(dtype if shown is None else shown)
        self._file = tempfile.TemporaryFile(buffering=0, dir=temporary_folder())  # noqa: SIM115 - lives as long as the rows

    def __del__(self) -> None:
        if hasattr(self, "_file"):
            self._file.close()

    def another(self) -> ValueFile:
        """An empty one for the same numbers."""
        return ValueFile(self.dtype, self.shown)

    def write(self, at: int, values: Values) -> None:
        """Put numbers at a place, counted in numbers."""
        self._file.seek(at * self.dtype.itemsize)
        left = memoryview(np.ascontiguousarray(values, self.dtype).data).cast("B")
        while len(left):
            left = left[self._file.write(left) :]

    def read(self, at: int, n: int) -> Values:
        """So many numbers from a place on."""
        found = np.empty(n, self.dtype)
        self._file.seek(at * self.dtype.itemsize)
        left = memoryview(found.data).cast("B")
        while len(left):
            n_read = self._file.readinto(left)
            if not n_read:
                raise DataError("a temporary file was cut short by another program; try again")
            left = left[n_read:]
        return found.astype(self.shown, copy=False)


@dataclass(frozen=True)
class RaggedOnDisk(_Rows):
    """Rows in files, one for each value of an entry; what is held of a row is where it begins."""

    starts: Ints
    files: tuple[ValueFile, ...]
    first: int = 0

    @property
    def n_values(self) -> int:
        """How many values an entry has."""
        return len(self.files)

    def part(self, low: int, high: int) -> Ragged:
        """The rows from one to before another, held."""
        starts = self.starts[low : high + 1] - self.starts[low]
        at, n = self.first + int(self.starts[low]), int(starts[-1])
        return Ragged(starts, [file.read(at, n) for file in self.files])

    def take(self, rows: npt.NDArray[np.integer[Any]]) -> Ragged:
        """Some of the rows, held, in the given order."""
        n = len(rows)
        if n and int(rows[-1]) - int(rows[0]) == n - 1 and (np.diff(rows) == 1).all():
            return self.part(int(rows[0]), int(rows[-1]) + 1)
        if n and (np.diff(rows) <= 0).any():
            ascending, place = np.unique(rows, return_inverse=True)
            return self.take(ascending).take(place)
        begins, ends = self.starts[rows], self.starts[rows + 1]
        found: list[list[Values]] = [[np.zeros(0, file.shown)] for file in self.files]
        for low, high in self._windows(begins, ends):
            at, last = int(begins[low]), int(ends[high - 1])
            n_of = ends[low:high] - begins[low:high]
            places = None
            if int(n_of.sum()) != last - at:
                places = np.repeat(begins[low:high] - at - (np.cumsum(n_of) - n_of), n_of)
                places += np.arange(len(places))
            for file, held in zip(self.files, found, strict=True):
                whole = file.read(self.first + at, last - at)
                held.append(whole if places is None else whole[places])
        return Ragged(_sums([ends - begins]), [np.concatenate(held) for held in found])

    def _windows(self, begins: Ints, ends: Ints) -> Iterator[tuple[int, int]]:
        """Ascending rows from and to that are read at once: close to each other, and of about one run."""
        n = len(begins)
        is_apart = (begins[1:] - ends[:-1] > GAP) | (np.diff(begins // ragged.ENTRIES_AT_ONCE) != 0)
        return pairwise([0, *(np.flatnonzero(is_apart) + 1).tolist(), n] if n else [0])

    def slice(self, low: int, high: int) -> RaggedOnDisk:
        """The rows from one to before another, in the same files."""
        begin = int(self.starts[low])
        return replace(self, starts=self.starts[low : high + 1] - begin, first=self.first + begin)

    def in_order(self, rows: npt.NDArray[np.integer[Any]]) -> RaggedOnDisk:
        """Some of the rows, each once, in the given order in files of their own."""
        sizes = self.sizes[rows]
        made = RaggedOnDisk(_sums([sizes]), tuple(file.another() for file in self.files))
        place = np.full(len(self), -1, np.int32 if len(rows) < 1 << 31 else np.int64)
        place[rows] = np.arange(len(rows), dtype=place.dtype)
        of_a_range = max(ENTRIES_OF_A_RANGE, made.n_entries // MOST_RANGES)
        bounds = np.array([0, *(high for _, high in made.runs(of_a_range))], np.int64)
        filled = made.starts[bounds[:-1]].copy()
        sources = list(self.runs())
        for low, high in sources:
            own = place[low:high]
            chosen = np.flatnonzero(own >= 0)
            chosen = chosen[np.argsort(own[chosen], kind="stable")]
            part = self.part(low, high).take(chosen)
            cuts = np.searchsorted(own[chosen], bounds)
            for r in np.flatnonzero(np.diff(cuts)).tolist():
                piece = part.part(int(cuts[r]), int(cuts[r + 1]))
                for file, values in zip(made.files, piece.values, strict=True):
                    file.write(int(filled[r]), values)
                filled[r] += piece.n_entries
        ends = np.array([high for _, high in sources], np.int64)
        for low, high in pairwise(bounds.tolist()):
            # Rows of a range stand as they came: by the part that they came from, and then by their places.
            standing = np.argsort(np.searchsorted(ends, rows[low:high], side="right"), kind="stable")
            where = np.empty(high - low, np.int64)
            where[standing] = np.arange(high - low)
            at, came = int(made.starts[low]), _sums([sizes[low:high][standing]])
            for file in made.files:
                file.write(at, take_ragged(came, where, file.read(at, int(came[-1])))[1][0])
        return made

    def in_turn(self, rows: npt.NDArray[np.integer[Any]]) -> RaggedOnDisk:
        """Some of the rows, each once, in the given order, to be read in parts."""
        return self.in_order(rows)

    def beside(self, dtype: Any, make: Make) -> RaggedOnDisk:
        """The same rows with one more value an entry, which is made run by run; of rows with files of their own."""
        file = ValueFile(dtype)
        for low, high in self.runs():
            file.write(self.first + int(self.starts[low]), make(self.part(low, high)))
        return replace(self, files=(*self.files, file))

    def columns(self, *which: int) -> RaggedOnDisk:
        """The same rows with some of the values of an entry."""
        return replace(self, files=tuple(self.files[i] for i in which))

    def overwrite(self, rows: Ints, values: Values) -> None:
        """Put other values in the place of the first ones of some rows, which ascend."""
        begins, ends = self.starts[rows], self.starts[rows + 1]
        sums, file = _sums([ends - begins]), self.files[0]
        for low, high in self._windows(begins, ends):
            at, n = int(begins[low]), int(ends[high - 1] - begins[low])
            own = values[sums[low] : sums[high]]
            if len(own) != n:
                whole = file.read(self.first + at, n)
                whole[
                    np.repeat(begins[low:high] - at - sums[low:high] + sums[low], ends[low:high] - begins[low:high])
                    + np.arange(len(own))
                ] = own
                own = whole
            file.write(self.first + at, own)

    def empty(self, starts: Ints, dtype: Any) -> RaggedOnDisk:
        """Rows of other sizes that are still to be written, in a file of their own."""
        file = ValueFile(dtype)
        for low, high in runs_of_rows(starts):
            file.write(int(starts[low]), np.zeros(int(starts[high] - starts[low]), dtype))
        return RaggedOnDisk(starts, (file,))

    def writer(self, *dtypes: Any) -> DiskRows:
        """What puts rows into files."""
        return DiskRows(*(ValueFile(dtype) for dtype in dtypes))


class DiskRows:
    """Rows that are put into files as they come."""

    def __init__(self, *files: ValueFile) -> None:
        self._files, self._at = files, 0
        self._sizes: list[Ints] = [np.zeros(0, np.int64)]

    def add(self, sizes: Ints, *values: Values) -> None:
        """Put some more behind the others."""
        for file, more in zip(self._files, values, strict=True):
            file.write(self._at, more)
        self._at += len(values[0])
        self._sizes.append(sizes.astype(np.int32) if len(sizes) and sizes.max() < 1 << 31 else sizes)

    def done(self) -> RaggedOnDisk:
        """All of them."""
        return RaggedOnDisk(_sums(self._sizes), self._files)


AnyRows = Ragged | RaggedOnDisk


def _sums(sizes: Sequence[npt.NDArray[np.integer[Any]]]) -> Ints:
    """Where rows of such sizes begin, and the end."""
    n = sum(map(len, sizes))
    sums = np.zeros(n + 1, np.int64)
    at = 1
    for some in sizes:
        np.cumsum(some, dtype=np.int64, out=sums[at : at + len(some)])
        sums[at : at + len(some)] += sums[at - 1]
        at += len(some)
    return sums
