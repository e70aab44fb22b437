"""The tests of `utility/strings/nearest.py`."""

from __future__ import annotations

import numpy as np

from shoal.utility.strings import NearestStrings
from tests.unit.utility.strings.labelled import labelled


def test_nearest_neighbours_do_not_depend_on_order_or_workers():
    train, test = labelled(200, 2, noise=0.2), labelled(60, 3)
    found = NearestStrings(train, 3).predict(test, workers=1)
    rows = np.random.default_rng(0).permutation(200)
    assert (NearestStrings(train.take(rows), 3).predict(test, workers=4) == found).all()
    assert (found == test.labels).mean() > 0.9
