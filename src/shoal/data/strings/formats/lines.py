"""One record a line: a string of characters, or tokens between blanks or a delimiter."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from shoal.arrays import Codes, Rows
from shoal.data.strings.alphabets import WHITE, Alphabet, code_points, encode, refuse_strangers
from shoal.data.strings.format import (
    BLANKS,
    FORMATS,
    HowToReadStrings,
    TextFormat,
    is_text,
    refuse_blank,
    refuse_named_alphabet,
)
from shoal.data.strings.on_disk import SomeStrings
from shoal.data.strings.strings import Strings, StringSource
from shoal.data.whole_text import WholeText
from shoal.errors import PolicyError

LINE_END, NOTHING = 0, 1
_STRINGS_AT_ONCE = 1 << 15
_WHITE = "".join(map(chr, WHITE))


def read_lines(text: WholeText, source: StringSource, alphabet: Alphabet) -> Strings:
    """Read one string of characters a line; a blank line is an empty string.

    Blanks are symbols as any other, unless the alphabet is a known one: then they are nothing.

    Raises
    ------
    DataError
        With the line where a symbol is not in the alphabet.
    """
    is_symbol = np.ones(256, dtype=bool)
    is_symbol[list(WHITE) if alphabet.name else ord("\n")] = False
    keep = is_symbol[text.array]
    data = text.array[keep].tobytes()
    if not data.isascii():
        keep &= (text.array & 0b1100_0000) != 0b1000_0000  # a character counts by its first byte
    lengths = np.add.reduceat(keep, text.line_starts()[:-1], dtype=np.int64)
    encoded = encode(code_points(data), alphabet)
    if encoded.n_strangers:
        line = text.line_at(int(np.flatnonzero(keep)[encoded.first_stranger]))
        refuse_strangers(text.path, line, encoded.n_strangers)
    notes = (*source.notes, "lower case was folded to upper case") if encoded.is_folded else source.notes
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
    source = replace(source, notes=notes, alphabet=alphabet.name)
    return Strings(encoded.codes, starts, encoded.symbols, source=source)


def read_tokens(text: WholeText, source: StringSource, alphabet: Alphabet) -> Strings:
    """Read one sequence of tokens a line; a blank line is an empty sequence.

    With a delimiter, blanks around a token are not part of it, and a token of nothing is left out with a note.

    Raises
    ------
    DataError
        With the line where a token is not in the alphabet.
    """
    codes, distinct = tokenize(text, source.delimiter)
    ends = np.flatnonzero(codes == LINE_END)
    is_token = codes > NOTHING
    counts = np.add.reduceat(is_token, np.concatenate([[0], ends[:-1] + 1]), dtype=np.int64)
    if source.delimiter is not None:
        # A line that holds one token of nothing is blank.
        nothing = np.add.reduceat(codes == NOTHING, np.concatenate([[0], ends[:-1] + 1]), dtype=np.int64)
        n_nothing = int(nothing[counts > 0].sum())
        if n_nothing:
            source = replace(source, notes=(*source.notes, f"{n_nothing} tokens of nothing were left out"))
    symbols, known, strangers = number_tokens(codes[is_token], distinct, alphabet)
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])
    if len(strangers):
        row = int(np.searchsorted(starts, int(np.argmax(symbols < 0)), side="right"))
        refuse_strangers(text.path, text.first_line + row - 1, len(strangers))
    return Strings(symbols, starts, known, True, source=source)


def tokenize(text: WholeText, delimiter: str | None) -> tuple[Codes, list[bytes]]:
    """All tokens in order, with `LINE_END` after each line and `NOTHING` for a token of nothing, and what they are.

    ``codes[i]`` is an index into the list. The last code is a line end.
    """
    numbers: defaultdict[bytes, int] = defaultdict()
    # A token that is not known yet gets the next number, inside the dictionary's own C code. No text holds a NUL.
    numbers.default_factory = numbers.__len__
    mark = b"\0"
    assert (numbers[mark], numbers[b""]) == (LINE_END, NOTHING)
    parts: list[Codes] = []
    for piece in text.pieces():
        if delimiter is None:
            tokens = piece.replace(b"\n", b" \0 ").split()
        else:
            cut = delimiter.encode()
            # The last one stands behind the last line end.
            tokens = [t.strip() for t in piece.replace(b"\n", cut + mark + cut).split(cut)[:-1]]
        parts.append(np.fromiter(map(numbers.__getitem__, tokens), np.int32, len(tokens)))
    return np.concatenate(parts), list(numbers)


def number_tokens(codes: Codes, distinct: list[bytes], alphabet: Alphabet) -> tuple[Codes, tuple[str, ...], Rows]:
    """Number tokens by the alphabet: the symbols (-1 is none), the alphabet, and which tokens are strangers to it."""
    used = np.zeros(len(distinct), dtype=bool)
    used[codes] = True
    names = {int(i): distinct[i].decode() for i in np.flatnonzero(used)}
    known = alphabet.symbols if alphabet.symbols is not None else tuple(sorted(set(names.values())))
    place = {symbol: code for code, symbol in enumerate(known)}
    code_of = np.full(len(distinct), -1, np.int32)
    for i, name in names.items():
        code_of[i] = place.get(name, -1)
    return code_of[codes], known, np.flatnonzero(used & (code_of < 0))


def check_delimiter(delimiter: str | None) -> None:
    """Refuse a delimiter that is not one character, or that ends a line."""
    if delimiter is not None and (len(delimiter) != 1 or delimiter in "\r\n\0"):
        raise PolicyError(f"the delimiter {delimiter!r} is not usable; give one character such as ',' or ';'")


def line_pieces(strings: SomeStrings) -> Iterator[bytes]:
    """The file in pieces, one record a line."""
    for begin in range(0, len(strings), _STRINGS_AT_ONCE):
        rows = np.arange(begin, min(begin + _STRINGS_AT_ONCE, len(strings)))
        piece = strings.take(rows).texts()
        between = " " if strings.source.delimiter is None else strings.source.delimiter
        # str.join of a text would cut it into its characters.
        lines = [t if isinstance(t, str) else between.join(t) for t in piece]
        whole = ("\n".join(lines) + "\n").encode()
        if begin == 0 and whole.startswith(b"\xef\xbb\xbf"):
            whole = b"\xef\xbb\xbf" + whole  # the first one is read as a mark of the encoding
        yield whole


def split_cell(cell: str, delimiter: str) -> list[str]:
    """The tokens of a cell, without the blanks around them and without tokens of nothing."""
    return [token for part in cell.split(delimiter) if (token := part.strip(_WHITE))]


class Lines(TextFormat):
    """One string of characters a line."""

    name = "lines"
    place = 8
    help = "one string a line"
    has_tokens = False
    ending = "txt"

    def parse(self, text: WholeText, source: StringSource, reading: HowToReadStrings) -> Strings:
        """See `read_lines`."""
        return read_lines(text, replace(source, delimiter=None), reading.alphabet)

    def pieces(self, strings: SomeStrings) -> Iterator[bytes]:
        """See `line_pieces`."""
        return line_pieces(strings)

    def holds(self, symbol: str, source: StringSource) -> bool:
        """Whatever ends no line."""
        return symbol not in ("\n", "\r")

    def refuse_unwritable(self, strings: SomeStrings) -> None:
        """Classes, and nothing but blanks."""
        super().refuse_unwritable(strings)
        refuse_blank(strings)


class Tokens(Lines):
    """One sequence of tokens a line."""

    name = "tokens"
    place = 9
    help = "one string a line, symbols with {between} between them"
    has_tokens = True

    def parse(self, text: WholeText, source: StringSource, reading: HowToReadStrings) -> Strings:
        """See `read_tokens`."""
        refuse_named_alphabet(reading.alphabet)
        return read_tokens(text, source, reading.alphabet)

    def holds(self, symbol: str, source: StringSource) -> bool:
        """Whatever no blank, or no delimiter, cuts."""
        if source.delimiter is None:
            return bool(symbol) and BLANKS.isdisjoint(symbol)
        return is_text(symbol, "\n\r") and split_cell(symbol, source.delimiter) == [symbol]


FORMATS.register(Lines())
FORMATS.register(Tokens())
