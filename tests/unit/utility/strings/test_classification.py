"""WavRule and nearest neighbours, before and after."""

from __future__ import annotations

import json
from collections import Counter

import numpy as np
import pytest

from shoal.data.strings.strings import Strings
from shoal.errors import DataError, PolicyError
from shoal.kernels.strings.rules import count_pairs, first_matches
from shoal.utility.strings import NearestNeighbours, WavRule, compare_classifiers
from shoal.utility.strings.wav_rule import haar_items


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


def test_pairs_are_counted_and_the_first_rule_decides():
    rng = np.random.default_rng(0)
    records = [sorted(rng.permutation(8)[: rng.integers(0, 6)].tolist()) for _ in range(50)]
    labels = rng.integers(0, 2, 50).astype(np.int32)
    items = np.array([a for record in records for a in record], np.int32)
    starts = np.concatenate([[0], np.cumsum([len(r) for r in records])]).astype(np.int64)
    found = count_pairs(items, starts, labels, 6, 2)
    for c in range(2):
        for a in range(6):
            for b in range(6):
                held = sum(a in r and b in r for r, y in zip(records, labels, strict=True) if y == c)
                assert found[c, a, b] == (held if a < b else 0)
    singles = rng.permutation(8).astype(np.int32) + 36
    pairs = rng.permutation(36).reshape(6, 6).astype(np.int32)
    ranks = first_matches(items, starts, singles, pairs, 99)
    for record, rank in zip(records, ranks.tolist(), strict=True):
        held = [singles[a] for a in record] + [pairs[a, b] for a in record for b in record if a < b < 6]
        assert rank == min(held, default=99)


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


def test_nearest_neighbours_do_not_depend_on_order_or_workers():
    train, test = labelled(200, 2, noise=0.2), labelled(60, 3)
    found = NearestNeighbours(train, 3).predict(test, workers=1)
    rows = np.random.default_rng(0).permutation(200)
    assert (NearestNeighbours(train.take(rows), 3).predict(test, workers=4) == found).all()
    assert (found == test.labels).mean() > 0.9


def test_training_on_nonsense_is_seen():
    train, test = labelled(400, 4), labelled(200, 5)
    rng = np.random.default_rng(0)
    shuffled = Strings.of(train.texts(), [train.classes[c] for c in rng.permutation(train.labels)])
    for found in compare_classifiers(train, shuffled, test):
        assert found.before.value > 0.95
        assert found.after.value < 0.7
        assert found.change.high < 0
        assert found.baseline == pytest.approx(0.5)
        assert (found.n_train_before, found.n_train_after, found.n_test) == (400, 400, 200)
        json.dumps(found.to_dict())
    for found in compare_classifiers(train, train, test):
        assert found.change.value == 0


def test_alphabets_and_classes_of_all_sides_are_brought_together():
    train = labelled(200, 6)
    after = Strings.of([t.replace("a", "q") for t in train.texts()], [train.classes[c] for c in train.labels])
    test = Strings.of(["aaaaaawxxxxx", "xxxxxxaaaaaa"] * 5, ["first", "third"] * 5)
    found = compare_classifiers(train, after, test)
    assert found[0].n_classes == 3
    assert [f.before.value for f in found] == [0.5, 0.5]


def test_what_cannot_be_classified_is_refused():
    train = labelled(50, 7)
    with pytest.raises(DataError, match="class for every string"):
        compare_classifiers(train, train, Strings.of(["ab"]))
    with pytest.raises(PolicyError, match="not known"):
        compare_classifiers(train, train, train, classifiers=("oracle",))
    with pytest.raises(DataError, match="no classes"):
        WavRule.fit(Strings.of(["ab"]))
    with pytest.raises(PolicyError, match="neighbours"):
        NearestNeighbours(train, 0).predict(train)
