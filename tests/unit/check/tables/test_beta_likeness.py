"""The tests of `check/tables/beta_likeness.py`."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.check.tables.verify import verify
from shoal.kinds.tables.policy import BetaLikeness
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
@pytest.mark.parametrize("beta", [0.5, 2])
def test_beta_likeness(missing, beta):
    for t in tables(missing):
        held, everything = per_class(t)
        gains = [slow.gain(v, everything) for v in held.values()]
        found = check(t, BetaLikeness(beta=beta, kind="basic"))
        assert found.achieved == pytest.approx(float(max(gains)), abs=1e-14)
        assert found.n_failing == sum(g > beta for g in gains)
        found = check(t, BetaLikeness(beta=beta))
        assert found.achieved == pytest.approx(float(max(gains)), abs=1e-14)
        assert found.n_failing == sum(not slow.enhanced_holds(v, everything, beta) for v in held.values())
