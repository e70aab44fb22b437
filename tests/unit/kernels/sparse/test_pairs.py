"""Strong pairs and how records are cut into them, against all pairs counted one by one."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from shoal.data.sparse.records import Sparse
from shoal.kernels.sparse.pairs import list_owners, match_pairs, opens_pair, strong_pairs


def draw() -> Sparse:
    rng = np.random.default_rng(3)
    rows = [sorted({*rng.integers(0, 15, 4).tolist(), *((20, 21) if i % 9 == 0 else ())}) for i in range(200)]
    return Sparse.of(rows)


def found(records: Sparse, k: int, lift: float):
    by_item = np.argsort(records.items, kind="stable")
    owners = np.repeat(np.arange(len(records), dtype=np.int32), records.sizes)[by_item]
    owner_starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(records.supports)])
    return strong_pairs(records.starts, records.items, owner_starts, owners, records.supports, k, lift)


def test_partners_are_those_of_a_slow_count() -> None:
    records = draw()
    rows = [set(records.items[a:b].tolist()) for a, b in zip(records.starts[:-1], records.starts[1:], strict=True)]
    starts, partners, lifts = found(records, 5, 1.2)
    for item in range(records.n_items):
        slow = {}
        for other in range(records.n_items):
            n = sum({item, other} <= row for row in rows)
            lift = n * len(rows) / max(records.supports[item] * records.supports[other], 1)
            if other != item and n >= 5 and lift >= 1.2:
                slow[other] = lift
        ours = dict(
            zip(partners[starts[item] : starts[item + 1]].tolist(), lifts[starts[item] : starts[item + 1]], strict=True)
        )
        assert set(ours) == set(slow)
        assert all(np.isclose(ours[o], slow[o]) for o in slow)
        assert list(ours.values()) == sorted(ours.values(), reverse=True)


def test_the_strongest_pairs_of_a_record_are_matched_first() -> None:
    records = draw()
    starts, partners, lifts = found(records, 5, 1.2)
    strength = {}
    for item in range(records.n_items):
        for p in range(starts[item], starts[item + 1]):
            strength[item, int(partners[p])] = lifts[p]
    mate = match_pairs(records.starts, records.items, starts, partners, lifts, records.n_items)
    for low, high in zip(records.starts[:-1].tolist(), records.starts[1:].tolist(), strict=True):
        pairs = sorted(
            (
                (-strength[a, b], i, j)
                for (i, a), (j, b) in combinations(enumerate(records.items[low:high].tolist()), 2)
                if (a, b) in strength
            ),
        )
        slow = {}
        for _, i, j in pairs:
            if i not in slow and j not in slow:
                slow[i], slow[j] = j, i
        assert [slow.get(i, -low - 1) + low for i in range(high - low)] == mate[low:high].tolist()


def test_owners_are_listed_by_item() -> None:
    records = draw()
    starts, owners = list_owners(records.starts, records.items, records.n_items)
    np.testing.assert_array_equal(np.diff(starts), records.supports)
    by_item = np.argsort(records.items, kind="stable")
    np.testing.assert_array_equal(owners, np.repeat(np.arange(len(records)), records.sizes)[by_item])


def test_a_pair_opens_at_its_earlier_entry() -> None:
    is_first = np.empty(5, np.bool_)
    opens_pair(np.array([3, -1, 4, 0, 2], np.int32), is_first)
    assert is_first.tolist() == [True, False, True, False, False]
