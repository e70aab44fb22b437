"""Units are dealt to records that have room and do not hold them, in small pools and in large ones."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from shoal.kernels.sparse.dealing import MOST_SCANNED, deal, record_hash, swap_copies


@pytest.mark.parametrize("n", [8, MOST_SCANNED + 40])
def test_every_unit_goes_to_as_many_records_as_there_is_room_for(n: int) -> None:
    rng = np.random.default_rng(n)
    room = rng.integers(2, 9, n)
    starts = np.concatenate([[0], np.cumsum(room)]).astype(np.int64)
    filled, out = np.zeros(n, np.int64), np.full(int(room.sum()), -1, np.int32)
    unit_starts, unit_items = np.array([0, 2, 3, 4]), np.array([0, 1, 2, 3], np.int32)
    wanted = np.array([n // 4, n // 2, n // 2])
    counts = wanted.copy()
    deal(
        starts,
        filled,
        out,
        np.array([0, n]),
        np.array([n]),
        np.zeros(3, np.int64),
        np.arange(3),
        counts,
        unit_starts,
        unit_items,
        np.array([9], np.uint64),
    )
    held = [out[starts[i] : starts[i] + filled[i]].tolist() for i in range(n)]
    assert all(len(set(row)) == len(row) <= room[i] for i, row in enumerate(held))
    assert all((0 in row) == (1 in row) for row in held)
    got = Counter(item for row in held for item in row)
    assert [got[0], got[2], got[3]] == (wanted - counts).tolist()
    assert counts.tolist() == [0, 0, 0]


def test_what_finds_no_room_is_left_over() -> None:
    starts, filled, out = np.array([0, 1, 2]), np.zeros(2, np.int64), np.empty(2, np.int32)
    counts = np.array([1, 3])
    deal(
        starts,
        filled,
        out,
        np.array([0, 2]),
        np.array([2]),
        np.zeros(2, np.int64),
        np.arange(2),
        counts,
        np.array([0, 2, 3]),
        np.array([0, 1, 2], np.int32),
        np.array([9], np.uint64),
    )
    assert counts.tolist() == [1, 1]  # no record has room for two; two have for one
    assert out.tolist() == [2, 2]


def test_pools_are_dealt_apart() -> None:
    starts, filled, out = np.arange(0, 9, 2), np.zeros(4, np.int64), np.full(8, -1, np.int32)
    counts = np.array([2, 1])
    deal(
        starts,
        filled,
        out,
        np.array([0, 2, 4]),
        np.array([2, 2]),
        np.array([0, 1]),
        np.arange(2),
        counts,
        np.array([0, 1, 2]),
        np.array([7, 8], np.int32),
        np.array([2], np.uint64),
    )
    assert set(out[:4].tolist()) == {7, -1}
    assert filled.tolist()[:2] == [1, 1]
    assert filled[2:].sum() == 1


def test_copies_are_swapped_away_and_sums_of_items_stay() -> None:
    keys = np.random.default_rng(1).integers(0, 2**60, 6, dtype=np.uint64)
    starts, filled, out = np.array([0, 2, 4, 6]), np.full(3, 2), np.array([0, 1, 2, 3, 4, 5], np.int32)
    rare = np.sort(np.array([keys[0] + keys[1], keys[0] + keys[2]]))
    left = swap_copies(starts, filled, out, np.array([0, 3]), keys, rare, np.array([4], np.uint64))
    assert not left.any()
    assert sorted(out.tolist()) == [0, 1, 2, 3, 4, 5]
    shown = {frozenset(out[i : i + 2].tolist()) for i in (0, 2, 4)}
    assert not shown & {frozenset((0, 1)), frozenset((0, 2))}
    assert record_hash(starts, filled, out, keys, 0) == keys[out[0]] + keys[out[1]]


def test_a_copy_that_cannot_be_swapped_is_told() -> None:
    keys = np.arange(1, 3).astype(np.uint64)
    out = np.array([0, 0], np.int32)
    found = swap_copies(
        np.array([0, 1, 2]), np.ones(2, np.int64), out, np.array([0, 2]), keys, keys[:1], np.array([4], np.uint64)
    )
    assert found.tolist() == [True, True]
