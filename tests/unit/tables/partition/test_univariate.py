"""One number: no grouping at all loses less."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.errors import PolicyError
from shoal.tables.encoding import Ranked
from shoal.tables.partition.univariate import Univariate, univariate_labels


def partitions(rows: list[int], k: int) -> Iterator[list[list[int]]]:
    """All partitions into groups of any size; those with too small groups are left out at the end."""
    if not rows:
        yield []
        return
    for rest in partitions(rows[1:], 1):
        for i in range(len(rest) + 1):
            grown = [*rest[:i], [rows[0], *(rest[i] if i < len(rest) else [])], *rest[i + 1 :]]
            if min(map(len, grown)) >= k:
                yield grown


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(-9, 9), min_size=4, max_size=7), st.integers(2, 3))
def test_no_partition_has_a_smaller_sum_of_squares(values: list[int], k: int) -> None:
    x = np.array(values, dtype=float)
    labels = Univariate(k).fit_predict(x[:, None])
    ours = sum(len(x[labels == g]) * x[labels == g].var() for g in set(labels))
    least = min(sum(len(g) * x[g].var() for g in groups) for groups in partitions(list(range(len(x))), k))
    assert ours == pytest.approx(least, abs=1e-9)


def test_groups_ascend_with_the_values() -> None:
    x = np.random.default_rng(1).normal(size=500)
    labels = Univariate(7).fit_predict(x[:, None])
    assert (np.diff(labels[np.argsort(x)]) >= 0).all()


@pytest.mark.parametrize(("n_missing", "groups"), [(4, 1), (2, 1)])
def test_missing_values_share_a_group(n_missing: int, groups: int) -> None:
    x = np.append(np.arange(40.0), [np.nan] * n_missing)
    labels = Univariate(4).fit_predict(x[:, None])
    assert len(set(labels[40:])) == groups
    present = np.flatnonzero(labels[:40] == labels[-1])
    if n_missing >= 4:
        assert len(present) == 0
    else:  # too few for a group of their own, they join values about the mean
        assert 15 <= present.mean() <= 24


def test_more_than_one_attribute_or_an_unordered_one_is_refused() -> None:
    with pytest.raises(PolicyError, match="one quasi-identifier, and there are 2"):
        Univariate(2).fit(np.zeros((9, 2)))
    color = Ranked("color", "category", np.zeros(9, np.int32), np.zeros(1))
    with pytest.raises(PolicyError, match="'color' is neither"):
        univariate_labels([color], 2)
