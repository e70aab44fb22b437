"""The tests of `check/tables/alpha_k.py`."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.check.tables.verify import verify
from shoal.kinds.tables.policy import AlphaK
from tests.unit.check.tables import slow_check as slow
from tests.unit.check.tables.slow_check import random_table

QUASI = ["a", "b"]


def check(t, required, **options):
    (found,) = verify(t, [required], QUASI, ["s"], **options)
    return found


def tables(missing=0.0, n=30):
    rng = np.random.default_rng(7)
    for i in range(n):
        yield random_table(rng, n_rows=int(rng.integers(1, 120)), n_values=1 + i % 7, missing=missing)


def per_class(t):
    return slow.groups(t, QUASI, "s"), t["s"].cells().tolist()


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_alpha_k(missing):
    for t in tables(missing):
        held = per_class(t)[0].values()
        found = check(t, AlphaK(alpha=0.5, k=3))
        share = [max(slow.shares(v).values()) for v in held]
        assert found.achieved == float(max(share))
        assert found.details == {"k": min(map(len, held))}
        assert found.n_failing == sum(s > 0.5 or len(v) < 3 for s, v in zip(share, held, strict=True))
