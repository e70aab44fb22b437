"""Who goes to which bucket: every value of a signature as often as the others."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.errors import Infeasible
from shoal.releases.invariance import fill_buckets, fill_by_panel


def balanced(found, values, m):
    """Whether every bucket, with its counterfeits, holds each of its m or more values equally often."""
    counts = {}
    for bucket, value in zip(found.of_person.tolist(), values.tolist(), strict=True):
        counts.setdefault(bucket, {}).setdefault(value, 0)
        counts[bucket][value] += 1
    for bucket, value, n in found.lacking:
        counts.setdefault(bucket, {}).setdefault(value, 0)
        counts[bucket][value] += n
    for bucket, held in counts.items():
        assert set(held) == set(found.signatures[bucket])
        assert len(held) >= m
        assert len(set(held.values())) == 1


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("m", [2, 3])
def test_random_updates_stay_balanced_and_nobody_changes_the_bucket(seed, m):
    rng = np.random.default_rng(seed)
    values = np.concatenate([np.arange(60) % 5, rng.integers(0, 5, 20)])
    found = fill_buckets(values, np.full(80, -1), [], m, rng)
    balanced(found, values, m)
    assert found.n_counterfeits < m
    stays = rng.random(80) < 0.7
    new = rng.integers(0, 6, 15)
    again = np.concatenate([values[stays], new])
    old = np.concatenate([found.of_person[stays], np.full(15, -1)])
    try:
        second = fill_buckets(again, old, found.signatures, m, rng)
    except Infeasible:
        return
    balanced(second, again, m)
    assert (second.of_person[: int(stays.sum())] == found.of_person[stays]).all()
    assert second.signatures[: len(found.signatures)] == found.signatures


def test_newcomers_fill_gaps_before_counterfeits_do():
    values, old = np.array([0, 0, 1, 1, 0]), np.array([0, 0, 0, -1, -1])
    found = fill_buckets(values, old, [(0, 1)], 2, np.random.default_rng(0))
    assert found.of_person.tolist()[3] == 0
    balanced(found, values, 2)


def test_one_value_alone_cannot_be_dealt_out():
    with pytest.raises(Infeasible, match="one value is too frequent"):
        fill_buckets(np.zeros(5, dtype=np.int64), np.full(5, -1), [], 2, np.random.default_rng(0))


def test_newcomers_of_one_value_join_a_bucket_that_has_it():
    values = np.array([0, 1, 0, 0])
    found = fill_buckets(values, np.array([0, 0, -1, -1]), [(0, 1)], 2, np.random.default_rng(0))
    assert found.of_person.tolist() == [0, 0, 0, 0]
    assert found.lacking == [(0, 1, 2)]


@pytest.mark.parametrize("seed", range(4))
def test_panels_have_buckets_of_their_own(seed):
    rng = np.random.default_rng(seed)
    values, panels = np.arange(60) % 4, rng.integers(0, 2, 60)
    found = fill_by_panel(values, np.full(60, -1), [], 2, rng, panels)
    balanced(found, values, 2)
    for bucket in set(found.of_person.tolist()):
        assert len(set(panels[found.of_person == bucket].tolist())) == 1
    stays = np.flatnonzero(panels == 1)
    values, old = np.concatenate([values[stays], [0, 1]]), np.concatenate([found.of_person[stays], [-1, -1]])
    again = fill_by_panel(values, old, found.signatures, 2, rng, np.concatenate([panels[stays], [0, 0]]))
    balanced(again, values, 2)


def test_a_panel_that_cannot_be_dealt_out_joins_others():
    values, panels = np.array([0, 1, 0, 1, 0]), np.array([0, 0, 0, 0, 1])
    found = fill_by_panel(values, np.full(5, -1), [], 2, np.random.default_rng(0), panels)
    balanced(found, values, 2)
    assert found.n_counterfeits == 1
