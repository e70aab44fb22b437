"""The tests of `check/trajectories/windows.py`, against a slow twin."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.check.trajectories.windows import slide
from shoal.data.trajectories.boxes import TrajectoryBoxes
from shoal.data.trajectories.grid import Grid3D
from tests.unit.trajectories.test_k_tau_eps import slow_windows

GRID = Grid3D(0.001, 300)


def lists(*of_times: list[tuple[int, int, int]]) -> TrajectoryBoxes:
    """Lists of boxes, each by its place and its first and last slot."""
    sides = np.array([[p, p, 0, 0, a, b] for own in of_times for p, a, b in own])
    starts = np.concatenate([[0], np.cumsum([len(own) for own in of_times])])
    ones = np.ones(len(of_times), np.int64)
    return TrajectoryBoxes(sides, np.ones(len(sides), np.int64), starts, ones, ones, GRID)


def test_who_stands_alone_is_found() -> None:
    found = slide(lists([(1, 0, 1)], [(1, 0, 1)], [(2, 0, 1)]), 2, 2, 2)
    assert (found.fewest, found.n_few) == (1, 3)
    assert slide(lists([(1, 0, 1)], [(1, 0, 1)]), 2, 2, 2)[:2] == (2, 1)


def test_who_alone_has_no_box_in_a_window_is_found() -> None:
    others = [[(1, 0, 1), (3 + i % 2, 4, 5)] for i in range(4)]
    found = slide(lists(*others, [(3, 4, 5)]), 2, 2, 2)
    assert found.fewest == 1
    assert found.n_few > 0
    found = slide(lists(*others, [(3, 4, 5)], [(4, 4, 5)]), 2, 2, 2)
    assert (found.fewest, found.n_few) == (2, 0)


def test_what_all_candidates_share_besides_is_found_however_late() -> None:
    met_again = lists([(1, 0, 1), (3, 40, 45)], [(1, 0, 1), (3, 40, 45)])
    found = slide(met_again, 2, 2, 2)
    assert found.most_slots == 8  # where the window is between both
    assert found.n_long > 0
    apart = lists([(1, 0, 1), (3, 40, 45)], [(1, 0, 1), (4, 40, 45)])
    assert slide(apart, 2, 2, 2).n_few > 0
    assert [slide(boxes, 2, 2, 2)[:2] for boxes in (met_again, apart)] == [
        slow_windows(boxes, 2) for boxes in (met_again, apart)
    ]


@pytest.mark.parametrize("seed", range(6))
def test_windows_are_those_of_the_slow_twin(seed: int) -> None:
    rng = np.random.default_rng(seed)
    of_times = []
    for _ in range(6):
        firsts = np.sort(rng.choice(12, 4, replace=False))
        of_times.append([(int(rng.integers(2)), int(a), int(a + rng.integers(3))) for a in firsts])
    boxes = lists(*of_times)
    found = slide(boxes, 2, 3, 3)
    assert (found.fewest, found.most_slots) == slow_windows(boxes, 3)
