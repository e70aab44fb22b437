"""Groups by local recoding: k records at least, equal ones together, whatever the rows and what each stands for."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.tables.partition.local_recoding import local_recoding_labels
from tests.unit.kernels.tables.test_local_recoding import random_attribute


@settings(max_examples=150, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    n_rows=st.sampled_from([2, 3, 9, 30, 300]),
    n_columns=st.integers(1, 5),
    is_one=st.booleans(),
    most=st.sampled_from([1, 2, 50, 10**6]),
    k=st.sampled_from([2, 3, 10, 60, 1000]),
)
def test_groups_hold_k_records_and_equal_ones_stand_together(
    seed: int, n_rows: int, n_columns: int, is_one: bool, most: int, k: int
) -> None:
    rng = np.random.default_rng(seed)
    ranked = [random_attribute(rng, f"x{i}", n_rows) for i in range(n_columns)]
    if is_one and seed % 3 == 0:
        ranked = [r.take(np.zeros(n_rows, dtype=np.intp)) for r in ranked]
    weights = rng.zipf(1.5, n_rows).clip(1, most).astype(np.int32)
    k = min(k, int(weights.sum()))
    labels = local_recoding_labels(ranked, k, weights=weights)
    assert np.bincount(labels, weights).min() >= k
    cells = np.column_stack([r.ranks for r in ranked])
    n_kinds = len(np.unique(cells, axis=0))
    assert len(np.unique(np.column_stack([cells, labels]), axis=0)) == n_kinds
    order = rng.permutation(n_rows)
    again = local_recoding_labels([r.take(order) for r in ranked], k, weights=weights[order])
    assert np.array_equal(again, labels[order])
    if weights.sum() < 5_000:
        each = np.repeat(np.arange(n_rows), weights)
        assert np.array_equal(local_recoding_labels([r.take(each) for r in ranked], k), labels[each])
