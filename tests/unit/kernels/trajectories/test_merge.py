"""The tests of `kernels/trajectories/merge.py`, against slow twins."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.kernels.trajectories.merge import LOST, box_cost, glove_block, join, nearest_boxes, pair_effort

SIZES = np.array([100.0, 60.0, 1000.0, 1800.0])
ACROSS = np.full(64, 80.0)


def slow_cost(a: list[int], b: list[int]) -> float:
    y0, y1, x0, x1, t0, t1 = (f(p, q) for f, p, q in zip((min, max) * 3, a, b, strict=True))
    metres = max((y1 - y0 + 1) * 100.0, (x1 - x0 + 1) * 80.0)
    seconds = (t1 - t0 + 1) * 60.0
    return LOST if metres > 1000 or seconds > 1800 else 0.5 * (metres / 1000 + seconds / 1800)


def fingerprint(rng: np.random.Generator, n: int) -> np.ndarray:
    y, x, t = rng.integers(0, 12, n), rng.integers(0, 12, n), np.sort(rng.integers(0, 60, n))
    return np.stack([y, y, x, x, t, t], axis=1).astype(np.int32)


@pytest.mark.parametrize("seed", range(5))
def test_costs_and_nearest_boxes_are_those_of_the_slow_twin(seed: int) -> None:
    rng = np.random.default_rng(seed)
    a, b = fingerprint(rng, 9), fingerprint(rng, 7)
    costs = np.array([[slow_cost(p, q) for q in b.tolist()] for p in a.tolist()])
    assert np.array([[box_cost(p, q, ACROSS, SIZES) for q in b] for p in a]) == pytest.approx(costs)
    best, found = np.empty(9, np.int64), np.empty(9)
    nearest_boxes(a, b, ACROSS, SIZES, best, found)
    assert found == pytest.approx(costs.min(axis=1))
    is_lost = costs.min(axis=1) == LOST
    assert ((best < 0) == is_lost).all()
    weights = np.ones(9, np.int64), np.ones(7, np.int64)
    whole = (costs.min(axis=1).sum() + costs.min(axis=0).sum()) / 16
    assert pair_effort(a, weights[0], b, weights[1], ACROSS, SIZES) == pytest.approx(whole)


@pytest.mark.parametrize("seed", range(8))
def test_joined_boxes_hold_boxes_of_both_and_keep_within_the_limits(seed: int) -> None:
    rng = np.random.default_rng(seed)
    long, short = fingerprint(rng, 8), fingerprint(rng, 5)
    of_long, of_short = np.empty(8, np.int64), np.empty(5, np.int64)
    made = join(long, short, ACROSS, SIZES, of_long, of_short)
    assert (np.diff(made[:, 4]) >= 0).all()
    for i, box in enumerate(made.tolist()):
        mine, theirs = long[of_long == i], short[of_short == i]
        assert len(mine)
        assert len(theirs)
        own = np.concatenate([mine, theirs])
        hull = [f(own[:, j]) for j, f in enumerate((np.min, np.max) * 3)]
        assert hull == box
        assert slow_cost(box, box) < LOST


@pytest.mark.parametrize("k", [2, 3, 4])
def test_groups_have_k_persons_who_are_in_every_box(k: int) -> None:
    rng = np.random.default_rng(k)
    sizes = rng.integers(1, 9, 40)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    boxes = np.concatenate([fingerprint(rng, n) for n in sizes.tolist()])
    persons = rng.integers(0, 15, 40).astype(np.int32)
    groups, of_box = glove_block(boxes, np.ones(len(boxes), np.int64), starts, persons, k, ACROSS, SIZES, 0.98 * LOST)
    owner = np.repeat(np.arange(40), sizes)
    assert groups.max() >= 1
    for group in range(int(groups.max()) + 1):
        members = np.flatnonzero(groups == group)
        assert len(set(persons[members].tolist())) == len(members) >= k
        own = np.isin(owner, members) & (of_box >= 0)
        assert own.any()
        for box in np.unique(of_box[own]):
            inside = own & (of_box == box)
            assert set(owner[inside].tolist()) == set(members.tolist())
            hull = [f(boxes[inside, j]) for j, f in enumerate((np.min, np.max) * 3)]
            assert slow_cost(hull, hull) < LOST
