"""What the attacks' kernels find, interpreted and compiled: the same, to the last digit."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.attack.tables.candidates import Candidates
from shoal.kernels.attack.label_table import ROUNDING
from shoal.kernels.attack.nearest import _tie, find_nearest
from shoal.kernels.attack.nearest_by_arrays import _tied
from shoal.kernels.compile import interpreted
from tests.unit.attack.tables.views import view_of


@pytest.fixture(params=["labels", "plain"])
def view(request):
    return view_of(request.param)


@pytest.mark.parametrize("cover_only", [False, True])
def test_interpreted_it_finds_the_same(view, cover_only):
    def found():
        least = Candidates(view).least(view.original, np.arange(50) % 40, cover_only=cover_only)
        counts = Candidates(view).counts(view.original, np.arange(40, dtype=np.int64) % 7, 7, cover_only=cover_only)
        return [least.distances, least.ties, least.is_own, *(part for _, *parts in counts for part in parts)]

    with interpreted(True):
        by_numpy = found()
    for ours, theirs in zip(by_numpy, found(), strict=True):
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("n_nearest", [1, 3, 12])
@pytest.mark.parametrize("n_owners", [40, 12])
def test_interpreted_the_same_records_are_nearest(view, n_nearest, n_owners):
    rng = np.random.default_rng(n_owners)
    candidates = Candidates(view)
    labels = candidates._labels_of(rng.permutation(len(candidates.box_of)))
    owners = np.arange(len(labels)) % n_owners
    asked = candidates._people(view.original)
    results = []
    for is_small in (True, False):
        found, distances = np.empty((len(asked), n_nearest), np.int64), np.empty((len(asked), n_nearest))
        with interpreted(is_small):
            find_nearest(candidates._table, asked, labels, owners, 0.5, found, distances, candidates._terms)
        results.append((found.tolist(), distances.tolist()))
        assert all(len(set(owners[row])) == n_nearest for row in found)
    assert results[0] == results[1]


def test_ties_by_rounding_are_taken_as_they_come():
    """Distances that differ by less than rounding: how near the nearest is depends on which comes first."""
    near = np.array([[1.5, 0.6, 0.0, 9.0], [0.0, 0.6, 1.5, 2.5], [3.0, 1.0, 3.0, 1.0]]) * ROUNDING + 1.0
    least, tied = _tied(near, np.zeros((0, 1), np.uint64), np.zeros((3, 0), np.int32))
    assert ((least - 1.0) / ROUNDING).round(1).tolist() == [0.0, 0.0, 1.0]
    assert [np.flatnonzero(row).tolist() for row in tied] == [[2], [0, 1], [1, 3]]
    for row, found, at in zip(near, tied, least, strict=True):
        bound, boxes = np.inf, np.empty(4, np.int64)
        n_tied = 0
        for box, distance in enumerate(row):
            bound, n_tied = _tie(box, distance, bound, boxes, n_tied)
        assert (bound, boxes[:n_tied].tolist()) == (at, np.flatnonzero(found).tolist())
