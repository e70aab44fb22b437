"""The tests of `data/trajectories/pieces.py`."""

from __future__ import annotations

import numpy as np

from shoal.data.trajectories.pieces import in_pieces, whole_trips
from shoal.data.trajectories.trajectories import Trajectories


def trips(seed: int = 0) -> Trajectories:
    rng = np.random.default_rng(seed)
    n = 60
    trip = rng.integers(0, 8, n)
    return Trajectories.of(rng.random(n), rng.random(n), rng.integers(0, 3600, n), trip, trip // 2)


def test_pieces_are_cut_where_the_clock_says_and_nowhere_else() -> None:
    data = trips()
    cut = in_pieces(data, 5)
    wanted = [
        (int(data.persons[i]), i, window)
        for i in range(len(data))
        for window in dict.fromkeys((data.time[data.starts[i] : data.starts[i + 1]] // 300).tolist())
    ]
    assert cut.trips is not None
    windows = (cut.time[cut.starts[:-1]] // 300).tolist()
    assert list(zip(cut.persons.tolist(), cut.trips.tolist(), windows, strict=True)) == wanted
    assert np.array_equal(cut.time, data.time)


def test_pieces_in_any_order_are_whole_again() -> None:
    data = trips(1)
    cut = in_pieces(data, 2)
    mixed = cut.take(np.random.default_rng(2).permutation(len(cut)))
    for made in (whole_trips(cut), whole_trips(mixed), whole_trips(in_pieces(mixed, 7))):
        assert made.trips is None
        assert all(
            np.array_equal(getattr(made, n), getattr(data, n)) for n in ("latitude", "time", "starts", "persons")
        )
    assert whole_trips(data) is data
    assert len(in_pieces(cut, 1440)) == len(data)
