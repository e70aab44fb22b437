"""The tests of `sparse/mining/reconstruction.py`."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.sparse.mining import attribute_estimates, reconstruct
from shoal.sparse.signs import new_key
from shoal.sparse.sketch import sketch_records
from tests.unit.sparse.mining.crowds import random_records

KEY = new_key(3)


def test_reconstruction_is_the_attribute_estimates() -> None:
    records, _ = random_records(11, 5, 25)
    sketches = sketch_records(records, np.arange(11), KEY)
    blocks = list(reconstruct(sketches, records.names, KEY, rows_at_once=4))
    assert [len(b) for b in blocks] == [4, 4, 3]
    whole = np.concatenate(blocks)
    expected = attribute_estimates(sketches, records.item_keys(), KEY).values
    assert whole[1:] == pytest.approx(expected[1:], abs=1e-5)
    assert not whole[0].any()
    assert not np.allclose(np.concatenate(list(reconstruct(sketches, records.names, new_key(4)))), whole)
