"""The tests of `kernels/sparse/quest.py`."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.data.samples.quest import Convention, Pool, Quest, make_pool
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
