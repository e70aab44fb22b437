"""The tests of `kernels/trajectories/cuts.py`, against slow twins."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.kernels.compile import interpreted
from shoal.kernels.trajectories import cuts
from shoal.kernels.trajectories.cuts import box_of, box_size, cut_group, cut_groups, cut_in_time, first_boxes

SIZES = np.array([100.0, 60.0, 1000.0, 1800.0, 1000.0, 3600.0])
ACROSS = np.full(64, 80.0)


def slow_size(points: np.ndarray) -> tuple[float, bool]:
    y, x, t = np.ptp(points, axis=0) + 1
    metres, seconds = max(100.0 * y, 80.0 * x), 60.0 * t
    return 0.5 * (metres / 1000 + seconds / 3600), metres <= 1000 and seconds <= 1800


def group(rng: np.random.Generator, n_members: int, n_points: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Members who go the same way, each with some points off it."""
    rows = []
    for member in range(n_members):
        for i in range(n_points):
            y, x = i * 4 + rng.integers(0, 3), i * 2 + rng.integers(0, 3)
            far = 20 if rng.random() < 0.1 else 0
            rows.append((y, x + far, i * 2 + rng.integers(0, 10), i / (n_points - 1), member))
    made = np.array(rows)
    return made[:, :3].astype(np.int64), made[:, 3].copy(), made[:, 4].astype(np.int64)


def test_sizes_are_those_of_the_slow_twin() -> None:
    points = group(np.random.default_rng(0), 2, 6)[0]
    for i in range(1, len(points)):
        low, high = points[:i].min(axis=0), points[:i].max(axis=0)
        assert box_size(low, high, ACROSS, SIZES) == pytest.approx(slow_size(points[:i]))
        assert box_of(points[:i], ACROSS, SIZES) == pytest.approx(slow_size(points[:i]))


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("lost", [0.3, 5.0])
def test_every_member_is_in_every_box_and_boxes_keep_within_the_limits(seed: int, lost: float) -> None:
    points, progress, members = group(np.random.default_rng(seed), 3, 8)
    labels = cut_group(points, progress, members, 3, ACROSS, SIZES, lost)
    assert labels.max() >= 0
    total = lost * (labels < 0).sum()
    for box in range(labels.max() + 1):
        own = labels == box
        assert set(members[own].tolist()) == {0, 1, 2}
        size, is_within = slow_size(points[own])
        assert is_within
        total += own.sum() * size
    assert total <= len(points) * max(slow_size(points)[0], lost)
    assert (labels < 0).sum() <= (cut_group(points, progress, members, 3, ACROSS, SIZES, 0.1) < 0).sum()


def test_the_first_cut_is_the_cheapest_of_all() -> None:
    points = np.array([[0, 0, 0], [0, 1, 0], [9, 0, 0], [9, 1, 0]])
    labels = cut_group(points, np.zeros(4), np.array([0, 1, 0, 1]), 2, ACROSS, SIZES, 9.0)
    assert labels[0] == labels[1] != labels[2] == labels[3]
    one_alone = cut_group(points, np.zeros(4), np.array([0, 0, 1, 1]), 2, ACROSS, SIZES, 9.0)
    assert set(one_alone.tolist()) == {0}
    far = points * np.array([3, 1, 1])
    assert cut_group(far, np.zeros(4), np.array([0, 0, 1, 1]), 2, ACROSS, SIZES, 9.0).tolist() == [-1] * 4


def test_groups_are_cut_one_by_one() -> None:
    parts = [group(np.random.default_rng(seed), 2, 5) for seed in (0, 1)]
    points, progress, members = (np.concatenate([part[i] for part in parts]) for i in range(3))
    made = cut_groups(points, progress, members, np.array([0, 10, 20]), np.array([2, 2]), ACROSS, SIZES, 0.5)
    apart = [cut_group(*part, 2, ACROSS, SIZES, 0.5) for part in parts]
    assert np.array_equal(made, np.concatenate(apart))


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("lost", [0.01, 0.3, 5.0])
def test_interpreted_all_groups_are_cut_at_once_into_the_same_boxes(seed: int, lost: float) -> None:
    rng = np.random.default_rng(seed)
    parts = [group(rng, int(rng.integers(1, 5)), int(rng.integers(2, 70 if seed < 4 else 12))) for _ in range(6)]
    points, progress, members = (np.concatenate([part[i] for part in parts]) for i in range(3))
    starts, n_members = np.cumsum([0, *(len(part[0]) for part in parts)]), np.array([max(p[2]) + 1 for p in parts])
    given = (points, progress, members, starts, n_members, 80 - np.arange(300) / 10, SIZES, lost)
    made = cut_groups(*given)
    with interpreted(True):
        assert np.array_equal(cut_groups(*given), made)
    assert made.max() > 0


def test_long_runs_are_cut_in_time_where_all_members_are_on_both_sides() -> None:
    members = np.array([0, 1] * 300 + [0] * 100)
    todo = np.zeros((len(members) + 1, 3), np.int64)
    n = cut_in_time(members, 2, todo)
    assert n > 1
    assert todo[0, 0] == 0
    assert todo[n - 1, 1] == len(members)
    assert np.array_equal(todo[1:n, 0], todo[: n - 1, 1])
    for a, b, _ in todo[:n]:
        assert set(members[a:b].tolist()) == {0, 1}
        assert b - a >= 2 * cuts.MANY


def test_points_lie_in_the_first_box_that_holds_them() -> None:
    rng = np.random.default_rng(3)
    low = rng.integers(0, 8, (12, 3))
    sides = np.stack([low, low + rng.integers(0, 4, (12, 3))], axis=2).reshape(12, 6)
    starts, points = np.array([0, 5, 5, 12]), rng.integers(0, 10, (200, 3))
    lists = rng.integers(-1, 3, 200)
    found = first_boxes(sides, starts, points, lists)
    for p, which, box in zip(points.tolist(), lists.tolist(), found.tolist(), strict=True):
        own = range(starts[which], starts[which + 1]) if which >= 0 else range(0)
        holding = [b for b in own if all(sides[b, 2 * a] <= p[a] <= sides[b, 2 * a + 1] for a in range(3))]
        assert box == (holding[0] if holding else -1)
    assert (found >= 0).any()
