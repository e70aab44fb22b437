"""How many components one record may have by itself: the delta rule, the recovery cap, and the grid of rounding."""

from __future__ import annotations

from math import comb, e, floor, log2, pi

import numpy as np
import pytest

from shoal.data.sparse.records import Sparse
from shoal.errors import PolicyError
from shoal.sparse.delta import delta_counts
from shoal.sparse.recovery_cap import item_shares, recovery_counts
from shoal.sparse.rounding import step_of


def test_delta_rule_by_hand():
    records = Sparse.of([{"a": 1, "b": 1, "c": 1}, {"a": 5}, {}, {"a": 3, "b": -4, "c": 2}, {"b": 1, "c": 1}])
    # Largest squares 1, 25, -, 16, 1 of 3, 25, 0, 29, 2.
    assert delta_counts(records, 0.3).tolist() == [6, 0, 0, 43, 3]
    assert delta_counts(records, 3.9).tolist() == [0, 0, 0, 3, 0]


def test_a_tie_counts_as_too_many():
    records = Sparse.of([{"a": 1, "b": 1, "c": 1}])
    assert delta_counts(records, 0.5).tolist() == [3]
    assert delta_counts(records, 0.4999).tolist() == [4]


def test_delta_must_be_a_positive_number():
    for delta in (0, -1, float("nan"), float("inf"), True, "1"):
        with pytest.raises(PolicyError, match="delta"):
            delta_counts(Sparse.of([["a"]]), delta)


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


def test_step_is_the_power_of_two_nearest_to_twice_the_median():
    def step(*weights):
        return step_of(Sparse.of([{str(i): w} for i, w in enumerate(weights)]))

    assert step(0.5, 0.5, -0.5) == 1.0
    assert step(0.7, 0.7) == 1.0  # log2 1.4 = 0.49
    assert step(0.71, -0.71) == 2.0  # log2 1.42 = 0.506
    assert step(0.01, 0.3, 1e9) == 0.5
    assert step(7, 9, 1000) == 1.0  # whole numbers
    assert step() == 1.0
