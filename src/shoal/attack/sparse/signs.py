"""The signs that an attacker computes who got hold of the key, or who guessed at one."""

from __future__ import annotations

import numpy as np

from shoal.arrays import Ints, Signs
from shoal.data.sparse.records import Sparse


def signs_of(records: Sparse, items: Ints, key: bytes, n_components: int) -> Signs:
    """The signs of some items in the first components, one row an item."""
    from shoal.sparse.signs import sign_table

    return np.asarray(sign_table(records.item_keys()[items], key, n_components), np.int8)


def wrong_key(rng: np.random.Generator) -> bytes:
    """A key that has nothing to do with the release: what an attack reaches with it is owed to chance alone."""
    return rng.bytes(32)
