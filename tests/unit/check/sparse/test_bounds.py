"""The tests of `check/sparse/bounds.py`."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.check.sparse.bounds import bounds_of, class_size, coarse
from shoal.data.sparse.records import Sparse
from shoal.sparse.delta import delta_counts


def lists(n: int, size: int, n_items: int = 300, seed: int = 0) -> list[list[str]]:
    rng = np.random.default_rng(seed)
    return [[f"w{i}" for i in rng.choice(n_items, size, replace=False)] for _ in range(n)]


def test_one_huge_weight_does_not_hide_how_little_the_others_are() -> None:
    """2^58 + 33 is 2^58 + 64 in double precision: the difference allowed 127 components instead of 65."""
    records = Sparse.of([{**dict.fromkeys(items, 1), "amount": 2**29} for items in lists(3, 33)])
    assert delta_counts(records, 0.5).tolist() == [65, 65, 65]
    assert bounds_of(records, 1.0, 1, False).spread.tolist() == [33.0, 33.0, 33.0]


@pytest.mark.parametrize("kind", ["counts", "mixed", "real"])
def test_all_but_the_largest_is_what_it_says(kind: str) -> None:
    rng = np.random.default_rng(4)
    draw = {
        "counts": lambda: int(rng.integers(1, 4)),
        "mixed": lambda: int(rng.choice([-3, -1, 2, 3])),
        "real": rng.normal,
    }
    rows = [{item: draw[kind]() for item in items[: rng.integers(0, 8)]} for items in lists(60, 8)]
    rows[0] = {}
    records = Sparse.of(rows)
    truth = np.array([sum(w * w for w in r.values()) - max((w * w for w in r.values()), default=0) for r in rows])
    assert bounds_of(records, 1.0, 1, False).spread == pytest.approx(truth)
    assert delta_counts(records, 0.07).tolist() == np.floor(truth / 0.07 * (1 - 1e-12)).tolist()


def test_the_check_finds_a_class_of_which_few_are_left() -> None:
    data = Sparse.of(lists(10, 15), ["a"] * 5 + ["b"] * 5)
    rows = np.array([0, 1, 2, 3, 4, 5])
    assert not class_size(data, rows, data.labels[rows].astype(np.int64), 5).holds
    assert class_size(data, rows[:5], data.labels[rows[:5]].astype(np.int64), 5).holds


def test_two_digits_are_on_the_safe_side_and_within_the_limit() -> None:
    assert coarse(0.3331, 0.333) == 0.333
    assert coarse(0.4812, 0.5, is_most=True) == 0.49
    assert coarse(1234.5, 10.0) == 1200.0
    assert coarse(float("inf"), 1.0) == float("inf")
