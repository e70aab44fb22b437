"""How many components one record may have by itself: the delta rule, the recovery cap, and the grid of rounding."""

from __future__ import annotations

from math import comb, e, floor, log2, pi

import numpy as np
import pytest

from shoal.data.sparse.records import Sparse
from shoal.sparse.delta import delta_counts
from shoal.sparse.recovery_cap import item_shares, recovery_counts
from shoal.sparse.rounding import step_of


def cap_by_hand(record, rows, grid, n_names):
    """As the module says, one record at a time."""
    n_records = len(rows)
    names = sorted({name for row in rows for name in row})
    least = 1 / (2 * n_records)
    chance = {n: min(max(sum(n in r for r in rows) / n_records, least), 1 - least) for n in names}
    own = sum(-log2(chance[n]) if n in record else -log2(1 - chance[n]) for n in names)
    information = min(log2(comb(n_names, len(record))), own)
    square = sum(w * w for w in record.values())
    bits = max(1.0, 0.5 * log2(2 * pi * e * square) - log2(grid)) if record else 1.0
    return floor(max(0.0, min(0.5 * information, information - 10)) / bits)


@pytest.mark.parametrize("is_real", [False, True])
def test_recovery_cap_by_hand(is_real):
    rng = np.random.default_rng(4)
    rows = []
    for _ in range(40):
        n = int(rng.integers(0, 15))
        # Items up to 20 are popular, so that self-information is the smaller one for some.
        items = {*rng.choice(20, min(n, 12), replace=False).tolist(), *rng.integers(0, 200, n // 2).tolist()}
        rows.append({f"{i:03d}": float(rng.normal()) if is_real else int(rng.integers(1, 5)) for i in items})
    records = Sparse.of(rows)
    step = step_of(records)
    n_names = len({name for row in rows for name in row})
    got = recovery_counts(records, step=step)
    assert got.tolist() == [cap_by_hand(row, rows, step if is_real else 2, n_names) for row in rows]
    assert len(set(got.tolist())) > 5


def test_records_without_items_get_nothing():
    for rows in ([], [[]], [[], []]):
        assert recovery_counts(Sparse.of(rows), step=1.0).tolist() == [0] * len(rows)
        assert delta_counts(Sparse.of(rows), 1.0).tolist() == [0] * len(rows)


def test_popular_items_tell_little():
    rows = [[*range(10)] for _ in range(99)] + [[*range(10, 20)]]
    records = Sparse.of(rows)
    common, odd = recovery_counts(records, step=1.0)[[0, 99]]
    assert common == 0
    assert odd > 1


def test_a_block_of_a_stream_gets_the_caps_of_the_whole():
    rng = np.random.default_rng(5)
    records = Sparse.of([rng.choice(100, 8, replace=False).tolist() for _ in range(30)])
    whole = recovery_counts(records, step=1.0)
    shares = item_shares(records)
    block = records.take(np.arange(10, 15))
    known = {"shares": shares, "n_records": 30, "n_items": int((shares > 0).sum())}
    assert recovery_counts(block, step=1.0, **known).tolist() == whole[10:15].tolist()
    assert recovery_counts(block, step=1.0).tolist() != whole[10:15].tolist()


def test_about_twenty_components_for_twenty_of_a_thousand_items():
    rng = np.random.default_rng(6)
    records = Sparse.of([rng.choice(1000, 20, replace=False).tolist() for _ in range(2000)])
    assert np.median(recovery_counts(records, step=1.0)) in range(20, 25)
