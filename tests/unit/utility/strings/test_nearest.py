"""The tests of `utility/strings/nearest.py`."""

from __future__ import annotations

import numpy as np

from shoal.data.strings.strings import Strings
from shoal.utility.strings import NearestNeighbours


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


def test_nearest_neighbours_do_not_depend_on_order_or_workers():
    train, test = labelled(200, 2, noise=0.2), labelled(60, 3)
    found = NearestNeighbours(train, 3).predict(test, workers=1)
    rows = np.random.default_rng(0).permutation(200)
    assert (NearestNeighbours(train.take(rows), 3).predict(test, workers=4) == found).all()
    assert (found == test.labels).mean() > 0.9
