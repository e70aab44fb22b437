"""What the protection cost: each measure beside a slow twin or a known answer."""

from __future__ import annotations

import json

import numpy as np
import pytest

from shoal.data.sparse.records import Sparse
from shoal.data.sparse.sketches import Sketches
from shoal.errors import DataError, Infeasible
from shoal.utility.sparse import (
    ComponentCounts,
    measure_sketches,
)
from tests.unit.utility.sparse.crowds import crowds, maker


def test_component_counts_have_no_small_bin() -> None:
    counts = np.concatenate([np.full(40, 3), np.full(2, 4), np.full(30, 9), [77]])
    sketches = Sketches(np.concatenate([[0], np.cumsum(counts)]), np.zeros(counts.sum(), np.int64))
    found = ComponentCounts.of(sketches, 10)
    assert sum(found.counts) == 73
    assert min(found.counts) >= 10
    assert found.edges == (3, 4, 78)
    assert found.counts == (40, 33)
    assert dict(found.quantiles)[0.5] == 3
    assert dict(found.quantiles)[1.0] == 9  # not the one record of 77
    assert found.mean == pytest.approx(counts.mean())


def test_component_counts_of_few_records_and_of_many_numbers() -> None:
    few = ComponentCounts.of(Sketches(np.array([0, 1, 4]), np.zeros(4, np.int64)), 10)
    assert few.counts == (2,)
    assert ComponentCounts.of(Sketches(np.array([0]), np.zeros(0, np.int64)), 10).counts == ()
    counts = np.random.default_rng(0).integers(1, 400, 20_000)
    many = ComponentCounts.of(Sketches(np.concatenate([[0], np.cumsum(counts)]), np.zeros(counts.sum(), np.int64)), 10)
    assert len(many.counts) <= 40
    assert sum(many.counts) == 20_000


def test_all_measures_together() -> None:
    records = crowds(240)
    sketches, rows = maker(40, every=5)(records)
    found = measure_sketches(records, sketches, rows, make=maker(40, every=5))
    assert (found.n_records, found.n_published) == (240, 192)
    assert len(found.random_pairs.true) == 2000
    assert len(found.near_pairs.true) == 2 * 192
    assert np.mean(found.near_pairs.true) > np.mean(found.random_pairs.true) + 1
    assert len(found.squared_lengths.true) == 192
    assert found.squared_lengths.share_within > 0.8
    assert found.neighbours.n_sampled == 192
    assert found.learning.suppressed_train == pytest.approx(0.2, abs=0.01)
    assert found.clusters.before > found.clusters.random
    assert json.loads(json.dumps(found.to_dict()))["neighbours"]["shares"]["10"] == found.neighbours.shares[10]
    assert found == measure_sketches(records, sketches, rows, make=maker(40, every=5))


def test_what_cannot_be_measured_is_none() -> None:
    records = crowds(30)
    sketches, rows = maker(5)(records.take(np.arange(6)))

    def refuse(part: Sparse) -> tuple[Sketches, np.ndarray]:
        raise Infeasible("too few records")

    found = measure_sketches(records, sketches, rows, make=refuse)
    assert found.random_pairs is found.neighbours is found.learning is found.clusters is None
    assert measure_sketches(records, *maker(5)(records)).learning is None
    with pytest.raises(DataError, match="rows"):
        measure_sketches(records, sketches, rows[1:])
