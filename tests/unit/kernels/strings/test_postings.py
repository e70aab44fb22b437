"""Passes by postings give the very groups of the plain passes."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.kernels.strings.groups import nearest_groups, pass_around
from shoal.kernels.strings.postings import nearest_by_postings, pass_by_postings
from shoal.strings.groups import order_members, postings
from shoal.strings.templates import convert_lengths
from tests.unit.kernels.strings.test_groups import flat, some_strings, sparse

NONE = np.zeros(0, np.int64)


@pytest.mark.parametrize("n_symbols", [3, 40, 4000])
@pytest.mark.parametrize("shortest", [3, 7])
@pytest.mark.parametrize("seed", range(3))
def test_the_same_groups_as_by_plain_passes(seed: int, shortest: int, n_symbols: int) -> None:
    """Few symbols, so that ties abound; many, so that most templates share nothing."""
    templates = convert_lengths(*flat(some_strings(seed, 143, shortest, 7, n_symbols)))
    arrays, k = sparse(templates), 6
    by_feature = postings(templates)
    order = np.random.default_rng(seed).permutation(143)
    labels = pass_around(arrays, k, order, NONE, NONE)
    assert pass_by_postings(arrays, by_feature, k, order, NONE, NONE).tolist() == labels.tolist()
    rows = np.flatnonzero(labels >= 0)
    members, starts = order_members(labels[rows], 23)
    members = rows[members]
    later = pass_around(arrays, k, NONE, members, starts)
    assert pass_by_postings(arrays, by_feature, k, NONE, members, starts).tolist() == later.tolist()
    labels = np.where(labels < 0, 4, labels).astype(np.int32)
    members, starts = order_members(labels, 23)
    near = nearest_groups(arrays, members, starts, labels, np.arange(143), 3)
    assert nearest_by_postings(arrays, by_feature, members, starts, labels, 3).tolist() == near.tolist()


def test_of_too_few_groups_some_places_stay_empty() -> None:
    templates = convert_lengths(*flat(some_strings(1, 12, 4, 4, 900)))
    labels = (np.arange(12) % 2).astype(np.int32)
    near = nearest_by_postings(sparse(templates), postings(templates), *order_members(labels, 2), labels, 3)
    assert near.tolist() == [[1 - label, -1, -1] for label in labels.tolist()]
