"""The tests of `check/sparse/sketches.py`."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from shoal.check.sparse.sketches import Z_LIMIT, moments, rounding
from shoal.data.sparse.sketches import Sketches
from tests.unit.check.sparse import slow_sketches as slow


def sketches_of(records, signs):
    made = np.array([sum(w * signs[int(n[1:])] for n, w in r.items()) for r in records])
    n, m = made.shape
    return Sketches(np.arange(n + 1) * m, made.ravel().astype(np.int64))


def test_what_is_no_sketch_is_told_without_the_key():
    rng = np.random.default_rng(0)
    centres = rng.integers(0, 100, (10, 12))
    records = [
        {f"i{c}": 1 for c in np.where(rng.random(12) < 0.3, rng.integers(0, 100, 12), centres[i % 10])}
        for i in range(300)
    ]
    data = slow.sparse(records)
    fair = rng.choice([-1, 1], (100, 40))
    z = moments(sketches_of(records, fair), data, rng)
    assert max(z) < 8
    equal = moments(sketches_of(records, np.ones((100, 40))), data, rng)
    assert equal[0] > Z_LIMIT
    # Numbers of about the right size and parity for each record, but without the products.
    length = np.sqrt([len(r) for r in records])
    alone = rng.choice([-1, 1], (300, 40)) * length[:, None]
    lengths, products = moments(Sketches(np.arange(301) * 40, alone.ravel()), data, rng)
    assert lengths < Z_LIMIT < products


def test_the_sign_of_a_zero_is_found() -> None:
    """-0.0 equals 0.0, and would tell which way a component was rounded."""
    honest = Sketches(np.array([0, 3]), np.array([0.0, 0.5, -0.5]), 0.5)
    assert rounding(honest, None).holds
    assert not rounding(replace(honest, components=np.array([-0.0, 0.5, -0.5])), None).holds
