"""The tests of `data/samples/town.py`."""

from __future__ import annotations

import numpy as np

from shoal.data.samples.town import MONDAY, town
from shoal.data.trajectories.trajectories import leg_metres


def test_a_town_is_the_same_for_a_seed_and_plausible() -> None:
    made, again, other = town(60), town(60), town(60, seed=1)
    assert np.array_equal(made.latitude, again.latitude)
    assert not np.array_equal(made.latitude[:10], other.latitude[:10])
    assert made.n_persons == 60
    assert np.bincount(made.persons).min() >= 2
    metres, is_leg = leg_metres(made)
    assert metres[is_leg].max() < 2000
    assert np.hypot(made.latitude - 49, made.longitude - 8).max() < 1
    assert made.time.min() > MONDAY
    assert len(town(10, n_days=2)) > len(town(10))
