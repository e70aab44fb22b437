"""Groups that fail a requirement find a neighbour."""

from __future__ import annotations

from dataclasses import replace
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.models.l_diversity import LDiversity
from shoal.models.t_closeness import TCloseness
from shoal.tables import merge
from shoal.tables.encoding import Ranked
from shoal.tables.limits import Limit, limits_of, violations
from shoal.tables.merge import satisfy


def numbers(values: list[float]) -> Ranked:
    positions, ranks = np.unique(np.array(values, dtype=float), return_inverse=True)
    return Ranked("x", "number", ranks.astype(np.int32), positions)


def categories(values: list[int]) -> Ranked:
    positions, ranks = np.unique(np.array(values, dtype=float), return_inverse=True)
    return Ranked("s", "category", ranks.astype(np.int32), np.arange(len(positions), dtype=float))


def limits(sensitive: list[int], requirement) -> tuple:
    return limits_of([requirement], [categories(sensitive)])


def test_a_failing_group_joins_the_nearest() -> None:
    x, s = [0, 0, 10, 10, 11, 11], [1, 1, 1, 2, 1, 1]
    found, rows = satisfy(
        np.array([0, 0, 1, 1, 2, 2], np.int32), [numbers(x)], limits(s, LDiversity(l=2)), 0.0, lambda rows: ()
    )
    assert rows.tolist() == [0, 1, 2, 3, 4, 5]
    assert len(set(found[2:])) == 1
    assert not violations(found, limits(s, LDiversity(l=2))).any()


def test_outlying_failures_are_left_out_where_that_is_allowed() -> None:
    x, s = [0, 0, 10, 10, 11, 11], [1, 1, 1, 2, 1, 2]
    required = LDiversity(l=2)
    found, rows = satisfy(
        np.array([0, 0, 1, 1, 2, 2], np.int32),
        [numbers(x)],
        limits(s, required),
        0.4,
        lambda rows: limits([s[i] for i in rows], required),
    )
    assert rows.tolist() == [2, 3, 4, 5]
    assert found.tolist() == [0, 0, 1, 1]


@settings(deadline=None, max_examples=200)
@given(st.data(), st.sampled_from([LDiversity(l=2), LDiversity(l=2, kind="entropy"), TCloseness(t=0.2)]))
def test_merging_ends_with_every_group_passing(data, required) -> None:
    n_rows = data.draw(st.integers(4, 30))
    s = data.draw(st.lists(st.integers(0, 3), min_size=n_rows, max_size=n_rows))
    x = data.draw(st.lists(st.integers(0, 9), min_size=n_rows, max_size=n_rows))
    labels = (np.arange(n_rows) // 2).astype(np.int32)
    given_limits = limits(s, required)
    if violations(np.zeros(n_rows, np.int32), given_limits)[0]:
        return
    found, rows = satisfy(labels, [numbers(x)], given_limits, 0.0, lambda rows: ())
    assert len(rows) == n_rows
    assert not violations(found, given_limits).any()
    assert np.array_equal(np.unique(found), np.arange(found.max() + 1))
    for g in range(labels.max() + 1):
        assert len(set(found[labels == g])) == 1


def some_rows(seed: int) -> tuple[list[Ranked], np.ndarray, np.ndarray, np.ndarray]:
    """Distinct rows with missing cells, sensitive values, groups that part none of them, and how many each stands for."""
    rng = np.random.default_rng(seed)
    rows = np.unique(np.column_stack([rng.integers(0, n, 80) for n in (9, 4, 5, 3)]), axis=0)
    x, order, word, sensitive = rows.T.astype(np.int32)
    ranked = [
        Ranked("x", "number", x, np.append(np.cumsum(rng.random(8)) + 1e6, np.nan), has_missing=True),
        Ranked("order", "order", order, np.arange(4.0)),
        Ranked("word", "category", word, np.arange(5.0)),
    ]
    place = np.unique(rows[:, :3], axis=0, return_inverse=True)[1].reshape(-1)
    labels = np.unique(place // 3, return_inverse=True)[1].astype(np.int32)
    return ranked, sensitive, labels, rng.integers(1, 5, len(rows)).astype(np.int32)


@pytest.mark.parametrize("suppression", [0.0, 0.1])
@pytest.mark.parametrize("required", [LDiversity(l=3), LDiversity(l=2, kind="entropy"), TCloseness(t=0.3)])
@pytest.mark.parametrize("seed", range(8))
def test_rows_may_stand_for_several_records(seed: int, required, suppression: float) -> None:
    ranked, sensitive, labels, weights = some_rows(seed)
    column = Ranked("s", "category", sensitive, np.arange(3.0))

    def limits_for(rows: np.ndarray, weights: np.ndarray | None) -> tuple[Limit, ...]:
        (limit,) = limits_of([required], [column.take(rows)])
        if weights is None:
            return (limit,)
        counts = np.bincount(limit.codes, weights, limit.n_values).astype(np.int64)
        return (replace(limit, counts=counts, weights=weights),)

    each = np.repeat(np.arange(len(weights)), weights)
    everyone = np.arange(len(weights))
    limit = limits_for(everyone, weights)
    found, rows = satisfy(labels, ranked, limit, suppression, lambda r: limits_for(r, weights[r]), weights)
    expected, left = satisfy(
        labels[each],
        [r.take(each) for r in ranked],
        limits_for(each, None),
        suppression,
        lambda r: limits_for(each[r], None),
    )
    assert np.array_equal(np.isin(each, rows), np.isin(np.arange(len(each)), left))
    assert np.array_equal(np.repeat(found, weights[rows]), expected)
    with patch.object(merge, "MOST_PAIRS", 0):
        again, same = satisfy(labels, ranked, limit, suppression, lambda r: limits_for(r, weights[r]), weights)
    assert np.array_equal(rows, same)
    assert np.array_equal(found, again)


@pytest.mark.parametrize("seed", range(5))
def test_the_nearest_is_that_of_average_records(seed: int) -> None:
    ranked, _, labels, weights = some_rows(seed)
    each = np.repeat(np.arange(len(weights)), weights)
    number, order, word = (r.ranks[each] for r in ranked)
    values = ranked[0].positions[number]
    groups = [labels[each] == g for g in range(labels.max() + 1)]
    means = [np.mean(values[g & ~np.isnan(values)]) if (g & ~np.isnan(values)).any() else None for g in groups]
    averages = [
        # A group without any number stands where the least one does.
        [(np.nanmin(values) if mean is None else mean) / np.nanstd(values), np.mean(order[g]) / 4, np.bincount(word[g])]
        for mean, g in zip(means, groups, strict=True)
    ]
    found, distances = merge._nearest(labels, ranked, np.arange(len(groups)), weights)
    for g, (x, y, counts) in enumerate(averages):
        gaps = [
            (x - u) ** 2 + (y - v) ** 2 + (counts.argmax() != others.argmax()) if h != g else np.inf
            for h, (u, v, others) in enumerate(averages)
        ]
        assert distances[g] == pytest.approx(min(gaps), abs=1e-5)
        assert gaps[found[g]] == pytest.approx(min(gaps), abs=1e-5)
