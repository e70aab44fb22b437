"""The tests of `kernels/strings/reassign.py`."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from shoal.kernels.strings.groups import SparseTemplates, group_costs, nearest_groups
from shoal.kernels.strings.reassign import LEAST_GAIN, reassign
from shoal.strings.groups import order_members
from shoal.strings.templates import Templates, convert_lengths

Dense = npt.NDArray[np.float64]


def some_strings(seed: int, n: int, shortest: int, longest: int, n_symbols: int) -> list[list[int]]:
    rng = np.random.default_rng(seed)
    return [rng.integers(0, n_symbols, rng.integers(shortest, longest + 1)).tolist() for _ in range(n)]


def flat(strings: list[list[int]]) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64]]:
    starts = np.concatenate([[0], np.cumsum([len(s) for s in strings])]).astype(np.int64)
    return np.array([x for s in strings for x in s], dtype=np.int32), starts


def dense(templates: Templates) -> Dense:
    """One row a template, one column a feature."""
    out = np.zeros((len(templates), templates.n_features))
    for row in range(len(templates)):
        for e in range(templates.starts[row], templates.starts[row + 1]):
            out[row, templates.features[e]] = templates.weights[e] if len(templates.weights) else 1.0
    return out


def sparse(templates: Templates) -> SparseTemplates:
    return SparseTemplates(templates.starts, templates.features, templates.weights, templates.n_features)


def slow_costs(table: Dense, length: int, labels: list[int], n_groups: int) -> list[float]:
    costs = []
    for group in range(n_groups):
        rows = [r for r, g in enumerate(labels) if g == group]
        costs.append(sum(float(np.abs(table[r] - table[rows].mean(axis=0)).sum()) for r in rows))
    return costs


def slow_reassign(
    table: Dense, length: int, k: int, labels: list[int], near: list[list[int]], order: list[int]
) -> list[int]:
    n_groups = max(labels) + 1

    def total(given: list[int]) -> float:
        return sum(slow_costs(table, length, given, n_groups))

    def target(row: int, given: list[int]) -> int:
        return next((g for g in near[row] if g >= 0 and g != given[row] and g in given), -1)

    for group in order:
        rows = [r for r, g in enumerate(labels) if g == group]
        targets = [target(r, labels) for r in rows]
        if not rows or min(targets) < 0:
            continue
        changed = labels.copy()
        for row, to in zip(rows, targets, strict=True):
            changed[row] = to
        if total(changed) < total(labels) - LEAST_GAIN:
            labels = changed
    for row in range(len(labels)):
        to = target(row, labels)
        if labels.count(labels[row]) <= k or to < 0:
            continue
        changed = labels.copy()
        changed[row] = to
        if total(changed) < total(labels) - LEAST_GAIN:
            labels = changed
    return labels


@pytest.mark.parametrize("seed", range(6))
def test_reassignment_makes_the_moves_of_the_slow_one(seed: int) -> None:
    rng = np.random.default_rng(seed)
    kinds = some_strings(seed, 3, 9, 12, 4)
    strings = [[int(s) if rng.random() < 0.7 else int(rng.integers(4)) for s in kinds[i % 3]] for i in range(31)]
    templates = convert_lengths(*flat(strings))
    labels = np.arange(31, dtype=np.int32) % 5
    labels[rng.permutation(31)[:9]] = 0
    labels = np.unique(labels, return_inverse=True)[1].astype(np.int32)
    members, starts = order_members(labels, int(labels.max()) + 1)
    costs = group_costs(sparse(templates), templates.length, members, starts)
    near = nearest_groups(sparse(templates), members, starts, labels, np.arange(31), 3)
    order = np.argsort(-costs / np.diff(starts), kind="stable")
    expected = slow_reassign(dense(templates), templates.length, 3, labels.tolist(), near.tolist(), order.tolist())
    moved = labels.copy()
    n_moved = reassign(sparse(templates), templates.length, 3, moved, costs, near, order)
    assert moved.tolist() == expected
    assert n_moved > 0
    assert costs == pytest.approx(
        slow_costs(dense(templates), templates.length, expected, len(costs)), rel=1e-4, abs=1e-4
    )
