"""FASTA: a description after ``>``, then the sequence over any number of lines.

Blanks inside a sequence and blank lines are nothing; a line that begins with ``;`` is a comment, as in old files; a
description without a sequence is an empty string. Descriptions are read for the class and then forgotten: what is
written has neutral names, ``>pseudo_000001``, with ``class=`` and the class behind.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from shoal.arrays import Ints, Mask
from shoal.data.strings.alphabets import WHITE, Alphabet, code_points, encode, guess_alphabet, refuse_strangers
from shoal.data.strings.format import BLANKS, FORMATS, HowToReadStrings, TextFormat, refuse_class_names
from shoal.data.strings.on_disk import SomeStrings
from shoal.data.strings.strings import Strings, StringSource
from shoal.data.whole_text import WholeText, load_text
from shoal.errors import DataError, PolicyError

_WIDTH = 60
_STRINGS_AT_ONCE = 1 << 14
_SYMBOLS_AT_ONCE = 500_000
_WRITTEN = re.compile(r"pseudo_\d+ class=(.*)")
_NEUTRAL = re.compile(rb">pseudo_(\d{6,})( class=.*)?")
_SEQUENCE_BYTES = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz*-. \t0123456789")
_CONTINUES = 0b1100_0000, 0b1000_0000  # the bytes of a UTF-8 character after its first


def read_fasta(text: WholeText, source: StringSource, alphabet: Alphabet | None, label: str | None) -> Strings:
    """Read sequences.

    Parameters
    ----------
    alphabet : Alphabet, optional
        Else it is guessed.
    label : str, optional
        A regular expression with one group, searched for in each description (without ``>``): the class. A file that
        was written here is read by the form that is written here, whatever the expression.

    Raises
    ------
    DataError
        With the line.
    """
    pattern = label_pattern(label)
    lines = text.line_starts()
    first = text.array[lines[:-1]]
    headers = np.flatnonzero(first == ord(">"))
    is_sequence = (first != ord(">")) & (first != ord(";"))
    keep = np.repeat(is_sequence, np.diff(lines))
    is_symbol = np.ones(256, dtype=bool)
    is_symbol[list(WHITE)] = False
    keep &= is_symbol[text.array]
    if keep[: lines[headers[0]] if len(headers) else None].any():
        line = text.line_at(int(np.argmax(keep)))
        raise DataError(
            f"{text.path}, line {line}: a sequence stands before any description; begin each record with a line "
            "that starts with '>', or read the file as lines"
        )
    if not len(headers):
        raise DataError(f"{text.path}: no line begins with '>', so it holds no FASTA record")
    data = text.array[keep].tobytes()
    starts = _record_starts(text, keep, lines, headers)
    letters = code_points(data)
    found = alphabet or guess_alphabet(letters)
    encoded = encode(letters, found)
    if encoded.n_strangers:
        kept = keep if data.isascii() else keep & ((text.array & _CONTINUES[0]) != _CONTINUES[1])
        line = text.line_at(int(np.flatnonzero(kept)[encoded.first_stranger]))
        refuse_strangers(text.path, line, encoded.n_strangers)
    notes = list(source.notes)
    if alphabet is None:
        notes.append(
            f"the alphabet was guessed: {found.name}"
            if found.name
            else "the letters are of no known alphabet; those that occur were taken as they are spelled"
        )
    if encoded.is_folded:
        notes.append("lower case was folded to upper case")
    made = Strings(
        encoded.codes, starts, encoded.symbols, source=replace(source, notes=tuple(notes), alphabet=found.name)
    )
    labels = _labels(text, lines, headers, pattern)
    return made if labels is None else made.with_labels(labels)


def label_pattern(label: str | None) -> re.Pattern[str] | None:
    """The compiled expression, which must have one group."""
    if label is None:
        return None
    try:
        pattern = re.compile(label)
    except re.error as error:
        raise PolicyError(f"the expression for the class is not a regular one ({error.msg}); mend it") from None
    if pattern.groups != 1:
        raise PolicyError(
            f"the expression for the class has {pattern.groups} groups; put one pair of parentheses around the class"
        )
    return pattern


def fasta_pieces(strings: SomeStrings) -> Iterator[bytes]:
    """The file in pieces: neutral names, 60 symbols a line."""
    digits = max(6, len(str(len(strings))))
    points = np.array([ord(symbol) for symbol in strings.alphabet], dtype="<u4")
    ends = [f" class={name}\n" for name in strings.classes] if strings.labels is not None else ["\n"]
    n_symbols = int(strings.lengths.sum())
    at_once = int(min(_STRINGS_AT_ONCE, max(_SYMBOLS_AT_ONCE * len(strings) // max(n_symbols, 1), 1)))
    for begin in range(0, len(strings), at_once):
        part = strings.take(np.arange(begin, min(begin + at_once, len(strings))))
        whole, starts = _wrap(points[part.symbols], part.lengths)
        chosen = part.labels.tolist() if part.labels is not None else [0] * len(part)
        yield "".join(
            f">pseudo_{begin + i + 1:0{digits}d}{ends[chosen[i]]}{whole[starts[i] : starts[i + 1]]}"
            for i in range(len(chosen))
        ).encode()


def _wrap(points: npt.NDArray[np.uint32], lengths: Ints) -> tuple[str, list[int]]:
    """All sequences with a line end after each 60 symbols and at their ends, and where each begins."""
    sizes = lengths + -(-lengths // _WIDTH)
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])
    first = np.repeat(np.cumsum(lengths) - lengths, lengths)
    within = np.arange(len(points)) - first
    wrapped = np.full(int(starts[-1]), ord("\n"), dtype="<u4")
    wrapped[np.repeat(starts[:-1], lengths) + within + within // _WIDTH] = points
    return wrapped.tobytes().decode("utf-32-le"), starts.tolist()


def _record_starts(text: WholeText, keep: Mask, lines: Ints, headers: Ints) -> Ints:
    """Where each sequence begins among all symbols; a symbol counts by the first byte of its character."""
    counted = keep
    if not text.data.isascii():
        counted = keep & ((text.array & _CONTINUES[0]) != _CONTINUES[1])
    per_record = np.add.reduceat(counted, lines[headers], dtype=np.int64)
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(per_record)])


def _labels(text: WholeText, lines: Ints, headers: Ints, pattern: re.Pattern[str] | None) -> list[str] | None:
    begin, end = lines[headers], lines[headers + 1]
    if pattern is None and not _WRITTEN.fullmatch(text.data[begin[0] + 1 : end[0] - 1].decode()):
        return None
    descriptions = [text.data[a:b].decode() for a, b in zip((begin + 1).tolist(), (end - 1).tolist(), strict=True)]
    written = [_WRITTEN.fullmatch(d) for d in descriptions]
    if all(written):
        return [match[1] for match in written if match]
    if pattern is None:
        return None
    found = [pattern.search(d) for d in descriptions]
    labels = [match[1] if match else None for match in found]
    without = [i for i, name in enumerate(labels) if not name]
    if without:
        line = int(headers[without[0]]) + text.first_line
        raise DataError(
            f"{text.path}, line {line}: the expression finds no class in this description "
            f"({len(without)} of {len(labels)} that were read have none); widen the expression, or leave these records "
            "out"
        )
    return [name for name in labels if name]


class Fasta(TextFormat):
    """Descriptions and sequences."""

    name = "fasta"
    place = 2
    help = "FASTA; names are numbers and mean nothing"
    has_tokens = False
    ending = "fasta"
    takes_label = True

    def is_told(self, lines: list[bytes]) -> bool:
        """A description first, and nothing but letters in the sequences."""
        told = [line for line in lines if not line.startswith(b";")]
        if not told or not told[0].startswith(b">"):
            return False
        return all(_SEQUENCE_BYTES.issuperset(line) for line in told if not line.startswith(b">"))

    def parse(self, text: WholeText, source: StringSource, reading: HowToReadStrings) -> Strings:
        """See `read_fasta`."""
        return read_fasta(text, source, reading.alphabet if reading.is_alphabet_given else None, reading.label)

    def pieces(self, strings: SomeStrings) -> Iterator[bytes]:
        """See `fasta_pieces`."""
        return fasta_pieces(strings)

    def holds(self, symbol: str, source: StringSource) -> bool:
        """Whatever is no blank and begins no line of another kind."""
        return symbol not in BLANKS and symbol not in (">", ";")

    def refuse_unwritable(self, strings: SomeStrings) -> None:
        """Class names that break a line."""
        refuse_class_names(strings, "\0\n\r")

    def beside(self, path: Path, source: StringSource) -> list[str]:
        """Descriptions that tell more than a number and a class, and comments."""
        lines = [line.rstrip(b"\r") for line in load_text(path).data.split(b"\n")]
        shown = (line for line in lines if line.startswith(b">"))
        named = sum(not _is_neutral(line, row) for row, line in enumerate(shown, start=1))
        named += sum(line.startswith(b";") for line in lines)
        many = "description" if named == 1 else "descriptions"
        return [f"{named:,} {many} in {path.name} cannot come from a release"] if named else []


def _is_neutral(line: bytes, row: int) -> bool:
    """Whether a description tells no more than the row, counted from 1, and a class."""
    match = _NEUTRAL.fullmatch(line)
    return match is not None and match[1].lstrip(b"0") == str(row).encode()


FORMATS.register(Fasta())
