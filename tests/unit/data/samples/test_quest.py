"""The Quest generator: its kernel against a slow twin, its pool, its names."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.data.samples.quest import Baskets, Quest, generate_baskets, labelled_baskets, make_pool
from shoal.errors import PolicyError


def test_the_pool_of_the_paper() -> None:
    quest = Quest(1, 10, 4, n_itemsets=20_000)
    pool = make_pool(quest, np.random.default_rng(1))
    sets = [set(pool.items[a:b].tolist()) for a, b in zip(pool.starts[:-1], pool.starts[1:], strict=True)]
    sizes = np.diff(pool.starts)
    assert [len(s) for s in sets] == sizes.tolist()  # no item twice
    assert np.mean(sizes) == pytest.approx(4 + np.exp(-4), abs=0.06)  # those of size 0 have 1 item
    shared = np.array([len(a & b) for a, b in zip(sets[1:], sets[:-1], strict=True)])
    share = shared.sum() / sizes[1:].sum()
    # Exp(0.5), at most 1, has the mean 0.5 * (1 - exp(-2)) = 0.432; the itemset before may be the smaller one.
    assert 0.33 < share < 0.432
    assert pool.weights.sum() == pytest.approx(1)
    assert np.std(pool.weights) * len(sets) == pytest.approx(1, abs=0.05)  # as an exponential distribution has
    assert (np.mean(pool.corruption), np.var(pool.corruption)) == pytest.approx((0.5, 0.1), abs=0.01)


def test_the_pool_of_the_program() -> None:
    quest = Quest.named("T10.I4.D1", "program", n_itemsets=20_000)
    pool = make_pool(quest, np.random.default_rng(1))
    assert np.mean(np.diff(pool.starts)) == pytest.approx(4, abs=0.06)
    assert np.diff(pool.starts).min() == 1
    assert (np.mean(pool.corruption), np.std(pool.corruption)) == pytest.approx((0.25, 0.1), abs=0.01)
    counts = np.bincount(pool.items, minlength=1000)
    assert np.std(counts) / np.mean(counts) > 0.8  # exponential weights: about 1; uniform ones: 0.12


def test_no_correlation_shares_nothing_on_purpose() -> None:
    pool = make_pool(Quest(1, 10, 4, n_itemsets=2000, n_items=100_000, correlation=0.0), np.random.default_rng(1))
    assert len(np.unique(pool.items)) > 0.95 * len(pool.items)


def test_baskets_are_sets_in_order_and_depend_on_the_seed_alone() -> None:
    quest = Quest.named("T20.I4.D2K")
    one, two, other = (generate_baskets(quest, seed=s) for s in (1, 1, 2))
    assert len(one) == 2000
    assert np.diff(one.starts).mean() == pytest.approx(20, abs=1)
    inside = np.ones(len(one.items), dtype=bool)
    inside[one.starts[:-1]] = False
    assert np.all(np.diff(one.items)[inside[1:]] > 0)
    assert one.items.tolist() == two.items.tolist()
    assert one.items.tolist() != other.items.tolist()


def test_strings_of_baskets_ascend_by_number() -> None:
    baskets = Baskets(np.array([2, 9, 10, 0], np.int32), np.array([0, 3, 4]), 11)
    assert baskets.strings().texts() == [["2", "9", "10"], ["0"]]
    assert list(baskets.strings().alphabet) == sorted(map(str, range(11)))


def test_two_classes_in_random_order() -> None:
    strings = labelled_baskets("V20.I4.D2K", seed=5)
    assert strings.labels is not None
    assert np.bincount(strings.labels).tolist() == [1000, 1000]
    assert 100 < strings.labels[-300:].sum() < 200
    profile = [np.bincount(strings.take(np.flatnonzero(strings.labels == c)).symbols, minlength=1000) for c in (0, 1)]
    assert np.corrcoef(profile)[0, 1] < 0.3  # two pools, not two draws from one
    again = labelled_baskets("V20.I4.D2K", seed=5)
    assert again.texts() == strings.texts()


def test_names() -> None:
    quest = Quest.named("T10I4D100K")
    assert (quest.mean_size, quest.mean_itemset, quest.n_transactions) == (10, 4, 100_000)
    assert Quest.named("t7.5.i2.d3m").n_transactions == 3_000_000
    program = Quest.named("T10.I4.D100K", "program", n_items=7)
    assert (program.n_itemsets, program.correlation, program.n_items) == (10_000, 0.25, 7)
    for call in (
        lambda: Quest.named("T10"),
        lambda: Quest.named("T1..2.I4.D1K"),
        lambda: Quest.named("V20.I4.D100K"),
        lambda: labelled_baskets("T20.I4.D100K"),
        lambda: labelled_baskets("V20.I4.D1"),
        lambda: Quest(0, 10, 4),
        lambda: Quest(1, 10, 4, corruption=1.0),
        lambda: Quest(1, 10, 4, convention="other"),  # type: ignore[arg-type]  # it is refused
    ):
        with pytest.raises(PolicyError):
            call()


def test_a_pool_of_which_nothing_is_left_is_refused() -> None:
    with pytest.raises(PolicyError, match="lower the corruption"):
        generate_baskets(Quest(3, 2, 1, n_itemsets=1, corruption=0.9999999, corruption_deviation=0.0), seed=1)
