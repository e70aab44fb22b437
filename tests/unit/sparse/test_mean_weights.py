"""Weights are means over the holders of the smallest pool of k, against a slow count, in runs of any size."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.data import ragged
from shoal.data.ragged_rows import DiskRows, Ragged, ValueFile
from shoal.data.sparse.record_rows import RecordRows
from shoal.errors import Infeasible
from shoal.sparse import mean_weights as module
from shoal.sparse.mean_weights import weigh_rows
from shoal.sparse.near_groups import NearGroups

K, SUPPORT, N_ITEMS = 4, 2, 12


def case(seed: int) -> tuple[Ragged, Ragged, np.ndarray, NearGroups]:
    rng = np.random.default_rng(seed)
    n = 60
    items = [np.sort(rng.choice(N_ITEMS, rng.integers(1, 5), replace=False)) for _ in range(n)]
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum([len(row) for row in items])])
    weights = rng.integers(-6, 30, starts[-1])
    weights[weights == 0] = 1
    ordered = Ragged(starts, [np.concatenate(items).astype(np.int32), weights])
    shown = np.sort(rng.choice(n, 50, replace=False))
    groups = NearGroups(np.arange(n, dtype=np.int32), np.arange(0, n + 1, 5), np.array([0, 7, 12]))
    return ordered, ordered.columns(0).take(shown), shown, groups


def slow(ordered: Ragged, made: Ragged, shown: np.ndarray, groups: NearGroups) -> list[int]:
    of_class = np.repeat([0, 1], [35, 25])
    owners = np.repeat(np.arange(len(ordered)), ordered.sizes)
    items, weights = ordered.values
    cut = weights.astype(float)
    for label in (0, 1):
        for item in range(N_ITEMS):
            own = (of_class[owners] == label) & (items == item)
            ranked = np.sort(weights[own])
            if not len(ranked):
                continue
            at = min(SUPPORT, len(ranked))
            low, high = ranked[at - 1], ranked[-at]
            if low > high:
                low = high = low if abs(low) < abs(high) else high
            cut[own] = np.clip(weights[own], low, high)
    found = []
    for row, place in enumerate(shown.tolist()):
        for item in made.values[0][made.starts[row] : made.starts[row + 1]].tolist():
            mean = 0.0
            for level in range(groups.n_levels):
                _, pools = groups.pools(level)
                pool = int(np.searchsorted(pools, place, "right")) - 1
                inside = (items == item) & (owners >= pools[pool]) & (owners < pools[pool + 1])
                if inside.any():
                    mean = cut[inside].mean()
                if inside.sum() >= max(K, SUPPORT):
                    break
            found.append(int(np.rint(mean)) or (-1 if mean < 0 else 1))
    return found


@pytest.mark.parametrize("seed", range(4))
def test_weights_are_those_of_a_slow_count_whatever_is_held(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    ordered, made, shown, groups = case(seed)
    expected = slow(ordered, made, shown, groups)
    least = (K, SUPPORT)

    def found(rows: RecordRows, room: int | None) -> list[int]:
        weighed = weigh_rows(made, shown, rows, groups, least, is_integral=True, room=room)
        return weighed.part(0, len(made)).values[1].tolist()

    assert found(RecordRows(ordered, N_ITEMS), None) == expected
    persons = np.arange(len(ordered))  # each of another one
    assert found(RecordRows(ordered, N_ITEMS, None, persons), None) == expected
    writer = DiskRows(ValueFile(np.int32), ValueFile(np.int64))
    writer.add(ordered.sizes, *ordered.values)
    disk = RecordRows(writer.done(), N_ITEMS)
    for at_once in (3, 20, 10**6):
        monkeypatch.setattr(module, "ENTRIES_OF_A_RUN", at_once)
        monkeypatch.setattr(ragged, "ENTRIES_AT_ONCE", at_once)
        assert found(disk, 10**6) == expected
    monkeypatch.setattr(module, "ENTRIES_OF_A_RUN", 3)
    with pytest.raises(Infeasible, match="are held by few of small pools"):
        found(disk, 60)
    with pytest.raises(Infeasible, match="are cut to what 2 records reach, which does not fit"):
        found(disk, 10)


def test_real_weights_that_cancel_out_keep_the_item() -> None:
    starts = np.arange(9)
    ordered = Ragged(starts, [np.zeros(8, np.int32), np.tile([-0.5, 0.5], 4)])
    groups = NearGroups(np.arange(8, dtype=np.int32), np.array([0, 4, 8]), np.array([0, 2]))
    made = weigh_rows(ordered.columns(0), np.arange(8), RecordRows(ordered, 1), groups, (K, SUPPORT), is_integral=False)
    assert made.part(0, 8).values[1].tolist() == [1e-12] * 8
