"""The tests of `trajectories/k_tau_eps.py`: what is published is held against the definition, window by window."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.data.trajectories.boxes import TrajectoryBoxes
from shoal.data.trajectories.grid import Grid3D
from shoal.data.trajectories.trajectories import Trajectories
from shoal.trajectories.k_tau_eps import KTauEps, period_seconds

GRID = Grid3D(0.001, 300)


def walkers(n_persons: int, seed: int, hours: float = 2.5, missing: float = 0.1) -> Trajectories:
    """Persons who stroll around one place, some of whom are away for a while."""
    rng = np.random.default_rng(seed)
    times = np.arange(0, int(hours * 3600), 240)
    place = np.cumsum(rng.normal(0, 0.0015, (n_persons, len(times), 2)), axis=1) + rng.normal(
        0, 0.01, (n_persons, 1, 2)
    )
    away = rng.integers(0, len(times), n_persons)
    is_here = (np.abs(np.arange(len(times)) - away[:, None]) > 6) | (rng.random((n_persons, 1)) > missing)
    who, when = np.nonzero(is_here)
    lat, lon = place[who, when].T
    return Trajectories.of(37.7 + lat, 8 + lon, 1_212_883_200 + times[when] + rng.integers(0, 60, len(who)), who)


def slow_windows(boxes: TrajectoryBoxes, n_tau: int) -> tuple[int, int]:
    """Fewest candidates and most slots learned, by the definition."""
    lists = [
        {tuple(box) for box in boxes.sides[a:b].tolist()}
        for a, b in zip(boxes.starts[:-1].tolist(), boxes.starts[1:].tolist(), strict=True)
    ]
    fewest, most = len(lists), 0
    for start in range(int(boxes.sides[:, 4].min()) - n_tau + 1, int(boxes.sides[:, 5].max()) + 1):
        window = set(range(start, start + n_tau))
        seen = [frozenset(b for b in own if window & set(range(b[4], b[5] + 1))) for own in lists]
        for one in set(seen):  # those without a box are alike, too
            candidates = [own for own, s in zip(lists, seen, strict=True) if s == one]
            common = set.intersection(*candidates)
            learned = {slot for b in common for slot in range(b[4], b[5] + 1)} - window
            fewest, most = min(fewest, len(candidates)), max(most, len(learned))
    return fewest, most


@pytest.mark.parametrize(("k", "n_persons", "seed"), [(2, 24, 0), (2, 31, 1), (2, 40, 2), (3, 45, 3)])
def test_every_window_is_that_of_k_who_share_no_more_than_eps(k: int, n_persons: int, seed: int) -> None:
    data = walkers(n_persons, seed)
    boxes, groups = KTauEps(k, 30, 5000, 240, GRID).group(data)
    assert boxes.n_trajectories >= k * k
    fewest, most = slow_windows(boxes, 6)
    assert fewest >= k
    assert most <= 6
    assert sorted(groups[groups >= 0].tolist()) == list(range(boxes.n_trajectories))
    cells = GRID.cells(data.latitude, data.longitude, data.time)
    for person in np.flatnonzero(groups >= 0).tolist():
        own = cells[data.starts[person] : data.starts[person + 1]]
        for box in boxes.sides[boxes.starts[groups[person]] : boxes.starts[groups[person] + 1]]:
            assert ((box[::2] <= own) & (own <= box[1::2])).all(axis=1).any()


def test_too_few_persons_are_left_out() -> None:
    boxes, groups = KTauEps(2, 30, 5000, 240, GRID).group(walkers(3, 0))
    assert boxes.n_trajectories == 0
    assert (groups == -1).all()


def test_periods_are_whole_slots() -> None:
    assert period_seconds(30, GRID) == 1800
    assert period_seconds(1, GRID) == 300
