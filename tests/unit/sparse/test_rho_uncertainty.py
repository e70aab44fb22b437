"""No rule to a sensitive item is right too often."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.data.sparse.records import Sparse
from shoal.sparse.combinations import only_items
from shoal.sparse.rho_uncertainty import without_rules
from tests.unit.sparse.slow_combinations import highest_confidence, random_lists, sets_of


@pytest.mark.parametrize("m", [1, 2, 3])
@pytest.mark.parametrize("rho", [0.3, 0.6])
def test_no_confidence_is_above_rho(m: int, rho: float) -> None:
    for seed in range(3):
        records = Sparse.of(random_lists(np.random.default_rng(seed), 50, 8, 5))
        sensitive = np.isin(np.arange(records.n_items), [1, 5])
        left = sets_of(only_items(records, without_rules(records, rho, m, sensitive)))
        names = [records.names[i] for i in np.flatnonzero(sensitive)]
        assert highest_confidence([r for r in left if r], names, m) <= rho + 1e-9


def test_what_breaks_no_rule_stays() -> None:
    records = Sparse.of([["a", "s"], ["a"], ["a"], ["b", "s"], ["b"], ["c"], ["c"]])
    sensitive = np.array([name == "s" for name in records.names])
    assert len(without_rules(records, 0.5, 2, sensitive)) == len(records.items)
    left = only_items(records, without_rules(records, 0.4, 2, sensitive))
    assert sets_of(left) == [frozenset("as"), frozenset("a"), frozenset("a"), frozenset("s"), frozenset()] + [
        frozenset("c")
    ] * 2 or not any("s" in r for r in sets_of(left))
