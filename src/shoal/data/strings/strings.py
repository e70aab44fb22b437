"""Strings as one long array of symbol codes: the form that everything after reading works on."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from shoal.arrays import Codes, Ints, Words
from shoal.data.ragged import count_codes, encode_labels, take_ragged
from shoal.data.tables.table import Source
from shoal.errors import DataError

LONG = 1000  # symbols of a string, on average


@dataclass(frozen=True)
class StringSource:
    """Where strings came from and how to write some like them."""

    name: str = "strings"
    format: str = "list"  # a list, or the name of a format in `shoal.data.strings.formats`
    delimiter: str | None = None  # between tokens; None is white space
    gzip: bool = False
    notes: tuple[str, ...] = ()
    alphabet: str | None = None  # protein | dna | rna: a known one, given or guessed; None is given in full or learned
    column: str | None = None  # the column of a table that holds the strings
    class_column: str | None = None
    table: Source | None = None  # how that table is written
    header: str | None = None  # how the first line of that table was read
    person: tuple[str, ...] = ()  # of events: the columns that tell who
    time: str | None = None  # of events: the column that tells when
    columns: tuple[str, ...] = ()  # of a matrix: the columns that were asked for, by name or pattern
    sites: tuple[
        str, ...
    ] = ()  # names of places: of variants chromosome, place, identifier and alleles, with tabs between


@dataclass(frozen=True)
class Strings:
    """Sequences of symbols. A symbol is a character or a whole token.

    Attributes
    ----------
    symbols : int32 array
        All strings, one after another; each entry is an index into the alphabet.
    starts : int64 array (n_strings + 1,)
        String i is ``symbols[starts[i]:starts[i + 1]]``.
    alphabet : tuple of str
        The symbols in ascending order. It may be larger than what occurs.
    is_tokens : bool
        Whether a symbol is a token, so that a string is shown as a list, or a character.
    labels : int32 array (n_strings,), optional
        The class of each string, an index into `classes`.
    classes : tuple of str
        The names of the classes in ascending order.
    source : StringSource
        Where they came from.
    """

    symbols: Codes
    starts: Ints
    alphabet: tuple[str, ...]
    is_tokens: bool = False
    labels: Codes | None = None
    classes: tuple[str, ...] = ()
    source: StringSource = field(default_factory=StringSource)

    @classmethod
    def of(
        cls,
        strings: Iterable[str] | Iterable[Sequence[str]],
        labels: Sequence[str] | None = None,
        *,
        alphabet: Iterable[str] | None = None,
        source: StringSource | None = None,
    ) -> Strings:
        """Encode plain Python strings, or lists of tokens.

        Parameters
        ----------
        strings : iterable of str, or of sequences of str
            Characters are the symbols of a str, tokens those of a sequence.
        labels : sequence of str, optional
            The class of each string.
        alphabet : iterable of str, optional
            The symbols that may occur; else those that do.

        Raises
        ------
        DataError
            A symbol is not in the given alphabet, a string is neither text nor a list of text, or the labels do not
            match the strings.
        """
        listed: list[Any] = list(strings)
        is_tokens = bool(listed) and not isinstance(listed[0], str)
        if isinstance(strings, str) or any(
            isinstance(s, str) is is_tokens or not isinstance(s, Sequence | np.ndarray) for s in listed
        ):
            raise DataError("the strings are not of one kind; give a list of text, or a list of lists of tokens")
        lengths = np.fromiter((len(s) for s in listed), dtype=np.int64, count=len(listed))
        starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
        encode = _encode_tokens if is_tokens else _encode_characters
        symbols, found = encode(listed)
        known = found if alphabet is None else tuple(sorted(set(alphabet)))
        if not is_tokens and any(len(symbol) != 1 for symbol in known):
            raise DataError("the alphabet of characters holds a longer symbol; give single characters, or tokens")
        if known != found:
            codes = {symbol: code for code, symbol in enumerate(known)}
            strangers = [i for i, symbol in enumerate(found) if symbol not in codes]
            if strangers:
                first = int(np.flatnonzero(np.isin(symbols, strangers))[0])
                row = int(np.searchsorted(starts, first, side="right"))
                raise DataError(
                    f"{len(strangers)} of the symbols that occur are not in the alphabet, the first of them in string "
                    f"{row}; extend the alphabet, or leave it out to learn it from the data"
                )
            symbols = np.array([codes[s] for s in found], dtype=np.int32)[symbols]
        made = cls(symbols, starts, known, is_tokens, source=source or StringSource())
        return made if labels is None else made.with_labels(labels)

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def n_strings(self) -> int:
        """Number of strings."""
        return len(self)

    @property
    def lengths(self) -> Ints:
        """The number of symbols of each string."""
        return np.diff(self.starts)

    def with_labels(self, labels: Sequence[str]) -> Strings:
        """The same strings with a class for each."""
        codes, classes = encode_labels(labels, len(self), "strings")
        return replace(self, labels=codes, classes=classes)

    def take(self, rows: npt.NDArray[np.integer[Any]]) -> Strings:
        """Some of the strings, in the given order; alphabet and classes are shared."""
        symbols, starts = take_strings(self.symbols, self.starts, rows)
        return replace(self, symbols=symbols, starts=starts, labels=None if self.labels is None else self.labels[rows])

    def compact(self) -> Strings:
        """The same strings, with an alphabet and classes that hold nothing but what occurs."""
        used = count_codes(self.symbols, len(self.alphabet)) > 0
        code_of = (np.cumsum(used) - 1).astype(np.int32)
        alphabet = tuple(s for s, u in zip(self.alphabet, used.tolist(), strict=True) if u)
        made = replace(self, symbols=self.symbols if used.all() else code_of[self.symbols], alphabet=alphabet)
        if self.labels is None:
            return made
        used = np.bincount(self.labels, minlength=len(self.classes)) > 0
        classes = tuple(c for c, u in zip(self.classes, used.tolist(), strict=True) if u)
        return replace(made, labels=(np.cumsum(used) - 1).astype(np.int32)[self.labels], classes=classes)

    def texts(self) -> list[str] | list[list[str]]:
        """The strings as plain Python objects, of the kind that `of` takes."""
        ends = self.starts[1:].tolist()
        if self.is_tokens:
            tokens = np.array([*self.alphabet, None], dtype=object)[:-1][self.symbols].tolist()
            return [tokens[a:b] for a, b in zip(self.starts[:-1].tolist(), ends, strict=True)]
        points = np.array([ord(c) for c in self.alphabet], dtype="<u4")[self.symbols]
        whole = points.tobytes().decode("utf-32-le", errors="surrogatepass")
        return [whole[a:b] for a, b in zip(self.starts[:-1].tolist(), ends, strict=True)]


def symbol_keys(alphabet: Sequence[str]) -> Words:
    """A 64-bit number for each symbol that depends on the symbol alone, not on the alphabet it stands in."""
    digests = (hashlib.blake2b(s.encode("utf-8", errors="surrogatepass"), digest_size=8).digest() for s in alphabet)
    return np.frombuffer(b"".join(digests), dtype="<u8").astype(np.uint64)


def take_strings(symbols: Codes, starts: Ints, rows: npt.NDArray[np.integer[Any]]) -> tuple[Codes, Ints]:
    """The chosen strings' symbols, one after another, and where each begins."""
    sizes = np.diff(starts)[rows]
    if len(rows) and int(sizes.sum()) >= LONG * len(rows):  # a piece each is copied faster than symbol by symbol
        ends = np.cumsum(sizes)
        pieces = [symbols[a : a + n] for a, n in zip(starts[:-1][rows].tolist(), sizes.tolist(), strict=True)]
        return np.concatenate(pieces), np.concatenate([np.zeros(1, np.int64), ends])
    new_starts, (taken,) = take_ragged(starts, rows, symbols)
    return taken, new_starts


def _encode_characters(strings: list[str]) -> tuple[Codes, tuple[str, ...]]:
    points = np.frombuffer("".join(strings).encode("utf-32-le", errors="surrogatepass"), dtype="<u4")
    if len(points) == 0:
        return np.zeros(0, np.int32), ()
    used = np.flatnonzero(np.bincount(points))  # at most 1,114,112 cells
    code_of = np.zeros(int(used[-1]) + 1, np.int32)
    code_of[used] = np.arange(len(used))
    return code_of[points], tuple(chr(p) for p in used)


def _encode_tokens(strings: list[Sequence[str]]) -> tuple[Codes, tuple[str, ...]]:
    distinct = set(chain.from_iterable(strings))
    if any(not isinstance(token, str) for token in distinct):
        raise DataError("a token is not text; convert numbers with str before they become symbols")
    alphabet = tuple(sorted(distinct))
    codes = {token: code for code, token in enumerate(alphabet)}
    return np.fromiter((codes[t] for t in chain.from_iterable(strings)), dtype=np.int32), alphabet
