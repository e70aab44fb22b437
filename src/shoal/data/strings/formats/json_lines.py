"""JSON lines: each line a text, a list of tokens, or an object of which one key holds either.

A text is a string of characters, a list one of tokens; numbers in a list become tokens as they are spelled. Of objects
the keys of the strings and of their classes are read, and no other is written.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from shoal.data.strings.format import FORMATS, HowToReadStrings, TextFormat, refuse_class_names, refuse_named_alphabet
from shoal.data.strings.strings import Strings, StringSource
from shoal.data.whole_text import WholeText, load_text
from shoal.errors import DataError, PolicyError

_STRINGS_AT_ONCE = 1 << 15


class JsonLines(TextFormat):
    """One JSON value a line."""

    name = "jsonl"
    place = 5
    help = "JSON lines, one string a line"
    ending = "jsonl"
    is_table = True

    def is_told(self, lines: list[bytes]) -> bool:
        """Lists of texts; objects may be a table as well."""
        if not lines or not all(line.lstrip().startswith(b"[") for line in lines):
            return False
        try:
            return all(isinstance(t, str) for line in lines for t in json.loads(line))
        except (ValueError, TypeError, RecursionError):
            return False

    def parse(self, text: WholeText, source: StringSource, reading: HowToReadStrings) -> Strings:
        """Read a string from each line that is not blank."""
        if reading.header is not None:
            raise PolicyError("a header is for tables, and these are JSON lines; leave it out")
        found, classes = [], []
        for number, line in enumerate(text.data.split(b"\n"), start=1):
            if line.strip():
                where = f"{text.path}, line {number}"
                value = _value(where, line)
                if source.column is not None:
                    found.append(_as_string(where, _key(where, value, source.column)))
                    if source.class_column is not None:
                        classes.append(_as_class(where, _key(where, value, source.class_column)))
                else:
                    found.append(_as_string(where, value))
        if len({type(one) for one in found}) > 1:
            raise DataError(f"{text.path}: some lines hold texts and some lists; make them all of one kind")
        is_tokens = isinstance(found[0], list)
        if is_tokens:
            refuse_named_alphabet(reading.alphabet)
        made = Strings.of(found, alphabet=reading.alphabet.symbols)
        made = replace(
            made, source=replace(source, delimiter=" " if is_tokens else None, alphabet=reading.alphabet.name)
        )
        return made.with_labels(classes) if classes else made

    def pieces(self, strings: Strings) -> Iterator[bytes]:
        """Bare values, or objects of one key or two."""
        source = strings.source
        for begin in range(0, len(strings), _STRINGS_AT_ONCE):
            some = strings.take(np.arange(begin, min(begin + _STRINGS_AT_ONCE, len(strings))))
            names = [None] * len(some) if some.labels is None else [some.classes[c] for c in some.labels.tolist()]
            lines = []
            for text, name in zip(some.texts(), names, strict=True):
                value: Any = text if source.column is None else {source.column: text}
                if name is not None and source.class_column is not None:
                    value[source.class_column] = name
                lines.append(json.dumps(value, ensure_ascii=False) + "\n")
            yield "".join(lines).encode()

    def holds(self, symbol: str, source: StringSource) -> bool:
        """Whatever is not empty."""
        return bool(symbol)

    def refuse_unwritable(self, strings: Strings) -> None:
        """Classes without a key of their own."""
        source = strings.source
        if strings.labels is not None and (source.column is None or source.class_column in (None, source.column)):
            raise DataError("the strings and the classes need a key each; name both, or leave the classes out")
        refuse_class_names(strings, "")

    def beside(self, path: Path, source: StringSource) -> list[str]:
        """Keys of another name."""
        known = {source.column, source.class_column}
        lines = (json.loads(line) for line in load_text(path).data.split(b"\n") if line.strip())
        strangers = {key for value in lines if isinstance(value, dict) for key in value if key not in known}
        return [f"the data has a key {key!r} that the manifest does not know" for key in sorted(strangers)]


def _value(where: str, line: bytes) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        raise DataError(f"{where}: holds no JSON value; each line is one, of its own") from None


def _key(where: str, value: Any, key: str) -> Any:
    if not isinstance(value, dict):
        raise DataError(f"{where}: holds no object, so no key {key!r}; leave out the column")
    if key not in value:
        raise DataError(f"{where}: has no key {key!r}; name the key that holds it in every line")
    return value[key]


def _as_class(where: str, value: Any) -> str:
    if type(value) not in (str, int, float):
        raise DataError(f"{where}: the class is neither a text nor a number; give every string one")
    return str(value)


def _as_string(where: str, value: Any) -> str | list[str]:
    if isinstance(value, dict):
        raise DataError(f"{where}: holds an object; name the key of the strings as the column")
    if isinstance(value, str):
        return value
    if not isinstance(value, list) or not all(type(token) in (str, int, float) for token in value):
        raise DataError(f"{where}: is neither a text nor a list of texts; give one of the two")
    return [t if isinstance(t, str) else json.dumps(t) for t in value]


FORMATS.register(JsonLines())
