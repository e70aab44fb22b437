"""The tests of `check/strings/originals.py`."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.check.strings.originals import without_rare
from shoal.data.strings.strings import Strings
from shoal.strings.condense import without_rare_symbols


@pytest.mark.parametrize("is_tokens", [False, True])
def test_rare_symbols_are_taken_out_as_the_method_does(is_tokens):
    rng = np.random.default_rng(4)
    chances = 0.5 ** np.arange(12)
    texts = [
        "".join(rng.choice(list("abcdefghijkl"), rng.integers(0, 9), p=chances / chances.sum())) for _ in range(300)
    ]
    texts += ["l", "kl", "lkl"]
    given = [list(t) for t in texts] if is_tokens else texts
    strings = Strings.of(given, ["x" if i % 3 else "y" for i in range(len(texts))])
    for rare in (1, 2, 10, 60, 1000):
        ours = without_rare(strings, strings.labels.astype(np.int64), rare)
        theirs = without_rare_symbols(strings, rare)[0]
        assert ours.texts() == theirs.texts()
