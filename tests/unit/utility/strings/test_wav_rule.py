"""The tests of `utility/strings/wav_rule.py`."""

from __future__ import annotations

from collections import Counter

import numpy as np

from shoal.data.strings.strings import Strings
from shoal.utility.strings import WavRule
from shoal.utility.strings.wav_rule import haar_items
from tests.unit.utility.strings.labelled import labelled


def test_items_are_haar_coefficients():
    strings = Strings.of(["aab", "b", "abab"])
    owner, keys = haar_items(strings, 2)

    def slow(text):
        out = Counter()
        for t, symbol in enumerate(text):
            place = (t + 0.5) / len(text)
            out[symbol, 0] += 1
            for scale in (0, 1):
                half = int(place * 2 ** (scale + 1))
                out[symbol, 2**scale + half // 2] += 1 if half % 2 == 0 else -1
        return {("ab".index(s), c, v > 0, round(np.log2(abs(v)))) for (s, c), v in out.items() if v}

    found = [set() for _ in range(3)]
    for row, key in zip(owner.tolist(), keys.tolist(), strict=True):
        magnitude, rest = key % 32, key // 32
        found[row].add((rest // 2 // 4, rest // 2 % 4, bool(rest % 2), magnitude))
    assert found == [slow(t) for t in strings.texts()]


def test_wav_rule_sees_where_symbols_stand():
    train, test = labelled(400, 0), labelled(100, 1)
    rules = WavRule.fit(train)
    assert rules.n_rules > 0
    assert (rules.predict(test) == test.labels).mean() > 0.95


def test_wav_rule_falls_back_to_the_most_frequent_class():
    train = Strings.of(["ab"] * 5 + ["cd"] * 3, ["x"] * 3 + ["y"] * 5)
    assert WavRule.fit(train).predict(Strings.of(["ab", "cd"])).tolist() == [1, 1]
    train = Strings.of(["ab"] * 30 + ["cd"] * 40, ["x"] * 30 + ["y"] * 40)
    other = Strings.of(["ab", "cd", "ee"], alphabet="abcde")
    assert WavRule.fit(Strings.of(train.texts(), ["x"] * 30 + ["y"] * 40, alphabet="abcde")).predict(
        other
    ).tolist() == [
        0,
        1,
        1,
    ]
