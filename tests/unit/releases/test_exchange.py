"""New groups after moves and swaps between near ones."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.data.tables.frames import from_frame
from shoal.data.tables.meaning import attributes_of
from shoal.kinds.tables.policy import Policy
from shoal.releases.exchange import exchanged
from shoal.tables.encoding import rank
from shoal.tables.information_loss import information_loss


def vectors(columns):
    table = from_frame(columns)
    attributes = attributes_of(table, Policy.of(quasi=list(columns), k=2))
    return [rank(table[n], attributes[n]) for n in columns]


@pytest.mark.parametrize("size", [2, 3, 5])
def test_groups_keep_their_size_and_lose_less(size):
    rng = np.random.default_rng(size)
    ranked = vectors({"age": rng.integers(0, 90, 120), "zip": rng.integers(0, 30, 120), "sex": rng.integers(0, 2, 120)})
    labels = np.minimum(rng.permutation(120) // size, 120 // size - 1)
    made = exchanged(ranked, labels, size)
    assert np.bincount(made).min() >= size
    assert len(np.unique(made)) == len(np.unique(labels))
    assert information_loss(ranked, made) < 0.7 * information_loss(ranked, labels)


def test_the_same_groups_whenever_it_is_asked_and_groups_that_are_best_stay():
    ranked = vectors({"age": np.repeat([1, 2, 50, 51], 3)})
    labels = np.repeat([0, 1], 6)
    made = exchanged(ranked, labels, 5)
    assert np.array_equal(made, exchanged(ranked, labels, 5))
    assert len(set(made[:6].tolist())) == len(set(made[6:].tolist())) == 1


def test_one_group_stays_one():
    assert exchanged(vectors({"age": np.arange(4)}), np.zeros(4, np.int32), 4).tolist() == [0, 0, 0, 0]
