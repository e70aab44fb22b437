"""The tests of `attack/trajectories/next_piece.py`."""

from __future__ import annotations

import numpy as np

from shoal.attack.trajectories.case import TrajectoryCase
from shoal.attack.trajectories.next_piece import NextPiece, next_pieces
from shoal.attack.trajectories.others import FEWEST
from shoal.data.trajectories.boxes import TrajectoryBoxes
from shoal.data.trajectories.grid import Grid3D
from shoal.data.trajectories.pieces import in_pieces
from shoal.data.trajectories.trajectories import Trajectories

GRID = Grid3D(0.001, 120)


def walkers(n: int, north: float) -> Trajectories:
    """Persons far from each other, each of whom goes on to the north in two pieces of two points."""
    lat = np.concatenate([north + 0.1 * i + 0.002 * np.arange(4) for i in range(n)])
    return in_pieces(
        Trajectories.of(lat, np.full(4 * n, 5.0), np.tile([0, 60, 120, 180], n), np.arange(n).repeat(4)), 2
    )


def boxes_of(data: Trajectories) -> TrajectoryBoxes:
    """Every piece published as it is."""
    cells = GRID.cells(data.latitude, data.longitude, data.time)
    two = np.full(len(data), 2)
    return TrajectoryBoxes(np.repeat(cells, 2, axis=1), np.ones(len(cells), np.int64), data.starts, two, two, GRID)


def test_what_goes_on_as_before_is_found_and_others_are_not() -> None:
    data, others = walkers(25, 10.0), walkers(25, 10.05)
    case = TrajectoryCase(boxes_of(data), data, others)
    attack = NextPiece()
    assert attack.missing(case) is None
    found = attack.run(case, np.random.default_rng(0))
    assert found.control is not None
    assert (found.main.value, found.control.value) == (1.0, 0.0)
    assert found.admitted == 0.0  # nothing is promised of several pieces
    assert found.succeeds


def test_it_needs_pieces_and_others() -> None:
    data = walkers(FEWEST - 1, 10.0)
    assert "at least 20 pairs" in str(NextPiece().missing(TrajectoryCase(boxes_of(data), data, data)))
    assert "at least 20 pairs" in str(NextPiece().missing(TrajectoryCase(boxes_of(data), data)))
    trips = Trajectories.of([1.0, 2.0], [1.0, 1.0], [0, 9], ["a", "a"])
    assert NextPiece().missing(TrajectoryCase(boxes_of(data), trips)) == "Whole trips were published, not pieces."


def test_pairs_are_of_one_trip_and_follow_one_another() -> None:
    pieces = in_pieces(Trajectories.of([1.0] * 5, [1.0] * 5, [0, 130, 900, 0, 130], list("aaabb")), 2)
    assert next_pieces(pieces).tolist() == [[0, 1], [1, 2], [3, 4]]
