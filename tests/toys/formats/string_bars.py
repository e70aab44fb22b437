"""A toy format of strings: bars around each string."""

from __future__ import annotations

from collections.abc import Iterator

from shoal.data.strings.format import HowToReadStrings, TextFormat
from shoal.data.strings.strings import Strings, StringSource
from shoal.data.whole_text import WholeText


class StringBars(TextFormat):
    """``|ACGT|`` on each line."""

    name = "bars"
    place = 6
    help = "strings between bars"
    ending = "bars"
    has_tokens = False

    def is_told(self, lines: list[bytes]) -> bool:
        return bool(lines) and all(line.startswith(b"|") and line.endswith(b"|") for line in lines)

    def parse(self, text: WholeText, source: StringSource, reading: HowToReadStrings) -> Strings:
        return Strings.of([line.strip("|") for line in text.data.decode().split("\n")[:-1]], source=source)

    def pieces(self, strings: Strings) -> Iterator[bytes]:
        yield "".join(f"|{text}|\n" for text in strings.texts()).encode()

    def holds(self, symbol: str, source: StringSource) -> bool:
        return symbol not in "|\n\r"
