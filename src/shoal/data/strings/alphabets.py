"""The alphabets of biology, told from the letters that occur, and characters as codes of an alphabet.

Letters as in the IUPAC-IUB recommendations: for nucleotides with the codes for more than one base, for proteins with B,
Z and J (either of two), X (any), U and O (the 21st and 22nd) and ``*`` for a stop. A gap of an alignment is ``-``.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from shoal.arrays import Bytes, Codes, Ints
from shoal.errors import DataError, PolicyError

_LETTERS = {
    "protein": "ACDEFGHIKLMNPQRSTVWY" + "BJOUXZ*-",
    "dna": "ACGT" + "RYSWKMBDHVN-",
    "rna": "ACGU" + "RYSWKMBDHVN-",
}
_PLAIN = "ACGTUN-"
_MOSTLY = 0.9  # of nucleotides are no ambiguity codes; a protein of such letters alone is a curiosity
_PIECE = 1 << 22

KNOWN = tuple(_LETTERS)
"""The names of the known alphabets."""

LEARNED = "learned"
"""As an alphabet: whatever occurs, as it is spelled."""

WHITE = b" \t\n\v\f\r"
"""The bytes that are no symbols of a known alphabet, nor of a FASTA file."""


@dataclass(frozen=True)
class Alphabet:
    """The symbols that may occur.

    Attributes
    ----------
    symbols : tuple of str or None
        In ascending order; None is whatever occurs.
    name : str or None
        One of `KNOWN`. Then lower case is folded to upper case.
    """

    symbols: tuple[str, ...] | None = None
    name: str | None = None

    @classmethod
    def of(cls, wanted: str | Iterable[str] | None) -> Alphabet:
        """From the name of a known alphabet, ``"learned"`` or None, or the symbols; a text gives its characters.

        >>> Alphabet.of("dna").name, Alphabet.of("TGCA").symbols
        ('dna', ('A', 'C', 'G', 'T'))
        """
        if wanted is None or wanted == LEARNED:
            return cls()
        if isinstance(wanted, str) and wanted.casefold() in _LETTERS:
            name = wanted.casefold()
            return cls(tuple(sorted(_LETTERS[name])), name)
        listed = list(wanted)
        if not listed or any(not isinstance(symbol, str) or not symbol for symbol in listed):
            raise PolicyError(f"the alphabet is neither a list of symbols nor one of {', '.join(map(repr, KNOWN))}")
        return cls(tuple(sorted(set(listed))))


@dataclass(frozen=True)
class Encoded:
    """Characters as codes.

    Attributes
    ----------
    codes : int32 array
        A stranger to the alphabet has -1.
    symbols : tuple of str
        What the codes stand for, in ascending order.
    n_strangers : int
        How many distinct characters are not in the alphabet.
    is_folded : bool
        Whether lower case occurred and was folded.
    """

    codes: Codes
    symbols: tuple[str, ...]
    n_strangers: int = 0
    is_folded: bool = False

    @property
    def first_stranger(self) -> int:
        """Where the first character that is not in the alphabet stands."""
        return int(np.argmax(self.codes < 0))


def guess_alphabet(letters: Bytes | npt.NDArray[np.uint32]) -> Alphabet:
    """Which known alphabet the characters are from, whatever their case; the learned one if none.

    Nucleotides are told by being nearly all A, C, G, T or U, N and gaps, since all their letters stand for amino acids
    too.

    >>> guess_alphabet(np.frombuffer(b"acgtnACGTA", np.uint8)).name
    'dna'
    >>> guess_alphabet(np.frombuffer(b"MKVLAAGRKDEX*", np.uint8)).name
    'protein'
    >>> guess_alphabet(np.frombuffer(b"ACGT1", np.uint8)).name is None
    True
    """
    counts = _count(letters)
    found: dict[str, int] = {}
    for point in np.flatnonzero(counts).tolist():
        found[chr(point)] = int(counts[point])
    return guess_of_counts(found)


def guess_of_counts(counts: Mapping[str, int]) -> Alphabet:
    """The same from how often each character occurs."""
    found: dict[str, int] = {}
    for letter, n in counts.items():
        folded = letter.upper() if letter.isascii() else letter
        found[folded] = found.get(folded, 0) + n
    if not found:
        return Alphabet()
    n_plain = sum(found.get(letter, 0) for letter in _PLAIN)
    likely = ("dna", "rna") if n_plain >= _MOSTLY * sum(found.values()) else ("protein",)
    fitting = [name for name in likely if found.keys() <= set(_LETTERS[name])]
    return Alphabet.of(fitting[0]) if fitting else Alphabet()


def encode(letters: Bytes | npt.NDArray[np.uint32], alphabet: Alphabet) -> Encoded:
    """Number characters, which are given by their code points."""
    counts = _count(letters)
    used = np.flatnonzero(counts)
    symbols = alphabet.symbols
    if symbols is None:
        symbols = tuple(chr(point) for point in used.tolist())
    code_of = np.full(max(len(counts), 128), -1, np.int32)
    for code, symbol in enumerate(symbols):
        if len(symbol) == 1 and ord(symbol) < len(code_of):
            code_of[ord(symbol)] = code
    is_folded = False
    if alphabet.name is not None:
        lower = slice(ord("a"), ord("z") + 1)
        code_of[lower] = code_of[ord("A") : ord("Z") + 1]
        is_folded = bool(np.any(counts[lower]))
    n_strangers = int(np.count_nonzero(code_of[used] < 0))
    return Encoded(code_of[letters], symbols, n_strangers, is_folded)


def code_points(data: bytes) -> Bytes | npt.NDArray[np.uint32]:
    """The characters of UTF-8 by their code points."""
    if data.isascii():
        return np.frombuffer(data, np.uint8)
    return np.frombuffer(data.decode().encode("utf-32-le"), "<u4").astype(np.uint32, copy=False)


def refuse_strangers(path: os.PathLike[str], line: int, n_strangers: int) -> NoReturn:
    """Say that symbols are not in the alphabet, and where the first one is."""
    raise DataError(
        f"{path}, line {line}: holds a symbol that is not in the alphabet ({n_strangers} so far); extend the alphabet, "
        "or leave it out to learn it from the data"
    )


def _count(letters: npt.NDArray[Any]) -> Ints:
    """How often each code point occurs; in pieces, since bincount makes 64-bit copies."""
    size = 128 if letters.dtype == np.uint8 else int(letters.max(initial=127)) + 1
    counts = np.zeros(size, np.int64)
    for start in range(0, len(letters), _PIECE):
        counts += np.bincount(letters[start : start + _PIECE], minlength=size)
    return counts
