"""The tests of `attack/tables/candidates.py`."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.attack.tables import candidates
from shoal.attack.tables.candidates import Candidates
from shoal.attack.tables.cells import CellLabels, People, View
from tests.unit.attack.tables.views import slow_distance, view_of


@pytest.fixture(params=["labels", "plain"])
def view(request):
    return view_of(request.param)


def test_nearest_are_in_order(view):
    slow = np.array([[slow_distance(view, p, r, False) for r in range(40)] for p in range(50)])
    found = Candidates(view).nearest(view.original, 6, np.random.default_rng(1))
    assert all(len(set(row)) == 6 for row in found.tolist())
    np.testing.assert_allclose(np.take_along_axis(slow, found, axis=1), np.sort(slow, axis=1)[:, :6], atol=4e-3)


@pytest.mark.parametrize("persons", [None, np.arange(40) % 11])
def test_a_tree_of_points_finds_what_looking_at_all_finds(persons, monkeypatch):
    rng = np.random.default_rng(5)
    values = rng.integers(0, 6, (40, 3)).astype(float)
    people = rng.integers(0, 6, (50, 3)).astype(float)
    labels = []
    for column in values.T:
        low, codes = np.unique(column, return_inverse=True)
        low = np.append(low, np.inf)  # of a missing value, which none has
        ones, none = np.ones(len(low)), np.zeros(len(low), bool)
        labels.append(
            CellLabels(
                "x",
                codes.astype(np.int32),
                True,
                low,
                np.where(np.isinf(low), -low, low),
                ones,
                none,
                np.zeros(len(low) + 1, int),
                low[:0],
                6,
            )
        )
    known = [np.unique(column, return_inverse=True) for column in people.T]
    view = View(tuple(labels), People(tuple(v for v, _ in known), tuple(c for _, c in known)), None, None)
    own = rng.integers(-1, 11 if persons is not None else 40, 50)
    slow = Candidates(view, persons).least(people, own)
    monkeypatch.setattr(candidates, "MANY_POINTS", 1)
    monkeypatch.setattr(candidates, "find_least", None)
    fast = Candidates(view, persons).least(people, own)
    np.testing.assert_allclose(fast.distances, slow.distances, atol=1e-12)
    np.testing.assert_array_equal(fast.ties, slow.ties)
    np.testing.assert_array_equal(fast.is_own, slow.is_own)
    assert slow.ties.max() > 1
    assert slow.is_own.any()


def test_ties_fall_at_random(view):
    picks = {tuple(Candidates(view).nearest(view.original, 1, np.random.default_rng(s))[:, 0]) for s in range(5)}
    assert len(picks) == 5


def test_nearest_persons_are_in_order_each_by_its_nearest_record(view):
    persons = np.random.default_rng(3).integers(0, 11, 40)
    slow = np.array([[slow_distance(view, p, r, False) for r in range(40)] for p in range(50)])
    by_person = np.array([[slow[p, persons == who].min() for who in np.unique(persons)] for p in range(50)])
    found = Candidates(view, persons).nearest(view.original, 4, np.random.default_rng(1))
    assert all(len(set(persons[row].tolist())) == 4 for row in found)
    reached = np.take_along_axis(slow, found, axis=1)
    np.testing.assert_allclose(reached, np.sort(by_person, axis=1)[:, :4], atol=4e-3)
    every = Candidates(view, persons).nearest(view.original, 30, np.random.default_rng(1))
    assert every.shape == (50, len(np.unique(persons)))
    picks = {
        tuple(persons[Candidates(view, persons).nearest(view.original, 1, np.random.default_rng(s))[:, 0]])
        for s in range(5)
    }
    assert len(picks) > 1
