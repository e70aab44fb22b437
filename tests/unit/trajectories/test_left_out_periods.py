"""The tests of `trajectories/left_out_periods.py`: what is left is held against the definition, window by window."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.arrays import Ints
from shoal.data.trajectories.trajectories import Trajectories
from shoal.trajectories.k_tau_eps import KTauEps
from shoal.trajectories.left_out_periods import SharedPeriods
from tests.unit.trajectories.test_k_tau_eps import GRID, slow_windows

N_TAU = 3


def slow_failing(shared: SharedPeriods, tokens: Ints, k: int) -> bool:
    """Whether some window fails, by sets of (token, slot)."""
    held = [
        {(t, N_TAU * p + int(s)) for p, t in enumerate(own.tolist()) if t >= 0 for s in np.flatnonzero(shared.slots[t])}
        for own in tokens.T
    ]
    held = [own for own in held if own]
    for start in range(1 - N_TAU, N_TAU * len(tokens)):
        window = range(start, start + N_TAU)
        seen = [frozenset(t for t, slot in own if slot in window) for own in held]
        for one in set(seen):
            candidates = [own for own, s in zip(held, seen, strict=True) if s == one]
            learned = {slot for _, slot in set.intersection(*candidates)} - set(window)
            if len(candidates) < k or len(learned) > N_TAU:
                return True
    return False


@pytest.mark.parametrize("seed", range(20))
def test_nothing_fails_in_what_is_left(seed: int) -> None:
    rng = np.random.default_rng(seed)
    k, n_persons, n_periods = 2, 12, 4
    tokens = rng.integers(-1, 3, (n_periods, n_persons)) + 3 * np.arange(n_periods)[:, None]
    tokens[tokens < 3 * np.arange(n_periods)[:, None]] = -1
    slots = rng.random((3 * n_periods, N_TAU)) < 0.6
    slots[:, 1] |= ~slots.any(axis=1)
    shared = SharedPeriods(tokens, slots, np.arange(len(slots)))
    made = shared.thinned(k)
    assert ((made == tokens) | (made == -1)).all()
    assert not slow_failing(shared, made, k)


def test_what_holds_is_left_as_it_is() -> None:
    tokens = np.array([[0, 0, 0, 0, -1, -1], [1, 1, 2, 2, 1, 2]])
    slots = np.ones((3, N_TAU), bool)
    assert np.array_equal(SharedPeriods(tokens, slots, np.arange(3)).thinned(2)[0], tokens[0])
    alone = tokens[:, :5]
    assert (SharedPeriods(alone, slots, np.arange(3)).thinned(2)[0] == -1).all()


@pytest.mark.parametrize("seed", [18, 19, 34])
def test_who_came_late_alone_is_not_told_apart(seed: int) -> None:
    rng = np.random.default_rng(100 + seed)
    who = np.repeat(np.arange(14), 4)
    is_there = rng.random((14, 4)) < 0.85
    rows = np.flatnonzero(is_there.ravel())
    when = 1_212_912_000 + np.tile(np.arange(4) * 1800, 14) + rng.integers(0, 1800, 56)
    place = rng.integers(0, 3, (56, 2)) * 0.001
    data = Trajectories.of(*(10 + place[rows]).T, when[rows], who[rows])
    boxes, _ = KTauEps(2, 30, 5000, 240, GRID).group(data)
    if boxes.n_trajectories:
        fewest, most = slow_windows(boxes, 6)
        assert fewest >= 2
        assert most <= 6
