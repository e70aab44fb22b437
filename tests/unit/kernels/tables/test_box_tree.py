"""The tests of `kernels/tables/box_tree.py`."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.kernels.compile import interpreted
from shoal.kernels.tables.box_tree import NONE, build_tree, farthest_row, nearest_rows, remove_row
from tests.unit.kernels.tables.mixed_points import random_data, squared


@pytest.mark.parametrize("is_small", [False, True])
@pytest.mark.parametrize("seed", range(8))
def test_queries_are_exact_while_records_are_removed(seed: int, is_small: bool) -> None:
    with interpreted(is_small):
        ask_while_removing(seed)


def ask_while_removing(seed: int) -> None:
    rng = np.random.default_rng(seed)
    data = random_data(rng, 400, int(rng.integers(2, 30)))
    points, weights, n_metric = data.points, data.weights, data.n_metric
    alive = np.sort(rng.choice(400, 300, replace=False))
    tree = build_tree(points, alive, points[alive].mean(axis=0), weights, n_metric)
    while len(alive) > 7:
        query = points[rng.integers(400)] if rng.random() < 0.5 else points[alive].mean(axis=0)
        distances = squared(points[alive], query, n_metric, weights)
        assert farthest_row(tree, query) == alive[np.argmax(distances)]
        room, nearest = np.empty(7), np.empty(7, np.int64)
        nearest_rows(tree, query, int(rng.integers(len(tree.sizes))), room, nearest)
        assert sorted(nearest) == sorted(alive[np.argsort(distances, kind="stable")[:7]])
        gone = rng.choice(alive, min(5, len(alive) - 7), replace=False)
        for row in gone:
            remove_row(tree, row)
        alive = np.setdiff1d(alive, gone)
    assert tree.first[1] == alive[0]
    assert (tree.low[1] == points[alive].min(axis=0)).all()
    assert (tree.high[1] == points[alive].max(axis=0)).all()
    for row in alive:
        remove_row(tree, row)
    assert farthest_row(tree, points[0]) == NONE
