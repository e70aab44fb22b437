"""PHYLIP: the numbers of sequences and of sites, then a name and the sequence, in one run or interleaved.

Names end at a blank, as most programs write them, or after ten characters, as the first one did. All sequences have the
same length; they are an alignment.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from shoal.data.strings.alphabets import code_points, encode, guess_alphabet
from shoal.data.strings.format import BLANKS, FORMATS, HowToReadStrings, TextFormat
from shoal.data.strings.strings import Strings, StringSource
from shoal.data.whole_text import WholeText, load_text
from shoal.errors import DataError

_HEAD = re.compile(rb"\s*([1-9][0-9]{0,8})\s+([1-9][0-9]{0,8})\s*")
_LETTERS = re.compile(rb"[A-Za-z?*.\-]+")
_NAME = 10  # characters, where a blank does not end it
_NEUTRAL = "pseudo_{:06d}"


class Phylip(TextFormat):
    """An alignment with names."""

    name = "phylip"
    place = 4
    help = "PHYLIP, one sequence a line; names are numbers and mean nothing"
    has_tokens = False
    ending = "phy"

    def is_told(self, lines: list[bytes]) -> bool:
        """Two numbers, then a name and as many letters as the second says."""
        head = _HEAD.fullmatch(lines[0]) if len(lines) > 1 else None
        if head is None:
            return False
        return any(_LETTERS.fullmatch(s) and len(s) == int(head[2]) for s in _readings(lines[1]))

    def parse(self, text: WholeText, source: StringSource, reading: HowToReadStrings) -> Strings:
        """Read an alignment."""
        sequences, n_sites = _sequences(text)
        letters = code_points(b"".join(sequences))
        found = reading.alphabet if reading.is_alphabet_given else guess_alphabet(letters)
        encoded = encode(letters, found)
        if encoded.n_strangers:
            row = encoded.first_stranger // n_sites + 1
            raise DataError(
                f"{text.path}, sequence {row}: holds a symbol that is not in the alphabet; extend the alphabet, or "
                "leave it out to learn it from the data"
            )
        starts = np.arange(len(sequences) + 1, dtype=np.int64) * n_sites
        return Strings(encoded.codes, starts, encoded.symbols, source=replace(source, alphabet=found.name))

    def pieces(self, strings: Strings) -> Iterator[bytes]:
        """One sequence a line, with neutral names."""
        yield f"{len(strings)} {int(strings.lengths[0])}\n".encode()
        for row, text in enumerate(strings.texts(), start=1):
            yield f"{_NEUTRAL.format(row)} {text}\n".encode()

    def holds(self, symbol: str, source: StringSource) -> bool:
        """Whatever is no blank."""
        return symbol not in BLANKS

    def refuse_unwritable(self, strings: Strings) -> None:
        """Sequences that are no alignment."""
        super().refuse_unwritable(strings)
        if len(np.unique(strings.lengths)) != 1 or not strings.lengths[0]:
            raise DataError("PHYLIP holds sequences of one length, and these have several; write them as FASTA")

    def beside(self, path: Path, source: StringSource) -> list[str]:
        """Names that tell more than a number."""
        lines = load_text(path).data.split(b"\n")[1:-1]
        told = sum(not line.startswith(f"{_NEUTRAL.format(i)} ".encode()) for i, line in enumerate(lines, start=1))
        return [f"{told:,} names in the data cannot come from a release"] if told else []


def _readings(line: bytes) -> list[bytes]:
    """The letters of a line with a name, by either rule for where the name ends."""
    return [b"".join(line.split()[1:]), b"".join(line[_NAME:].split())]


def _sequences(text: WholeText) -> tuple[list[bytes], int]:
    lines = [line for line in text.data.split(b"\n") if line.strip()]
    head = _HEAD.fullmatch(lines[0])
    if head is None:
        raise DataError(f"{text.path}, line 1: PHYLIP begins with the numbers of sequences and of sites")
    n, n_sites = int(head[1]), int(head[2])
    body = lines[1:]
    for rule in (0, 1):
        for arranged in (_interleaved, _in_turn):
            found = arranged(body, n, n_sites, rule)
            if found is not None:
                return found, n_sites
    raise DataError(
        f"{text.path}: these are not {n:,} sequences of {n_sites:,} letters each, as its first line says; mend that "
        "line, or convert the file to FASTA"
    )


def _interleaved(body: list[bytes], n: int, n_sites: int, rule: int) -> list[bytes] | None:
    if len(body) % n:
        return None
    parts = [[_readings(line)[rule]] for line in body[:n]]
    for i, line in enumerate(body[n:]):
        parts[i % n].append(b"".join(line.split()))
    return _of_length([b"".join(part) for part in parts], n_sites)


def _in_turn(body: list[bytes], n: int, n_sites: int, rule: int) -> list[bytes] | None:
    found: list[bytes] = []
    for line in body:
        if found and len(found[-1]) < n_sites:
            found[-1] += b"".join(line.split())
        else:
            found.append(_readings(line)[rule])
    return _of_length(found, n_sites) if len(found) == n else None


def _of_length(sequences: list[bytes], n_sites: int) -> list[bytes] | None:
    is_whole = all(len(s.decode(errors="replace")) == n_sites for s in sequences)
    return sequences if is_whole else None


FORMATS.register(Phylip())
