"""The kernels of strings against loops that are too simple to be wrong."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from shoal.kernels.strings.groups import (
    SparseTemplates,
    average,
    group_costs,
    nearest_groups,
    pass_around,
    similarities,
)
from shoal.strings.groups import NO_GROUPS, order_members
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


def slow_similarity(one: Dense, centre: Dense) -> float:
    return float(np.minimum(one, centre).sum())


def slow_pass(table: Dense, k: int, centres: list[Dense] | None, order: list[int]) -> list[int]:
    left, labels = list(range(len(table))), [-1] * len(table)
    for label in range(len(table) // k):
        centre = centres[label] if centres is not None else table[next(r for r in order if r in left)]
        for row in sorted(left, key=lambda row: (-slow_similarity(table[row], centre), row))[:k]:
            labels[row] = label
            left.remove(row)
    return labels


def assert_closest(table: Dense, k: int, centres: list[Dense] | None, order: list[int], labels: list[int]) -> None:
    """As the slow pass, but of what rounding makes alike any may have been taken."""
    left = list(range(len(table)))
    for label in range(len(table) // k):
        centre = centres[label] if centres is not None else table[next(r for r in order if r in left)]
        taken = [r for r in left if labels[r] == label]
        left = [r for r in left if labels[r] != label]
        assert len(taken) == k
        nearest_left = max((slow_similarity(table[r], centre) for r in left), default=0.0)
        assert min(slow_similarity(table[r], centre) for r in taken) >= nearest_left - 1e-5
    assert all(labels[r] == -1 for r in left)


@pytest.mark.parametrize("shortest", [6, 9])
@pytest.mark.parametrize("seed", range(4))
def test_passes_take_the_closest(seed: int, shortest: int) -> None:
    templates = convert_lengths(*flat(some_strings(seed, 41, shortest, 9, 4)))
    table, k = dense(templates), 8
    order = np.random.default_rng(seed).permutation(41)
    labels = pass_around(sparse(templates), k, order, *NO_GROUPS)
    members, starts = order_members(np.where(labels < 0, 5, labels), 6)
    centres = [table[members[starts[g] : starts[g + 1]]].mean(axis=0) for g in range(6)]
    later = pass_around(sparse(templates), k, NO_GROUPS[0], members, starts)
    if shortest == 9:  # equal lengths and eighths: no sum is rounded, so ties are ties
        assert labels.tolist() == slow_pass(table, k, None, order.tolist())
        assert later.tolist() == slow_pass(table, k, centres, [])
    assert_closest(table, k, None, order.tolist(), labels.tolist())
    assert_closest(table, k, centres, [], later.tolist())


def slow_costs(table: Dense, length: int, labels: list[int], n_groups: int) -> list[float]:
    costs = []
    for group in range(n_groups):
        rows = [r for r, g in enumerate(labels) if g == group]
        costs.append(sum(float(np.abs(table[r] - table[rows].mean(axis=0)).sum()) for r in rows))
    return costs


@pytest.mark.parametrize("shortest", [5, 8])
def test_costs_are_eq_3_and_nearest_groups_are_near(shortest: int) -> None:
    templates = convert_lengths(*flat(some_strings(3, 30, shortest, 8, 3)))
    table = dense(templates)
    labels = (np.arange(30) % 4).astype(np.int32)
    members, starts = order_members(labels, 4)
    costs = group_costs(sparse(templates), templates.length, members, starts)
    assert costs == pytest.approx(slow_costs(table, templates.length, labels.tolist(), 4), rel=1e-5)
    centres = [table[labels == g].mean(axis=0) for g in range(4)]
    near = nearest_groups(sparse(templates), members, starts, labels, np.arange(30), 4)
    for row in range(30):
        others = sorted((slow_similarity(table[row], centres[g]) for g in range(4) if g != labels[row]), reverse=True)
        assert near[row, 3] == -1
        assert {*near[row, :3].tolist(), int(labels[row])} == {0, 1, 2, 3}
        assert [slow_similarity(table[row], centres[g]) for g in near[row, :3]] == pytest.approx(others, rel=1e-5)
    centre = average(sparse(templates), np.flatnonzero(labels == 2))
    assert centre == pytest.approx(centres[2], abs=1e-6)
    assert similarities(sparse(templates), centre) == pytest.approx(
        [slow_similarity(one, centres[2]) for one in table], rel=1e-5
    )
