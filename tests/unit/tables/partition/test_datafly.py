"""The tests of `tables/partition/datafly.py`."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.tables.encoding import Ranked
from shoal.tables.partition.datafly import datafly_recoding
from shoal.tables.partition.full_domain import full_domain_recoding
from tests.unit.tables.partition.slow_full_domain import random_tree, slow_node


def random_table(seed: int) -> tuple[list[Ranked], int, float]:
    rng = np.random.default_rng(seed)
    n_rows = int(rng.integers(6, 60))
    ranked = [random_tree(rng, f"x{i}", n_rows) for i in range(int(rng.integers(1, 5)))]
    return ranked, int(rng.integers(2, 6)), float(rng.choice([0.0, 0.05, 0.2, 0.5]))


@pytest.mark.parametrize("seed", range(30))
def test_datafly_follows_its_rule(seed: int) -> None:
    ranked, k, suppression = random_table(200 + seed)
    budget = int(suppression * len(ranked[0].ranks))
    levels = [0] * len(ranked)
    while len(slow_node(ranked, levels, k)[0]) > budget:
        counts = [
            -1 if h == r.ancestors.shape[1] - 1 else len({int(n) for n in r.ancestors[:, h]})
            for r, h in zip(ranked, levels, strict=True)
        ]
        levels[counts.index(max(counts))] += 1
    suppressed, losses, _ = slow_node(ranked, levels, k)
    found = datafly_recoding(ranked, k, suppression=suppression)
    assert found.levels == tuple(levels)
    assert not found.optimal
    assert found.loss == pytest.approx(losses["gcp"], rel=1e-9)
    assert set(np.flatnonzero(found.labels < 0).tolist()) == suppressed
    assert found.loss >= full_domain_recoding(ranked, k, suppression=suppression).loss * (1 - 1e-9)
