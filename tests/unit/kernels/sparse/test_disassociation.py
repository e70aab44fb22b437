"""Records are cut into clusters of k, items into chunks that are k^m-anonymous, and subrecords dealt one a record."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from shoal.data.sparse.records import Sparse
from shoal.kernels.sparse.disassociation import cut_chunks, cut_clusters
from tests.unit.sparse.slow_combinations import random_lists, rare, sets_of


def records(seed: int, n: int) -> Sparse:
    made = Sparse.of(random_lists(np.random.default_rng(seed), n, 12, 6))
    return made.take(np.flatnonzero(made.sizes > 0))


@pytest.mark.parametrize("n_owners", [60, 20])
def test_clusters_have_records_of_k_owners_and_every_record_is_in_one(n_owners: int) -> None:
    made = records(1, 60)
    owners = np.sort(np.arange(len(made)) % n_owners)
    order, begins = cut_clusters(made.starts, made.items, owners, made.n_items, 3, 8)
    assert sorted(order.tolist()) == list(range(len(made)))
    assert begins[0] == 0
    assert begins[-1] == len(made)
    for low, high in pairwise(begins.tolist()):
        assert len(set(owners[order[low:high]].tolist())) >= 3
    assert np.diff(begins).max() <= 8 or n_owners < len(made)


def test_the_most_frequent_item_cuts_first() -> None:
    made = Sparse.of([["a"], ["b"], ["a", "b"], ["a", "c"], ["c"], ["a"]])
    order, begins = cut_clusters(made.starts, made.items, np.arange(6), made.n_items, 2, 4)
    assert order.tolist() == [0, 2, 3, 5, 1, 4]
    assert begins.tolist() == [0, 4, 6]
    alike = Sparse.of([["a"]] * 6)
    assert cut_clusters(alike.starts, alike.items, np.arange(6), 1, 2, 4)[1].tolist() == [0, 3, 6]


@pytest.mark.parametrize("m", [1, 2, 3])
def test_chunks_hold_no_rare_combination(m: int) -> None:
    made = records(m, 50)
    bounds = np.array([0, 20, len(made)])
    is_open = made.items != 2
    chunk = cut_chunks(made.starts, made.items, np.arange(len(made)), bounds, is_open, made.n_items, 3, m, 7)
    owners = np.repeat(np.arange(len(made)), made.sizes)
    assert (chunk[~is_open] < 0).all()
    for number in np.unique(chunk[chunk >= 0]).tolist():
        rows = [
            frozenset(made.names[i] for i in made.items[(owners == r) & (chunk == number)]) for r in range(len(made))
        ]
        assert not rare(rows, 3, m)
        in_second = owners[chunk == number] >= 20
        assert in_second.all() or not in_second.any()
    assert set(np.unique(chunk).tolist()) <= {-1, *range(7, 30)}
    for low, high in ((0, 20), (20, len(made))):  # what is in no chunk is rare, or not open
        held = sets_of(made.take(np.arange(low, high)))
        here = (owners >= low) & (owners < high) & (chunk < 0) & is_open
        assert all(sum(made.names[i] in row for row in held) < 3 for i in made.items[here].tolist())
