"""Disassociated records: k of a cluster may hold what is known of any of its records."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import numpy as np
import pytest

from shoal.data.sparse.records import Sparse
from shoal.sparse.disassociate import disassociate
from tests.unit.sparse.slow_combinations import fewest_that_may_hold, random_lists, sets_of

K = 3


def some(seed: int, n: int = 60, longest: int = 6, labels: bool = False) -> Sparse:
    made = Sparse.of(random_lists(np.random.default_rng(seed), n, 14, longest))
    return made.with_labels([f"c{i % 2}" for i in range(n)]) if labels else made


@pytest.mark.parametrize("m", [1, 2, 3])
@pytest.mark.parametrize("longest", [2, 6])
@pytest.mark.parametrize("labels", [False, True])
def test_whatever_m_items_are_known_k_records_may_hold_them(m: int, longest: int, labels: bool) -> None:
    for seed in range(3):
        records = some(seed, longest=longest, labels=labels)
        made = disassociate(records, K, m, 9)
        shown = set(made.published.names)
        for row, cluster in zip(sets_of(records), made.clusters.tolist(), strict=True):
            if cluster < 0:
                continue
            held = {i for i in row if any(i in names for names in [shown])}
            for size in range(1, m + 1):
                for known in combinations(sorted(held), size):
                    n = fewest_that_may_hold(made.published, cluster, frozenset(known))
                    # An item that too few of its class hold is left out, though others may show it.
                    assert n >= K or (labels and n == 0)


def test_every_record_with_an_item_of_k_is_in_a_cluster_of_its_class() -> None:
    records = some(4, labels=True)
    made = disassociate(records, K, 2, 9)
    assert np.bincount(made.clusters[made.clusters >= 0]).tolist() == made.published.sizes.tolist()
    assert made.published.sizes.min() >= K
    inside = made.clusters >= 0
    assert (made.published.labels[made.clusters[inside]] == records.labels[inside]).all()


def test_items_keep_their_supports_but_in_term_chunks() -> None:
    records = some(5)
    made = disassociate(records, K, 2, 12).published
    true = Counter(i for row in sets_of(records) for i in row)
    shown = Counter(i for row in sets_of(made.reconstructed(np.random.default_rng(0))) for i in row)
    in_terms = {
        made.names[i]
        for chunk in np.flatnonzero(made.is_terms)
        for i in made.items[made.starts[made.chunk_starts[chunk]] : made.starts[made.chunk_starts[chunk] + 1]]
    }
    assert all(shown[name] == true[name] for name in made.names if name not in in_terms)
    assert all(0 < shown[name] <= true[name] for name in in_terms)


def test_the_order_of_records_changes_nothing() -> None:
    records = some(6)
    order = np.random.default_rng(1).permutation(len(records))
    one, other = (disassociate(r, K, 2, 9).published for r in (records, records.take(order)))
    assert all(
        np.array_equal(getattr(one, n), getattr(other, n)) for n in ("sizes", "firsts", "lasts", "starts", "items")
    )


def test_owners_are_counted() -> None:
    records = some(7, n=80)
    owners = np.arange(80) // 2
    made = disassociate(records, K, 2, 12, owners=owners)
    for cluster in range(made.published.n_clusters):
        assert len(set(owners[made.clusters == cluster].tolist())) >= K


def test_fewer_than_k_records_are_nothing() -> None:
    assert not len(disassociate(Sparse.of([["a"], ["a"]]), 3, 2, 9).published)
