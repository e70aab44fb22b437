"""The tests of `kinds/trajectories/policy.py`."""

from __future__ import annotations

from pathlib import Path

import pytest

from shoal.errors import PolicyError
from shoal.kind import read_policy
from shoal.kinds.trajectories.policy import TrajectoryPolicy


def test_a_file_and_a_line_say_the_same(tmp_path: Path) -> None:
    path = tmp_path / "policy.toml"
    path.write_text(
        'kind = "trajectories"\n[input]\nperson = "user"\nunit = "person"\n[[require]]\nmodel = "k-anonymity"\nk = 3\n'
        "[method]\nmetres = 500\n"
    )
    assert read_policy(path) == TrajectoryPolicy.of(k=3, person=("user",), unit="person", metres=500)
    assert TrajectoryPolicy.of(slot=0.5).method.round_grid.slot == 30
    assert TrajectoryPolicy.of(trip="t").input.wanted.trip == "t"


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ({"metres": 0}, r"method\.metres"),
        ({"person": ("a", "b")}, "one column says whose"),
        ({"unit": "day"}, "unit cannot be 'day'"),
        ({"tau": 30}, 'unit = "person"'),
        ({"tau": 7, "unit": "person"}, "whole number of slots"),
        ({"tau": 30, "unit": "person", "piece": 2}, "leave one of both out"),
        ({"piece": 0}, r"method\.piece"),
        ({"require": ()}, "one guarantee is required"),
    ],
)
def test_what_cannot_be_is_refused(asked: dict[str, object], says: str) -> None:
    with pytest.raises(PolicyError, match=says):
        TrajectoryPolicy.of(**asked)
