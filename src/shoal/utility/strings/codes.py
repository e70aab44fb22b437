"""Two sets of strings in one alphabet."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from shoal.data.strings.strings import Strings
from shoal.errors import DataError


def in_one_alphabet(original: Strings, published: Strings) -> tuple[Strings, Strings]:
    """Both with one alphabet and one list of classes, the union of theirs."""
    if not len(original.symbols) or not len(published.symbols):
        raise DataError("one side has no symbols, so there is nothing to compare; give strings that are not empty")
    if original.is_tokens is not published.is_tokens:
        raise DataError("one side is of tokens and the other of characters; read both in the same way")
    alphabet = tuple(sorted({*original.alphabet, *published.alphabet}))
    classes = tuple(sorted({*original.classes, *published.classes}))
    place = {symbol: i for i, symbol in enumerate(alphabet)}
    class_of = {name: i for i, name in enumerate(classes)}

    def coded(strings: Strings) -> Strings:
        codes = np.array([place[s] for s in strings.alphabet], dtype=np.int32)
        labels = strings.labels
        if labels is not None:
            labels = np.array([class_of[c] for c in strings.classes], dtype=np.int32)[labels]
        return replace(strings, symbols=codes[strings.symbols], alphabet=alphabet, labels=labels, classes=classes)

    return coded(original), coded(published)
