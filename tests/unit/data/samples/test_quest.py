"""The Quest generator: its kernel against a slow twin, its pool, its names."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.data.samples.quest import Baskets, Convention, Pool, Quest, generate_baskets, labelled_baskets, make_pool
from shoal.errors import PolicyError
from shoal.kernels.sparse.quest import fill_baskets


class Words:
    """xorshift64*, in Python's whole numbers."""

    def __init__(self, seed: int) -> None:
        self.word = seed

    def uniform(self) -> float:
        mask = 2**64 - 1
        self.word ^= self.word >> 12
        self.word ^= (self.word << 25) & mask
        self.word ^= self.word >> 27
        return float((self.word * 0x2545F4914F6CDD1D & mask) >> 11) * 2.0**-53


def slow_baskets(sizes: list[int], pool: Pool, seed: int, patience: int) -> list[list[int]]:
    words, made, kept = Words(seed), [], None
    sets = [pool.items[a:b].tolist() for a, b in zip(pool.starts[:-1], pool.starts[1:], strict=True)]
    cumulative = np.cumsum(pool.weights)
    for size in sizes:
        basket: set[int] = set()
        idle = 0
        while len(basket) < size and idle < patience:
            chosen, kept = kept, None
            if chosen is None:
                u = words.uniform()
                chosen = min(int(np.searchsorted(cumulative, u, side="right")), len(sets) - 1)
            items = list(sets[chosen])
            n_left = len(items)
            while n_left and words.uniform() < pool.corruption[chosen]:
                n_left -= 1
            if len(basket) + n_left > size and words.uniform() < 0.5:
                kept = chosen
                break
            before = len(basket)
            for j in range(n_left):
                other = j + int(words.uniform() * (len(items) - j))
                items[j], items[other] = items[other], items[j]
            basket.update(items[:n_left])
            idle = 0 if len(basket) > before else idle + 1
        if basket:
            made.append(sorted(basket))
    return made


@pytest.mark.parametrize("convention", ["paper", "program"])
@pytest.mark.parametrize("n_items", [5, 50])
def test_the_kernel_equals_its_slow_twin(convention: Convention, n_items: int) -> None:
    quest = Quest(10, 6, 3, n_itemsets=30, n_items=n_items, convention=convention)
    pool = make_pool(quest, np.random.default_rng(3))
    sizes = np.random.default_rng(4).poisson(6, 400)
    starts = np.empty(len(sizes) + 1, np.int64)
    out = np.empty(int(sizes.sum()) + 400 * int(np.diff(pool.starts).max()), np.int32)
    kept, state = np.full(1, -1, np.int64), np.array([12345], np.uint64)
    n = 0
    made: list[list[int]] = []
    for part in (sizes[:150], sizes[150:]):  # the state goes on from call to call
        n = fill_baskets(
            part.astype(np.int64),
            pool.items,
            pool.starts,
            np.cumsum(pool.weights),
            pool.corruption,
            n_items,
            kept,
            state,
            20,
            out,
            starts,
        )
        made += [out[starts[i] : starts[i + 1]].tolist() for i in range(n)]
    assert made == slow_baskets(sizes.tolist(), pool, 12345, 20)
    assert len(made) < len(sizes)  # some stayed empty


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
