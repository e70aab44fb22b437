"""What every file format of strings offers. Each stands in a file of its own in `data/strings/formats/`."""

from __future__ import annotations

import gzip
import os
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

from shoal.data.strings.alphabets import WHITE, Alphabet
from shoal.data.strings.on_disk import SomeStrings
from shoal.data.strings.strings import Strings, StringSource
from shoal.data.whole_text import WholeText, load_text
from shoal.errors import DataError, PolicyError
from shoal.registry import Registry

BLANKS = frozenset(map(chr, WHITE))


@dataclass(frozen=True)
class HowToReadStrings:
    """How a file is to be read; see `shoal.data.strings.files.read_strings`."""

    alphabet: Alphabet
    is_alphabet_given: bool = True
    label: str | None = None
    header: str | None = None
    rare: int = 0  # of variants and columns: fewest persons who carry an allele, or a second value, of those listed
    sites: tuple[str, ...] = ()  # of variants and columns: those to read, however many carry them


class StringFormat(ABC):
    """A way to write strings into a file."""

    name: ClassVar[str]
    """As a policy and a manifest call it."""
    place: ClassVar[int]
    """Which format is asked first whether a file is its own."""
    help: ClassVar[str]
    """What the file is, in a line, for the datasheet; ``{between}`` and ``{column}`` are filled in."""
    takes_label: ClassVar[bool] = False
    """Whether descriptions may hold a class, which an expression finds."""
    has_tokens: ClassVar[bool | None] = None
    """Whether its symbols are tokens, not characters; None: where a delimiter stands between them, or is noted."""
    is_table: ClassVar[bool] = False
    """Whether strings and classes stand in columns."""

    def is_told(self, lines: list[bytes]) -> bool:
        """Whether a file that begins with these lines is of this format for sure."""
        return False

    def holds_tokens(self, source: StringSource) -> bool:
        """Whether the symbols of a file are tokens, not characters."""
        return source.delimiter is not None if self.has_tokens is None else self.has_tokens

    @abstractmethod
    def read(self, path: Path, source: StringSource, reading: HowToReadStrings) -> Strings:
        """Read a file."""

    def read_back(self, path: str | os.PathLike[str], source: StringSource, alphabet: Alphabet) -> Strings:
        """Read a file that `write` wrote; nothing is guessed."""
        return self.read(Path(path), replace(source, notes=()), HowToReadStrings(alphabet))

    @abstractmethod
    def file_name(self, source: StringSource) -> str:
        """What the file of published strings is called."""

    @abstractmethod
    def write(self, strings: Strings, path: str | os.PathLike[str]) -> None:
        """Write strings; the same bytes every time."""

    @abstractmethod
    def holds(self, symbol: str, source: StringSource) -> bool:
        """Whether a symbol comes back when it is read."""

    def refuse_unwritable(self, strings: Any) -> None:
        """Refuse whatever else would not be read back as it is; by default classes, for which lines have no place."""
        if strings.labels is not None:
            raise DataError(
                f"a file of {self.name} has no place for classes; write the strings as FASTA or as a table's column"
            )

    def beside(self, path: Path, source: StringSource) -> list[str]:
        """What a published file holds besides strings and classes, in sentences that a checker can tell."""
        return []


class TextFormat(StringFormat):
    """A format of lines of text, plain or compressed with gzip."""

    ending: ClassVar[str]
    """Of the published file's name."""

    @abstractmethod
    def parse(self, text: WholeText, source: StringSource, reading: HowToReadStrings) -> Strings:
        """Read strings from the whole text."""

    @abstractmethod
    def pieces(self, strings: Any) -> Iterator[bytes]:
        """The file in pieces; of a format that is read in blocks also of strings that are not held."""

    def read(self, path: Path, source: StringSource, reading: HowToReadStrings) -> Strings:
        """Load the text and read it."""
        text = load_text(path)
        return self.parse(text, replace(source, gzip=text.gzipped, notes=text.notes), reading)

    def file_name(self, source: StringSource) -> str:
        """By ending and compression."""
        return f"data.{self.ending}{'.gz' if source.gzip else ''}"

    def write(self, strings: Strings, path: str | os.PathLike[str]) -> None:
        """Piece by piece."""
        self.write_pieces(self.pieces(strings), strings.source, path)

    def write_pieces(self, pieces: Iterable[bytes], source: StringSource, path: str | os.PathLike[str]) -> None:
        """A file of pieces, compressed as its source is."""
        with open(path, "wb") as file:
            if not source.gzip:
                file.writelines(pieces)
                return
            with gzip.GzipFile(filename="", mode="wb", compresslevel=6, fileobj=file, mtime=0) as packed:
                for piece in pieces:
                    packed.write(piece)


FORMATS: Registry[StringFormat] = Registry("shoal.data.strings.formats")


def refuse_blank(strings: SomeStrings) -> None:
    """Refuse strings of nothing but blanks: a file of them would be refused."""
    if BLANKS.issuperset(strings.compact().alphabet):
        raise DataError("there is nothing but blanks in all of the strings; such a file would be refused")


def refuse_class_names(strings: SomeStrings, refused: str) -> None:
    """Refuse classes whose names are empty or hold what the format cannot."""
    if any(not name.strip() or not is_text(name, refused) for name in strings.compact().classes):
        raise DataError("a class has an empty name, or one that the format cannot hold; rename it")


def refuse_named_alphabet(alphabet: Alphabet) -> None:
    """Refuse an alphabet of characters where symbols are tokens."""
    if alphabet.name is not None:
        raise PolicyError(
            f"the alphabet {alphabet.name!r} is of characters, and the symbols are tokens; list the tokens"
        )


def is_text(text: str, refused: str) -> bool:
    """Whether it holds none of some characters and no half of one."""
    return not any(c in refused or "\ud800" <= c <= "\udfff" for c in text)
