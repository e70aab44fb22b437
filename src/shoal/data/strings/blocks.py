"""A file of strings in blocks, for files larger than memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from shoal.data.line_blocks import text_blocks
from shoal.data.sniff import look
from shoal.data.strings.alphabets import guess_of_counts
from shoal.data.strings.format import HowToReadStrings, TextFormat
from shoal.data.strings.strings import Strings, StringSource

IN_BLOCKS = ("fasta", "lines", "tokens")
"""The formats whose records are lines, or begin with one of their own."""
BYTES_AT_ONCE = 1 << 23
_MARKS = {"fasta": b">"}


@dataclass(frozen=True)
class StringBlocks:
    """A file of strings, read block by block.

    Every block has an alphabet and classes of its own: a symbol is known by its text, not by its number.
    """

    path: Path
    source: StringSource
    how: HowToReadStrings
    known: TextFormat
    most: int | None = None
    """Bytes of text that there is room for at once, where a string is very long."""

    @property
    def is_tokens(self) -> bool:
        """Whether symbols are tokens."""
        return self.known.holds_tokens(self.source)

    def settled(self) -> StringBlocks:
        """The same with the alphabet that is guessed from all letters, where it is; and with what is noted of it."""
        if self.known.name != "fasta" or self.how.is_alphabet_given:
            return self
        learning = replace(self, how=replace(self.how, is_alphabet_given=True))
        counts: dict[str, int] = {}
        for block in learning:
            held = np.bincount(block.symbols, minlength=len(block.alphabet)).tolist()
            for letter, n in zip(block.alphabet, held, strict=True):
                counts[letter] = counts.get(letter, 0) + n
        found = guess_of_counts(counts)
        note = (
            f"the alphabet was guessed: {found.name}"
            if found.name
            else "the letters are of no known alphabet; those that occur were taken as they are spelled"
        )
        source = replace(self.source, notes=(*self.source.notes, note))
        return replace(learning, source=source, how=replace(learning.how, alphabet=found))

    def __iter__(self) -> Iterator[Strings]:
        """The strings, from the first."""
        source = replace(self.source, gzip=look(self.path).is_gzip)
        for text in text_blocks(self.path, BYTES_AT_ONCE, _MARKS.get(self.known.name, b""), self.most):
            yield self.known.parse(text, replace(source, notes=(*text.notes, *source.notes)), self.how)
