"""WavRule and nearest neighbours, before and after."""

from __future__ import annotations

import json

import numpy as np
import pytest

from shoal.data.strings.strings import Strings
from shoal.errors import DataError, PolicyError
from shoal.utility.strings import NearestStrings, WavRule, compare_classifiers
from tests.unit.utility.strings.labelled import labelled


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
        NearestStrings(train, 0).predict(train)
