"""The tests of `utility/sparse/classification.py`."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from shoal.errors import DataError, PolicyError
from shoal.sparse.sketch import sketch_records
from shoal.utility.sparse import learn
from tests.unit.utility.sparse.crowds import KEY, crowds, maker


def test_learning_before_and_after() -> None:
    records = crowds(450)
    found = learn(records, maker(60), n_repeats=2)
    assert found.before.mean > 0.9
    assert found.baseline.mean < 0.5
    assert found.baseline.mean + 0.25 < found.after.mean <= found.before.mean + 0.05
    assert (found.n_train, found.n_test, found.n_classes) == (300, 150, 3)
    assert found.suppressed_test == found.suppressed_train == 0
    worse = learn(records, maker(3), n_repeats=2)
    assert worse.after.mean < found.after.mean - 0.1
    assert worse.before == found.before
    assert found == learn(records, maker(60), n_repeats=2)


def test_suppressed_test_records_are_guessed_by_the_shares_of_classes() -> None:
    records = crowds(600)
    whole, half = (learn(records, maker(200, every), n_repeats=2) for every in (0, 2))
    assert half.suppressed_test == pytest.approx(0.5)
    # Half of the test records are right by chance, one of three classes.
    assert half.after.mean == pytest.approx((whole.after.mean + 1 / 3) / 2, abs=0.1)
    none = learn(
        records,
        lambda r: (
            sketch_records(r, np.ones(len(r), np.int64), KEY).take(np.zeros(0, np.int64)),
            np.zeros(0, np.int64),
        ),
        n_repeats=1,
    )
    assert none.suppressed_train == 1
    assert none.after.mean == pytest.approx(1 / 3, abs=0.1)


def test_learning_without_classes_is_refused() -> None:
    with pytest.raises(DataError, match="two classes"):
        learn(replace(crowds(30), labels=None), maker(3))
    with pytest.raises(PolicyError, match="nine records"):
        learn(crowds(8), maker(3))
