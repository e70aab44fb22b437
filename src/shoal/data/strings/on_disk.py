"""Strings in a file of no name (`shoal.data.ragged_rows`): what is held is where each begins, and what is asked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from shoal.arrays import Codes, Ints
from shoal.data.ragged_rows import DiskRows, Ragged, RaggedOnDisk, ValueFile
from shoal.data.strings.strings import Strings, StringSource

SYMBOLS_AT_ONCE = 1 << 20
"""Symbols that are read at once."""


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


@dataclass(frozen=True)
class StringsOnDisk:
    """Strings in a file.

    Attributes
    ----------
    rows : RaggedOnDisk
        The numbers of their symbols.
    alphabet, is_tokens, source, labels, classes
        As of `Strings`.
    """

    rows: RaggedOnDisk
    alphabet: tuple[str, ...]
    is_tokens: bool
    source: StringSource
    labels: Codes | None = None
    classes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def starts(self) -> Ints:
        """Where each begins, from 0 on."""
        return self.rows.starts

    @property
    def lengths(self) -> Ints:
        """The number of symbols of each string."""
        return self.rows.sizes

    @property
    def n_symbols(self) -> int:
        """How many symbols they have in all."""
        return self.rows.n_entries

    def runs(self, n_symbols: int | None = None) -> Iterator[tuple[int, int]]:
        """Rows from and to, in runs that can be read at once."""
        return self.rows.runs(n_symbols or SYMBOLS_AT_ONCE)

    def part(self, low: int, high: int) -> Strings:
        """The strings from one row to before another, held."""
        return self._held(self.rows.part(low, high), None if self.labels is None else self.labels[low:high])

    def take(self, rows: npt.NDArray[np.integer[Any]]) -> Strings:
        """Some of the strings, held, in the given order."""
        return self._held(self.rows.take(rows), None if self.labels is None else self.labels[rows])

    def slice(self, low: int, high: int) -> StringsOnDisk:
        """The strings from one row to before another, in the same file."""
        labels = None if self.labels is None else self.labels[low:high]
        return replace(self, rows=self.rows.slice(low, high), labels=labels)

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
        return replace(self, rows=self.rows.in_order(rows), labels=None if self.labels is None else self.labels[rows])

    def _held(self, found: Ragged, labels: Codes | None) -> Strings:
        values = (found.values[0], found.starts, self.alphabet, self.is_tokens, labels, self.classes, self.source)
        return Strings(*values)


class DiskWriter:
    """Strings that are put into a file as they come, in as few bytes as the alphabet needs."""

    def __init__(self, alphabet: Sequence[str], is_tokens: bool, source: StringSource) -> None:
        self._alphabet, self._is_tokens, self._source = tuple(alphabet), is_tokens, source
        n = len(self._alphabet)
        dtype = np.uint8 if n <= 1 << 8 else np.uint16 if n <= 1 << 16 else np.int32
        self._rows = DiskRows(ValueFile(dtype, np.int32))

    def add(self, symbols: Codes, lengths: Ints) -> None:
        """Put some more behind the others."""
        self._rows.add(lengths, symbols)

    def done(self) -> StringsOnDisk:
        """All of them."""
        return StringsOnDisk(self._rows.done(), self._alphabet, self._is_tokens, self._source)
