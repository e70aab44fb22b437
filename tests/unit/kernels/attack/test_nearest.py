"""The kernels of the attacks against plain loops."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.attack.tables.candidates import Candidates
from tests.unit.attack.tables.views import slow_distance, view_of


@pytest.fixture(params=["labels", "plain"])
def view(request):
    return view_of(request.param)


@pytest.mark.parametrize("cover_only", [False, True])
def test_distances_and_ties(view, cover_only):
    slow = np.array([[slow_distance(view, p, r, cover_only) for r in range(40)] for p in range(len(view.original))])
    own = np.arange(50) % 40
    own[7] = -1
    found = Candidates(view).least(view.original, own, cover_only=cover_only)
    np.testing.assert_allclose(found.distances, slow.min(axis=1), atol=2e-3)
    ties = np.sum(slow <= slow.min(axis=1, keepdims=True) + 1e-6, axis=1)
    np.testing.assert_array_equal(found.ties, ties)
    expected = slow[np.arange(50), own] <= slow.min(axis=1) + 1e-6
    expected[7] = False
    np.testing.assert_array_equal(found.is_own, expected)

    secret = np.arange(40, dtype=np.int64) % 7
    for part, least, counts in Candidates(view).counts(view.original, secret, 7, cover_only=cover_only):
        assert (part.start, part.stop) == (0, 50)
        np.testing.assert_allclose(least, slow.min(axis=1), atol=2e-3)
        for p in range(50):
            near = slow[p] <= slow[p].min() + 1e-6
            np.testing.assert_array_equal(counts[p], np.bincount(secret[near], minlength=7))
