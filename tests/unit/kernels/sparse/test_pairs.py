"""Counts of pairs of units and how records are cut into them, against all pairs counted one by one."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from shoal.data.sparse.records import Sparse
from shoal.kernels.sparse.pairs import count_pairs, join_pairs, list_owners, match_pairs, place_of


def draw() -> Sparse:
    rng = np.random.default_rng(3)
    rows = [sorted({*rng.integers(0, 15, 4).tolist(), *((20, 21) if i % 9 == 0 else ())}) for i in range(200)]
    return Sparse.of(rows)


def sets_of(records: Sparse) -> list[set[int]]:
    return [set(records.items[a:b].tolist()) for a, b in zip(records.starts[:-1], records.starts[1:], strict=True)]


def strong(records: Sparse, k: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Slowly, all pairs that k records have, the most frequent first."""
    rows = sets_of(records)
    found = [
        (one, -sum({one, other} <= row for row in rows), other)
        for one in range(records.n_items)
        for other in range(records.n_items)
        if one != other
    ]
    chosen = sorted(f for f in found if -f[1] >= k)
    starts = np.searchsorted([f[0] for f in chosen], np.arange(records.n_items + 1))
    return starts, np.array([f[2] for f in chosen], np.int32), np.array([-f[1] for f in chosen], float)


@pytest.mark.parametrize("k", [1, 5])
@pytest.mark.parametrize("span", [(0, 17), (3, 9)])
def test_pairs_are_counted_as_slowly_and_the_table_grows(k: int, span: tuple[int, int]) -> None:
    records = draw()
    rows, n = sets_of(records), records.n_items
    keys, counts, n_used = np.full(4, -1, np.int64), np.zeros(4, np.int32), 0
    for half in (np.arange(90), np.arange(90, 200)):  # run by run
        part = records.take(half)
        told = (records.supports, k, *span)
        keys, counts, n_used = count_pairs(part.starts, part.items, *told, keys, counts, n_used, 1 << 20)
    assert n_used == int((keys >= 0).sum()) <= len(keys) // 2
    found = dict(zip(keys[keys >= 0].tolist(), counts[keys >= 0].tolist(), strict=True))
    for one in range(*span):
        for other in range(n):
            slow = sum({one, other} <= row for row in rows)
            is_asked = one != other and min(records.supports[one], records.supports[other]) >= k
            assert found.get(one * n + other, 0) == (slow if is_asked else 0)
            if is_asked and slow:
                assert keys[place_of(keys, one * n + other)] == one * n + other


def test_a_table_that_may_not_grow_is_told() -> None:
    records = draw()
    keys, counts = np.full(4, -1, np.int64), np.zeros(4, np.int32)
    told = (records.supports, 1, 0, records.n_items, keys, counts, 0, 8)
    assert count_pairs(records.starts, records.items, *told)[2] == -1


def test_the_strongest_pairs_of_a_record_are_matched_first_and_joined() -> None:
    records = draw()
    starts, partners, lifts = strong(records, 5)
    strength = {}
    for item in range(records.n_items):
        for p in range(starts[item], starts[item + 1]):
            strength[item, int(partners[p])] = lifts[p]
    opened = match_pairs(records.starts, records.items, starts, partners, lifts)
    joined = np.arange(len(partners), dtype=np.int32) + 100
    joined[::3] = -1  # these are left apart
    sizes, units = join_pairs(records.starts, records.items, opened, partners, joined)
    ends = np.cumsum(sizes)
    for row, (low, high) in enumerate(zip(records.starts[:-1].tolist(), records.starts[1:].tolist(), strict=True)):
        items = records.items[low:high].tolist()
        pairs = sorted(
            (-strength[a, b], i, j) for (i, a), (j, b) in combinations(enumerate(items), 2) if (a, b) in strength
        )
        mate: dict[int, int] = {}
        for _, i, j in pairs:
            if i not in mate and j not in mate:
                mate[i], mate[j] = j, i
        firsts = [i for i in range(high - low) if mate.get(i, -1) > i]
        assert firsts == np.flatnonzero(opened[low:high] >= 0).tolist()
        told = [int(partners[p]) for p in opened[low:high] if p >= 0]
        assert told == [items[mate[i]] for i in firsts]
        expected = list(items)
        for i in firsts:
            if joined[opened[low + i]] >= 0:
                expected[i], expected[mate[i]] = int(joined[opened[low + i]]), -1
        assert [u for u in expected if u >= 0] == units[ends[row] - sizes[row] : ends[row]].tolist()


def test_owners_are_listed_by_item() -> None:
    records = draw()
    starts, owners = list_owners(records.starts, records.items, records.n_items)
    np.testing.assert_array_equal(np.diff(starts), records.supports)
    by_item = np.argsort(records.items, kind="stable")
    np.testing.assert_array_equal(owners, np.repeat(np.arange(len(records)), records.sizes)[by_item])
