"""Strings of two classes."""

from __future__ import annotations

import numpy as np

from shoal.data.strings.strings import Strings


def labelled(n, seed, *, noise=0.0):
    """Two classes with the same symbols: the first half of a string tells the class."""
    rng = np.random.default_rng(seed)
    texts, labels = [], []
    for i in range(n):
        halves = ["".join(rng.choice(list("abc"), 6)), "".join(rng.choice(list("xyz"), 6))]
        is_first = i % 2 == 0
        texts.append("".join(halves if is_first != (rng.random() < noise) else halves[::-1]))
        labels.append("first" if is_first else "second")
    return Strings.of(texts, labels)
