"""Combinations are counted as one would count them by hand, and what is dropped leaves no rare one."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.data.sparse.records import Sparse
from shoal.kernels.sparse.combinations import (
    count_items,
    count_pairs,
    count_triples,
    drop_rare_pairs,
    drop_rare_triples,
    hash_keys,
    holders_of,
)
from tests.unit.sparse.slow_combinations import random_lists, sets_of, supports

COUNT = {2: count_pairs, 3: count_triples}
DROP = {2: drop_rare_pairs, 3: drop_rare_triples}


def records(seed: int, n: int = 40) -> Sparse:
    return Sparse.of(random_lists(np.random.default_rng(seed), n, 9, 6))


def spelled(key: int, size: int, made: Sparse) -> frozenset[str]:
    codes = []
    for _ in range(size):
        key, code = divmod(key, made.n_items)
        codes.append(code)
    return frozenset(made.names[c] for c in codes)


@pytest.mark.parametrize("size", [2, 3])
@pytest.mark.parametrize("k", [1, 4])
def test_combinations_are_counted(size: int, k: int) -> None:
    made = records(size)
    keys, counts, rare = COUNT[size](made.starts, made.items, np.arange(len(made)), made.n_items, k)
    slow = {chosen: n for chosen, n in supports(sets_of(made), 3).items() if len(chosen) == size}
    assert {spelled(key, size, made): n for key, n in zip(keys.tolist(), counts.tolist(), strict=True)} == {
        chosen: n for chosen, n in slow.items() if n >= k
    }
    assert (np.diff(keys) > 0).all()
    assert rare.tolist() == [sum(n < k and name in chosen for chosen, n in slow.items()) for name in made.names]


@pytest.mark.parametrize("size", [2, 3])
def test_an_owner_counts_once(size: int) -> None:
    made = records(5)
    twice = made.take(np.repeat(np.arange(len(made)), 2))
    owners = np.repeat(np.arange(len(made)), 2)
    assert (
        count_items(twice.starts, twice.items, owners, made.n_items).tolist()
        == np.bincount(made.items, minlength=made.n_items).tolist()
    )
    found = COUNT[size](twice.starts, twice.items, owners, made.n_items, 3)
    single = COUNT[size](made.starts, made.items, np.arange(len(made)), made.n_items, 3)
    assert all(np.array_equal(one, other) for one, other in zip(found, single, strict=True))


def test_the_holders_of_an_item_are_found_with_their_places() -> None:
    made = records(6)
    firsts, rows, places = holders_of(made.starts, made.items, made.n_items)
    for item in range(made.n_items):
        here = slice(firsts[item], firsts[item + 1])
        assert rows[here].tolist() == [i for i, row in enumerate(sets_of(made)) if made.names[item] in row]
        assert (made.items[places[here]] == item).all()


@pytest.mark.parametrize("size", [2, 3])
def test_what_stays_holds_no_combination_but_those_of_the_table(size: int) -> None:
    made = records(7)
    keys, _, _ = COUNT[size](made.starts, made.items, np.arange(len(made)), made.n_items, 4)
    kept = DROP[size](made.starts, made.items, made.n_items, hash_keys(keys))
    allowed = {spelled(key, size, made) for key in keys.tolist()}
    before = np.concatenate([[0], np.cumsum(kept)])
    left = Sparse(before[made.starts], made.items[kept], made.weights[kept], made.names)
    assert {chosen for chosen in supports(sets_of(left), size) if len(chosen) == size} <= allowed
    assert kept.any()
    assert not kept.all()


def test_the_item_of_most_rare_pairs_goes_and_of_equals_the_last() -> None:
    made = Sparse.of([["a", "b", "c"]])
    bc = np.array([1 * 3 + 2])  # a is in two rare pairs
    assert drop_rare_pairs(made.starts, made.items, 3, hash_keys(bc)).tolist() == [False, True, True]
    ab_ac = np.array([1, 2])
    assert drop_rare_pairs(made.starts, made.items, 3, hash_keys(ab_ac)).tolist() == [True, True, False]
    none = np.zeros(0, np.int64)
    assert drop_rare_pairs(made.starts, made.items, 3, hash_keys(none)).tolist() == [True, False, False]
    assert drop_rare_triples(made.starts, made.items, 3, hash_keys(none)).tolist() == [True, True, False]
