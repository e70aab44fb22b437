"""The tests of `kinds/trajectories/profile.py`."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import shoal
from shoal.data.trajectories.trajectories import Trajectories
from shoal.kind import read_policy
from shoal.kinds.trajectories.policy import TrajectoryPolicy
from shoal.shown import Grid


def test_a_profile_counts_and_proposes(tmp_path: Path) -> None:
    lat = np.array([1.0, 1.0, 1.2, 1.3])
    data = Trajectories.of(lat, lat, [0, 700, 9000, 0], ["a", "a", "a", "b"])
    found = shoal.profile(data)
    assert (found.n_trajectories, found.n_points, found.n_stops, found.n_gaps) == (2, 4, 1, 1)
    lines = found.shown()
    assert any(isinstance(line, Grid) for line in lines)
    assert "1 stops of ten minutes" in str(lines[1])
    told = found.to_dict()
    assert [len(of["singled_out"]) for of in told["unicity"]] == [4, 4]
    path = tmp_path / "policy.toml"
    path.write_text(found.to_toml())
    assert read_policy(path) == TrajectoryPolicy()
    named = shoal.profile(data, TrajectoryPolicy.of(person=("who",), trip="trip")).to_toml()
    assert 'person = ["who"]' in named
    assert 'trip = "trip"' in named
