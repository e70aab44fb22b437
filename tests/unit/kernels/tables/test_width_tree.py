"""The tests of `kernels/tables/width_tree.py`."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.kernels.compile import interpreted
from shoal.kernels.tables.box_tree import NONE
from shoal.kernels.tables.width_tree import (
    WidthPoints,
    build_width_tree,
    farthest_head,
    nearest_to_span,
    remove_head,
    span_room,
    start_span,
    widen_span,
)
from tests.unit.kernels.tables.width_points import random_data


def width(data: WidthPoints, rows: list[int]) -> float:
    points = data.points[rows]
    return float((data.weights * np.minimum(points.max(axis=0) - points.min(axis=0), 1.0)).sum())


@pytest.mark.parametrize("is_small", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_queries_are_exact_while_records_are_removed(seed: int, is_small: bool) -> None:
    with interpreted(is_small):
        ask_while_removing(seed)


def ask_while_removing(seed: int) -> None:
    rng = np.random.default_rng(seed)
    data, record = random_data(rng, 300, int(rng.integers(2, 40)))
    later = np.array([next((o for o in range(r + 1, 300) if record[o] == record[r]), NONE) for r in range(300)])
    tree = build_width_tree(data, np.unique(record, return_index=True)[1], later)
    span = span_room(data.points.shape[1])
    alive = list(range(300))
    while len(alive) > 6:
        query = int(rng.integers(300))
        assert farthest_head(tree, data.points[query]) == max(alive, key=lambda row: width(data, [query, row]))
        group = rng.integers(0, 300, rng.integers(1, 4)).tolist()
        start_span(span, data.points[group[0]])
        for row in group[1:]:
            widen_span(span, data.points[row])
        gaps, nearest = np.empty(6), np.empty(6, np.int64)
        nearest_to_span(tree, span, int(rng.integers(len(tree.sizes))), gaps, nearest)
        expected = sorted(alive, key=lambda row: width(data, [*group, row]))[:6]
        assert sorted(nearest) == sorted(expected)
        assert sorted(gaps) == sorted(width(data, [*group, row]) - width(data, group) for row in expected)
        for row in sorted(expected)[: len(alive) - 6]:
            remove_head(tree, row)
            alive.remove(row)
    for row in alive:
        remove_head(tree, row)
    assert farthest_head(tree, data.points[0]) == NONE
