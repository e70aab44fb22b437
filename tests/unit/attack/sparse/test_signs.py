"""The signs that an attacker with the key computes."""

from __future__ import annotations

import numpy as np

from shoal.attack.sparse.signs import signs_of, wrong_key
from shoal.data.sparse.records import Sparse
from shoal.sparse.signs import new_key
from shoal.sparse.sketch import sketch_records


def test_the_sketch_of_one_item_is_its_signs() -> None:
    records = Sparse.of([["a"], ["b"], ["c"]])
    key = new_key(1)
    signs = signs_of(records, np.arange(3), key, 16)
    assert set(np.unique(signs)) == {-1, 1}
    assert np.array_equal(sketch_records(records, np.full(3, 16), key).padded(), signs)


def test_a_wrong_key_gives_other_signs() -> None:
    records = Sparse.of([["a"], ["b"], ["c"]])
    key = wrong_key(np.random.default_rng(0))
    assert len(key) == len(new_key(1))
    assert not np.array_equal(signs_of(records, np.arange(3), key, 64), signs_of(records, np.arange(3), new_key(1), 64))
