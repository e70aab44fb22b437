"""The optimal cut, against all cuts there are."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.kernels.tables.shortest_path import cut_order

Floats = npt.NDArray[np.float64]


def pair_cost(points: Floats, weights: Floats, n_metric: int, rows: npt.NDArray[np.intp]) -> float:
    """Squared distances of all pairs over the number of records."""
    total = 0.0
    for a in rows:
        for b in rows:
            total += float(((points[a] - points[b])[:n_metric] ** 2).sum()) / 2
            total += float(weights[n_metric:][(points[a] != points[b])[n_metric:]].sum()) / 2
    return total / len(rows)


def cuts(n_rows: int, k: int) -> Iterator[list[int]]:
    """Sizes of at least k, 2k and more as well, that add up to all rows."""
    if n_rows == 0:
        yield []
    for size in range(k, n_rows + 1):
        for rest in cuts(n_rows - size, k):
            yield [size, *rest]


@settings(max_examples=60, deadline=None)
@given(st.integers(2, 4), st.integers(0, 7), st.integers(0, 2), st.integers(0, 2), st.integers(0, 2**32))
def test_no_cut_costs_less(k: int, extra: int, n_metric: int, n_other: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    n_rows = k + extra
    metric = rng.integers(-3, 4, (n_rows, n_metric)) * rng.choice([1.0, 0.3])
    points = np.column_stack([metric, rng.integers(0, 3, (n_rows, n_other))]).astype(float)
    weights = np.array([0.0] * n_metric + [1.0, 0.25][:n_other])
    order = rng.permutation(n_rows)
    labels, cost = cut_order(points, weights, n_metric, order, k)
    groups = np.split(order, np.cumsum(np.bincount(labels))[:-1])
    assert all((labels[rows] == g).all() for g, rows in enumerate(groups))
    assert k <= np.bincount(labels).min() <= np.bincount(labels).max() <= 2 * k - 1
    assert cost == pytest.approx(sum(pair_cost(points, weights, n_metric, rows) for rows in groups), abs=1e-9)
    least = min(
        sum(pair_cost(points, weights, n_metric, rows) for rows in np.split(order, np.cumsum(sizes)[:-1]))
        for sizes in cuts(n_rows, k)
    )
    assert cost == pytest.approx(least, abs=1e-9)


def test_costs_far_from_zero_are_exact() -> None:
    points = 1e6 + np.repeat([[0.0], [1.0], [5.0]], 3, axis=0)
    labels, cost = cut_order(points, np.zeros(1), 1, np.arange(9), 3)
    assert labels.tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 2]
    assert cost == 0.0
