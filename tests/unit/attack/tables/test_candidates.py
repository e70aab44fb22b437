"""The tests of `attack/tables/candidates.py`."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.attack.tables.candidates import Candidates
from tests.unit.attack.tables.views import slow_distance, view_of


@pytest.fixture(params=["labels", "plain"])
def view(request):
    return view_of(request.param)


def test_nearest_are_in_order(view):
    slow = np.array([[slow_distance(view, p, r, False) for r in range(40)] for p in range(50)])
    found = Candidates(view).nearest(view.original, 6, np.random.default_rng(1))
    assert all(len(set(row)) == 6 for row in found.tolist())
    np.testing.assert_allclose(np.take_along_axis(slow, found, axis=1), np.sort(slow, axis=1)[:, :6], atol=4e-3)


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
