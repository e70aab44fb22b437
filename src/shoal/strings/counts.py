"""What is counted of strings in one reading of a file, block by block: enough to put them in order, and to know which
symbols are rare."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from shoal.arrays import Codes, Ints, Words
from shoal.data.strings.blocks import StringBlocks
from shoal.data.strings.strings import Strings, StringSource, symbol_keys
from shoal.errors import DataError
from shoal.kernels.strings.hash import BASES, count_holders, fingerprints
from shoal.strings.rare_symbols import rows_by_class


@dataclass(frozen=True)
class StringCounts:
    """What is known of all strings of a file after it was read once.

    Attributes
    ----------
    alphabet, classes : tuple of str
        All symbols and all classes, ascending.
    is_tokens : bool
    lengths : int64 array (n_strings,)
    labels : int32 array (n_strings,), optional
    holders : int64 array (n_classes, n_symbols)
        How many strings of each class hold each symbol.
    source : StringSource
        As of strings that are held.
    canonical_order : int32 array (n_strings,)
        As `shoal.strings.condense.canonical_order`.
    """

    alphabet: tuple[str, ...]
    classes: tuple[str, ...]
    is_tokens: bool
    lengths: Ints
    labels: Codes | None
    holders: Ints
    source: StringSource
    canonical_order: Codes

    def __len__(self) -> int:
        return len(self.lengths)

    @cached_property
    def _place(self) -> dict[str, int]:
        return {symbol: code for code, symbol in enumerate(self.alphabet)}

    @cached_property
    def _class_place(self) -> dict[str, int]:
        return {name: label for label, name in enumerate(self.classes)}

    def numbered(self, block: Strings) -> Strings:
        """Some of the strings in the codes of all."""
        try:
            codes = np.array([self._place[symbol] for symbol in block.alphabet], np.int32)
            labels = None
            if self.labels is not None and block.labels is not None:
                labels = np.array([self._class_place[name] for name in block.classes], np.int32)[block.labels]
        except KeyError:
            raise changed_meanwhile() from None
        symbols = codes[block.symbols] if len(codes) else block.symbols
        return Strings(symbols, block.starts, self.alphabet, self.is_tokens, labels, self.classes, self.source)


def changed_meanwhile() -> DataError:
    """What is said of a file that is another one when it is read again."""
    return DataError("the strings changed while they were read; try again when nobody writes to them")


def count_strings(blocks: StringBlocks, look: Callable[[int, int], None] = lambda *_: None) -> StringCounts:
    """Read a file once; `look` is called with the numbers of strings and of names so far, and may refuse them."""
    counter = _Counter()
    for block in blocks:
        counter.add(block)
        look(counter.n_strings, counter.n_names)
    return counter.done(blocks.is_tokens, blocks.source)


class _Counter:
    def __init__(self) -> None:
        self._symbols: dict[str, int] = {}
        self._classes: dict[str, int] = {}
        self._holders = np.zeros((1, 1), np.int64)
        self._lengths: list[Ints] = [np.zeros(0, np.int64)]
        self._labels: list[Codes] = [np.zeros(0, np.int32)]
        self._words: list[list[Words]] = [[np.zeros(0, np.uint64)], [np.zeros(0, np.uint64)]]
        self._notes: dict[str, int] = {}
        self._source = StringSource()
        self._has_classes = True

    @property
    def n_strings(self) -> int:
        """So far."""
        return sum(map(len, self._lengths))

    @property
    def n_names(self) -> int:
        """Different symbols and classes so far."""
        return len(self._symbols) + len(self._classes)

    def add(self, block: Strings) -> None:
        codes = _codes_of(block.alphabet, self._symbols)
        keys = symbol_keys(block.alphabet)
        for words, basis in zip(self._words, BASES, strict=True):
            words.append(fingerprints(block.symbols, block.starts, keys, basis))
        self._lengths.append(block.lengths)
        self._has_classes = self._has_classes and block.labels is not None
        labels = _codes_of(block.classes, self._classes)
        if block.labels is not None:
            self._labels.append(labels[block.labels].astype(np.int32))
        n_classes, n_symbols = self._holders.shape
        room = (max(len(self._classes), 1), max(len(self._symbols), 1))
        if room[0] > n_classes or room[1] > n_symbols:
            wider = np.zeros((max(room[0], n_classes), max(room[1], n_symbols)), np.int64)
            wider[:n_classes, :n_symbols] = self._holders
            self._holders = wider
        for label, rows in rows_by_class(block):
            if len(rows):
                part = block if block.labels is None else block.take(rows)
                held = count_holders(part.symbols, part.starts, len(block.alphabet))
                self._holders[0 if block.labels is None else labels[label], codes] += held
        for note in block.source.notes:
            told, n = _told_number(note)
            self._notes[told] = self._notes.get(told, 0) + n
        self._source = block.source

    def done(self, is_tokens: bool, source: StringSource) -> StringCounts:
        alphabet, order = _ascending(self._symbols)
        classes, class_order = _ascending(self._classes) if self._has_classes else ((), np.zeros(0, np.int64))
        labels = None
        holders = self._holders[:, order]
        if classes:
            labels = np.argsort(class_order).astype(np.int32)[np.concatenate(self._labels)]
            holders = holders[class_order]
        else:
            holders = holders.sum(axis=0, keepdims=True)
        lengths = np.concatenate(self._lengths)
        by = (lengths, np.zeros(len(lengths), np.int8) if labels is None else labels)
        canonical = np.lexsort((*(np.concatenate(self._words.pop()) for _ in range(2)), *by)).astype(np.int32)
        notes = tuple(_note(told, n) for told, n in self._notes.items())
        return StringCounts(
            alphabet,
            classes,
            is_tokens,
            lengths,
            labels,
            holders,
            replace(self._source, notes=notes or source.notes),
            canonical,
        )


def _codes_of(names: Sequence[str], known: dict[str, int]) -> Ints:
    return np.array([known.setdefault(name, len(known)) for name in names], np.int64)


def _ascending(known: dict[str, int]) -> tuple[tuple[str, ...], Ints]:
    names = tuple(sorted(known))
    return names, np.array([known[name] for name in names], np.int64)


def _told_number(note: str) -> tuple[str, int]:
    """A note that begins with a number as its words and that number, which adds up over blocks."""
    first, _, rest = note.partition(" ")
    return (rest, int(first)) if first.isdigit() else (note, 0)


def _note(told: str, n: int) -> str:
    return f"{n} {told}" if n else told
