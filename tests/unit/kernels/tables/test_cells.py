"""What it costs to publish records with the same labels, against the words of local recoding."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.kernels.tables.cells import NarrowCells, penalty
from tests.unit.kernels.tables.test_local_recoding import random_cells, slow_loss, slow_penalty


@pytest.mark.parametrize("seed", range(40))
def test_penalties_agree_with_their_twin(seed: int) -> None:
    ranked, cells, distinct, _, _ = random_cells(500 + seed)
    for a, attribute in enumerate(ranked):
        used = sorted({int(r) for r in distinct[:, a]})
        for low in used:
            for high in (r for r in used if r >= low):
                assert penalty(cells, a, low, high) == pytest.approx(slow_penalty(attribute, {low, high}), abs=1e-12)


@pytest.mark.parametrize("seed", range(40))
def test_narrowed_cells_lose_what_all_do(seed: int) -> None:
    ranked, cells, distinct, _, _ = random_cells(500 + seed)
    rng = np.random.default_rng(seed)
    rows = rng.permutation(len(distinct))[: int(rng.integers(2, 12))]
    if len(rows) < 2:
        return
    space = NarrowCells.of(cells, rows)
    begun = rng.integers(0, len(rows), 2)
    low, high = space.ranks[:, begun].min(axis=1)[:, None], space.ranks[:, begun].max(axis=1)[:, None]
    found = space.loss(*space.widened(low, high, np.arange(len(rows))))
    for i, row in enumerate(rows):
        members = [*rows[begun].tolist(), int(row)]
        # exactly as loops that are compiled add it up
        ends = [(int(distinct[members, a].min()), int(distinct[members, a].max())) for a in range(len(ranked))]
        assert found[i] == sum(penalty(cells, a, *ends[a]) for a in range(len(ranked)))
        assert found[i] == pytest.approx(slow_loss(ranked, distinct, members), abs=1e-12)
