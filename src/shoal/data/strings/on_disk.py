"""Strings in a file of no name: what is held of them is where each begins, and what is asked for.

The file is the owner's alone and gone with the process, however that ends. Strings are put into another order by two
sequential passes: each goes to the range of the file that its place is in, and ranges are then put in order one by one.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import compress, pairwise
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from shoal.arrays import Codes, Ints
from shoal.data.ragged import runs_of_rows
from shoal.data.strings.strings import Strings, StringSource, take_strings
from shoal.errors import DataError
from shoal.scratch import temporary_folder

SYMBOLS_AT_ONCE = 1 << 20
"""Symbols that are read at once."""
SYMBOLS_OF_A_RANGE, MOST_RANGES = 1 << 21, 512
"""Symbols that are put in order at once, or more where there would be too many ranges of them."""
_GAP = 1 << 12
"""Symbols between two strings that are rather read than left out."""


class SomeStrings(Protocol):
    """Strings that may be held, or be in a file."""

    @property
    def alphabet(self) -> tuple[str, ...]:
        """The symbols."""

    @property
    def is_tokens(self) -> bool:
        """Whether these are tokens."""

    @property
    def lengths(self) -> Ints:
        """The number of symbols of each string."""

    @property
    def labels(self) -> Codes | None:
        """Their classes."""

    @property
    def classes(self) -> tuple[str, ...]:
        """The names of these."""

    @property
    def source(self) -> StringSource:
        """How they are written."""

    def __len__(self) -> int: ...

    def compact(self) -> SomeStrings:
        """The same with an alphabet and classes that hold nothing but what occurs."""

    def take(self, rows: npt.NDArray[np.integer[Any]]) -> Strings:
        """Some of them, held."""


class _CodeFile:
    """Numbers of symbols one after another, in as few bytes as the alphabet needs."""

    def __init__(self, n_symbols: int) -> None:
        self.dtype = np.dtype(np.uint8 if n_symbols <= 1 << 8 else np.uint16 if n_symbols <= 1 << 16 else np.int32)
        self._file = tempfile.TemporaryFile(buffering=0, dir=temporary_folder())  # noqa: SIM115 - lives as long as the strings

    def __del__(self) -> None:
        if hasattr(self, "_file"):
            self._file.close()

    def write(self, at: int, symbols: Codes) -> None:
        self._file.seek(at * self.dtype.itemsize)
        left = memoryview(symbols.astype(self.dtype).data).cast("B")
        while len(left):
            left = left[self._file.write(left) :]

    def read(self, at: int, n: int) -> Codes:
        found = np.empty(n, self.dtype)
        self._file.seek(at * self.dtype.itemsize)
        left = memoryview(found.data).cast("B")
        while len(left):
            n_read = self._file.readinto(left)
            if not n_read:
                raise DataError("a temporary file was cut short by another program; try again")
            left = left[n_read:]
        return found.astype(np.int32, copy=False)


@dataclass(frozen=True)
class StringsOnDisk:
    """Strings in a file.

    Attributes
    ----------
    starts : int64 array (n_strings + 1,)
        Where each begins, from 0 on.
    alphabet, is_tokens, source, labels, classes
        As of `Strings`.
    """

    starts: Ints
    alphabet: tuple[str, ...]
    is_tokens: bool
    source: StringSource
    _file: _CodeFile
    _first: int = 0
    labels: Codes | None = None
    classes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def lengths(self) -> Ints:
        """The number of symbols of each string."""
        return np.diff(self.starts)

    @property
    def n_symbols(self) -> int:
        """How many symbols they have in all."""
        return int(self.starts[-1])

    def runs(self, n_symbols: int | None = None) -> Iterator[tuple[int, int]]:
        """Rows from and to, in runs that can be read at once."""
        return runs_of_rows(self.starts, n_symbols or SYMBOLS_AT_ONCE)

    def part(self, low: int, high: int) -> Strings:
        """The strings from one row to before another, held."""
        starts = self.starts[low : high + 1] - self.starts[low]
        symbols = self._file.read(self._first + int(self.starts[low]), int(starts[-1]))
        return self._held(symbols, starts, None if self.labels is None else self.labels[low:high])

    def take(self, rows: npt.NDArray[np.integer[Any]]) -> Strings:
        """Some of the strings, held, in the given order."""
        n = len(rows)
        if n and int(rows[-1]) - int(rows[0]) == n - 1 and (np.diff(rows) == 1).all():
            return self.part(int(rows[0]), int(rows[-1]) + 1)
        order = np.argsort(rows, kind="stable")
        ascending = rows[order]
        begins, ends = self.starts[ascending], self.starts[ascending + 1]
        is_apart = (begins[1:] - ends[:-1] > _GAP) | (np.diff(begins // SYMBOLS_AT_ONCE) != 0)
        found = [np.zeros(0, np.int32)]
        for low, high in pairwise([0, *(np.flatnonzero(is_apart) + 1).tolist(), n] if n else [0]):
            first, last = int(begins[low]), int(ends[low:high].max())
            whole = self._file.read(self._first + first, last - first)
            n_of = ends[low:high] - begins[low:high]
            if int(n_of.sum()) != last - first:
                shift = np.repeat(begins[low:high] - first - (np.cumsum(n_of) - n_of), n_of)
                whole = whole[np.arange(len(shift)) + shift]
            found.append(whole)
        starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(ends - begins)])
        place = np.empty(n, np.int64)
        place[order] = np.arange(n)
        labels = None if self.labels is None else self.labels[rows]
        return self._held(*take_strings(np.concatenate(found), starts, place), labels)

    def slice(self, low: int, high: int) -> StringsOnDisk:
        """The strings from one row to before another, in the same file."""
        first = int(self.starts[low])
        labels = None if self.labels is None else self.labels[low:high]
        return replace(self, starts=self.starts[low : high + 1] - first, _first=self._first + first, labels=labels)

    def counts(self) -> Ints:
        """How often each symbol occurs."""
        counts = np.zeros(len(self.alphabet), np.int64)
        for low, high in self.runs():
            counts += np.bincount(self.part(low, high).symbols, minlength=len(counts))
        return counts

    def compact(self) -> StringsOnDisk:
        """The same with an alphabet and classes that hold nothing but what occurs; these if there is nothing else."""
        made, used = self, self.counts() > 0
        if not used.all():
            code_of = (np.cumsum(used) - 1).astype(np.int32)
            writer = DiskWriter(list(compress(self.alphabet, used.tolist())), self.is_tokens, self.source)
            for low, high in self.runs():
                part = self.part(low, high)
                writer.add(code_of[part.symbols], part.lengths)
            made = replace(writer.done(), labels=self.labels, classes=self.classes)
        if made.labels is None:
            return made
        held = np.bincount(made.labels, minlength=len(made.classes)) > 0
        labels = (np.cumsum(held) - 1).astype(np.int32)[made.labels]
        return replace(made, labels=labels, classes=tuple(compress(made.classes, held.tolist())))

    def in_order(self, rows: npt.NDArray[np.integer[Any]]) -> StringsOnDisk:
        """Some of the strings, each once, in the given order in a file of their own."""
        lengths = self.lengths[rows]
        labels = None if self.labels is None else self.labels[rows]
        made = replace(self, starts=_sums(lengths), _file=_CodeFile(len(self.alphabet)), _first=0, labels=labels)
        place = np.full(len(self), -1, np.int32 if len(rows) < 1 << 31 else np.int64)
        place[rows] = np.arange(len(rows), dtype=place.dtype)
        of_a_range = max(SYMBOLS_OF_A_RANGE, made.n_symbols // MOST_RANGES)
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
                piece = part.symbols[part.starts[cuts[r]] : part.starts[cuts[r + 1]]]
                made._file.write(int(filled[r]), piece)
                filled[r] += len(piece)
        ends = np.array([high for _, high in sources], np.int64)
        for low, high in pairwise(bounds.tolist()):
            # Strings of a range stand as they came: by the part that they came from, and then by their places.
            standing = np.argsort(np.searchsorted(ends, rows[low:high], side="right"), kind="stable")
            where = np.empty(high - low, np.int64)
            where[standing] = np.arange(high - low)
            first, n = int(made.starts[low]), int(made.starts[high] - made.starts[low])
            symbols = made._file.read(first, n)
            made._file.write(first, take_strings(symbols, _sums(lengths[low:high][standing]), where)[0])
        return made

    def _held(self, symbols: Codes, starts: Ints, labels: Codes | None) -> Strings:
        return Strings(symbols, starts, self.alphabet, self.is_tokens, labels, self.classes, self.source)


class DiskWriter:
    """Strings that are put into a file as they come."""

    def __init__(self, alphabet: Sequence[str], is_tokens: bool, source: StringSource) -> None:
        self._alphabet, self._is_tokens, self._source = tuple(alphabet), is_tokens, source
        self._file, self._at = _CodeFile(len(self._alphabet)), 0
        self._lengths: list[Ints] = [np.zeros(0, np.int64)]

    def add(self, symbols: Codes, lengths: Ints) -> None:
        """Put some more behind the others."""
        self._file.write(self._at, symbols)
        self._at += len(symbols)
        self._lengths.append(lengths)

    def done(self) -> StringsOnDisk:
        """All of them."""
        return StringsOnDisk(
            _sums(np.concatenate(self._lengths)), self._alphabet, self._is_tokens, self._source, self._file
        )


def _sums(lengths: Ints) -> Ints:
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths, dtype=np.int64)])
