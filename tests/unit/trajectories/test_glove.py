"""The tests of `trajectories/glove.py`."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.data.trajectories.grid import Grid3D
from shoal.data.trajectories.trajectories import Trajectories
from shoal.trajectories.glove import PRICES, Glove

GRID = Grid3D(0.001, 300)


def town(n_persons: int = 40, seed: int = 0, n_trips: int = 2) -> Trajectories:
    """Persons who go from one of a few homes to one of a few works and back, a point every few minutes."""
    rng = np.random.default_rng(seed)
    homes, works = (37.7 + 0.03 * rng.random((4, 2)) for _ in range(2))
    rows = []
    for person in range(n_persons):
        ends = homes[person % 4], works[person % 3]
        for trip in range(n_trips):
            start = 1_212_883_200 + 3600 * (8 + 9 * trip) + int(rng.integers(0, 1200))
            for i in range(int(rng.integers(3, 7))):
                share = i / 6 if trip == 0 else 1 - i / 6
                place = ends[0] + share * (ends[1] - ends[0]) + rng.normal(0, 0.0005, 2)
                rows.append((place[0], place[1] - 160.0, start + 180 * i, 10 * person + trip, person))
    return Trajectories.of(*(np.array(column) for column in zip(*rows, strict=True)))


def test_groups_do_not_depend_on_the_order_of_rows() -> None:
    data = town()
    method = Glove(3, 1000, 60, GRID)
    boxes, groups = method.group(data)
    order = np.random.default_rng(1).permutation(len(data))
    again, other = method.group(data.take(order))
    assert np.array_equal(boxes.sides, again.sides)
    assert np.array_equal(groups[order], other)


@pytest.mark.parametrize("k", [2, 5])
def test_every_person_of_a_group_is_in_every_box(k: int) -> None:
    data = town()
    boxes, groups = Glove(k, 1000, 60, GRID).group(data)
    cells = GRID.cells(data.latitude, data.longitude, data.time)
    assert boxes.n_trajectories >= 2
    for group in range(boxes.n_trajectories):
        members = np.flatnonzero(groups == group)
        assert len(set(data.persons[members].tolist())) == boxes.persons[group] >= k
        for low, high in [(b[::2], b[1::2]) for b in boxes.sides[boxes.starts[group] : boxes.starts[group + 1]]]:
            for member in members.tolist():
                own = cells[data.starts[member] : data.starts[member + 1]]
                assert ((low <= own) & (own <= high)).all(axis=1).any()


def test_boxes_are_smaller_where_more_points_may_be_left_out() -> None:
    data = town()
    spans = []
    for share in (0.0, 0.1, 0.4):
        boxes, _ = Glove(3, 20_000, 240, GRID, share).group(data)
        assert boxes.points.sum() >= (1 - share) * len(data.time)
        sizes = (boxes.sides[:, 1::2] - boxes.sides[:, ::2] + 1)[:, :2].max(axis=1)
        spans.append(float(np.average(sizes, weights=boxes.points)))
    assert spans[0] >= spans[1] >= spans[2]
    assert spans[0] > spans[2]
    assert (np.diff(PRICES) > 0).all()


def test_far_trajectories_are_left_out() -> None:
    data = Trajectories.of([0.0, 0.0, 10.0], [0.0, 0.0, 10.0], [0, 60, 0], ["a", "b", "c"])
    boxes, groups = Glove(2, 1000, 60, GRID).group(data)
    assert groups.tolist() == [0, 0, -1]
    nobody, none = Glove(3, 1000, 60, GRID).group(data)
    assert nobody.n_trajectories == 0
    assert none.tolist() == [-1, -1, -1]
    assert boxes.points.tolist() == [2]
