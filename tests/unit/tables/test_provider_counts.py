"""Counts that providers make at home, and rows made of them again."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

import shoal
from shoal.errors import DataError, PolicyError
from shoal.tables.provider_counts import coarse_policy, join_counts, provider_counts

AGES = shoal.Hierarchy(tuple((str(a), f"{a // 10}0s", "*") for a in range(20, 60)))
POLICY = shoal.Policy.of(
    quasi=["age", "town"], sensitive=["ill"], identifying=["name"], hierarchies={"age": AGES}, k=3, provider="from"
)
LEVELS = {"age": 1}


def rows_of(seed, n):
    rng = np.random.default_rng(seed)
    return {
        "name": [f"n{i}" for i in range(n)],
        "age": rng.integers(20, 60, n).tolist(),
        "town": rng.choice(["x", "y"], n).tolist(),
        "ill": rng.choice(["flu", "cold", ""], n).tolist(),
    }


def test_only_numbers_of_coarse_combinations_travel(tmp_path):
    rows = rows_of(1, 60)
    counts = provider_counts(rows, POLICY, LEVELS, to=tmp_path / "counts.csv")
    assert list(counts) == ["age", "town", "ill", "count"]
    expected = Counter(
        (f"{a // 10}0s", t, i or None) for a, t, i in zip(rows["age"], rows["town"], rows["ill"], strict=True)
    )
    found = zip(counts["age"], counts["town"], counts["ill"], strict=True)
    assert dict(zip(found, counts["count"], strict=True)) == dict(expected)
    assert not any(name in (tmp_path / "counts.csv").read_text() for name in rows["name"])


def test_counts_of_all_become_a_release_without_any_provider(tmp_path):
    counts: dict[str, object] = {f"h{i}": provider_counts(rows_of(i, 50), POLICY, LEVELS) for i in range(3)}
    provider_counts(rows_of(3, 50), POLICY, LEVELS, to=tmp_path / "h3.csv")
    table = join_counts({**counts, "h3": tmp_path / "h3.csv"})
    assert Counter(table["provider"]) == {"h0": 50, "h1": 50, "h2": 50, "h3": 50}
    release = shoal.anonymize(table, coarse_policy(POLICY.changed(coalition=2), LEVELS), seed=1)
    assert release.records["out"] == 200
    assert release.guarantees[0].details["coalition"] == 2


@pytest.mark.parametrize(
    ("counts", "error"),
    [
        ({}, "no counts were given"),
        ({"a": {"x": ["1"]}}, "no column 'count'"),
        ({"a": {"x": ["1"], "count": ["none"]}}, "more than whole numbers"),
        ({"a": {"x": ["1"], "count": [0]}}, "more than whole numbers"),
        ({"a": {"x": ["1"], "count": [1]}, "b": {"y": ["1"], "count": [1]}}, "other columns"),
    ],
)
def test_what_is_no_count_is_refused(counts, error):
    with pytest.raises((DataError, PolicyError), match=error):
        join_counts(counts)


def test_levels_need_a_hierarchy_that_all_have():
    with pytest.raises(PolicyError, match="'town', for which the policy gives no hierarchy"):
        provider_counts(rows_of(1, 20), POLICY, {"town": 1})
    with pytest.raises(PolicyError, match="levels names 'name', which is not published"):
        provider_counts(rows_of(1, 20), POLICY, {"name": 1})
    with pytest.raises(DataError, match="which counts have of their own"):
        provider_counts({**rows_of(1, 20), "count": [1] * 20}, POLICY.changed(insensitive=["count"]))
