"""The tests of `check/tables/k_anonymity.py`."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.check.tables.verify import verify
from shoal.kinds.tables.policy import KAnonymity
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
def test_k_anonymity(missing):
    for t in tables(missing):
        sizes = [len(v) for v in per_class(t)[0].values()]
        found = check(t, KAnonymity(k=4))
        assert found.achieved == min(sizes)
        assert (found.n_classes, found.n_failing) == (len(sizes), sum(s < 4 for s in sizes))
        assert found.holds == (min(sizes) >= 4)
