"""Sequence files of the SPMF library: items are whole numbers, ``-1`` ends an itemset and ``-2`` a sequence.

A string has one symbol after another, so an itemset of several items becomes several symbols in the order of the file;
a note says how many there were. What is written has one item an itemset. Lines that begin with ``#``, ``%`` or ``@``
(comments, names of items) are not read and, since a name may be that of an item which is not released, not written.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from shoal.arrays import Mask
from shoal.data.strings.alphabets import Alphabet, refuse_strangers
from shoal.data.strings.format import FORMATS, HowToReadStrings, TextFormat, refuse_named_alphabet
from shoal.data.strings.formats.lines import LINE_END, number_tokens, tokenize
from shoal.data.strings.strings import Strings, StringSource
from shoal.data.whole_text import WholeText
from shoal.errors import DataError

ITEM = re.compile(r"0|[1-9][0-9]{0,17}")
"""The spelling of an item."""

_NUMBER = re.compile(rb"[0-9]{1,18}")
_ASIDE = re.compile(rb"^[#%@].*$", re.MULTILINE)
_SEQUENCE = re.compile(rb"\s*([0-9]+\s+|-1\s+)*-2\s*")
_END_OF_SET, _END_OF_SEQUENCE = b"-1", b"-2"
_STRINGS_AT_ONCE = 1 << 15


def looks_like_spmf(lines: list[bytes]) -> bool:
    """Whether all of some lines are sequences, comments or blank, and one at least is a sequence."""
    told = [line for line in lines if line.strip() and not _ASIDE.match(line)]
    return any(b" -1 " in line for line in told) and all(_SEQUENCE.fullmatch(line) for line in told)


def read_spmf(text: WholeText, source: StringSource, alphabet: Alphabet) -> Strings:
    """Read sequences of items.

    Raises
    ------
    DataError
        With the line where something is not an item, or where a sequence has no end.
    """
    notes = list(source.notes)
    bare = replace(text, data=_ASIDE.sub(b"", text.data))
    if b"@ITEM" in text.data:
        notes.append("the names of the items were not read; the symbols are their numbers")
    codes, distinct = tokenize(bare, None)
    is_line = codes == LINE_END
    names = [_canonical(token) for token in distinct]
    is_bad = np.array([name is None for name in names])
    is_bad[:2] = False  # the line end and the token of nothing
    if is_bad.any():
        line = _line(is_line, int(np.argmax(is_bad[codes])))
        raise DataError(
            f"{text.path}, line {line}: holds something other than items (whole numbers from 0), -1 and -2; "
            "number the items, or read the file as tokens"
        )
    is_end = np.array([token == _END_OF_SEQUENCE for token in distinct])[codes]
    is_item = ~is_line & ~is_end & ~np.array([token == _END_OF_SET for token in distinct])[codes]
    ends = np.flatnonzero(is_end)
    after = int(ends[-1]) + 1 if len(ends) else 0
    if not is_line[after:].all():
        line = _line(is_line, after + int(np.argmin(is_line[after:])))
        raise DataError(f"{text.path}, line {line}: the sequence that begins here has no end; close it with -2")
    if not len(ends):
        raise DataError(f"{text.path}: holds no sequence; each ends with -2")
    told = np.concatenate([[False], is_item[~is_line], [False]])
    n_joined = int(np.count_nonzero(~told[:-2] & told[1:-1] & told[2:]))
    if n_joined:
        notes.append(f"{n_joined} itemsets have more than one item; each item became a symbol of its own")
    lengths = np.add.reduceat(is_item, np.concatenate([[0], ends[:-1] + 1]), dtype=np.int64)
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
    canonical = [(name or "").encode() for name in names]
    symbols, known, strangers = number_tokens(codes[is_item], canonical, alphabet)
    if len(strangers):
        place = int(np.flatnonzero(is_item)[int(np.argmax(symbols < 0))])
        refuse_strangers(text.path, _line(is_line, place), len(strangers))
    return Strings(symbols, starts, known, True, source=replace(source, notes=tuple(notes)))


def spmf_pieces(strings: Strings) -> Iterator[bytes]:
    """The file in pieces, one sequence a line, one item an itemset."""
    for begin in range(0, len(strings), _STRINGS_AT_ONCE):
        rows = np.arange(begin, min(begin + _STRINGS_AT_ONCE, len(strings)))
        lines = (" -1 ".join([*items, "-2\n"]) for items in strings.take(rows).texts())
        yield "".join(lines).encode()


def _line(is_line: Mask, place: int) -> int:
    """The line in which a token stands."""
    return int(np.count_nonzero(is_line[:place])) + 1


def _canonical(token: bytes) -> str | None:
    if token in (_END_OF_SET, _END_OF_SEQUENCE):
        return token.decode()
    return str(int(token)) if _NUMBER.fullmatch(token) else None


class Spmf(TextFormat):
    """Items with -1 and -2 between them."""

    name = "spmf"
    place = 3
    help = "sequences in the form of SPMF: items, -1 after each, -2 at the end of a sequence"
    has_tokens = True
    ending = "spmf"

    def is_told(self, lines: list[bytes]) -> bool:
        """See `looks_like_spmf`."""
        return looks_like_spmf(lines)

    def parse(self, text: WholeText, source: StringSource, reading: HowToReadStrings) -> Strings:
        """See `read_spmf`."""
        refuse_named_alphabet(reading.alphabet)
        return read_spmf(text, replace(source, delimiter=None), reading.alphabet)

    def pieces(self, strings: Strings) -> Iterator[bytes]:
        """See `spmf_pieces`."""
        return spmf_pieces(strings)

    def holds(self, symbol: str, source: StringSource) -> bool:
        """Whole numbers."""
        return ITEM.fullmatch(symbol) is not None


FORMATS.register(Spmf())
