"""Whatever the records, what is published is k^m-anonymous by brute force, in every way that there is."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import shoal
from shoal.check.sparse.km_folder import one_a_person
from shoal.data.sparse.disassociated import Disassociated
from shoal.data.sparse.records import Sparse
from shoal.data.tables.hierarchy import Hierarchy
from shoal.errors import Infeasible
from shoal.kinds.sparse.policy import SparsePolicy
from tests.unit.sparse.slow_combinations import fewest_that_may_hold, rare, sets_of

ITEMS = [f"i{j}" for j in range(8)]
TREE = Hierarchy(tuple((item, f"g{j // 2}", f"h{j // 4}", "*") for j, item in enumerate(ITEMS)))
FEW = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
BASKETS = st.lists(st.lists(st.sampled_from(ITEMS), max_size=5, unique=True), min_size=1, max_size=40)


@example(baskets=[["i0"]], k=2, m=1, how={"publish": "generalise", "item_hierarchy": TREE})
@example(baskets=[["i0", "i1"]] * 4, k=4, m=3, how={"publish": "disassociate"})
@FEW
@given(
    baskets=BASKETS,
    k=st.integers(2, 4),
    m=st.integers(1, 3),
    how=st.sampled_from(
        [
            {"publish": "suppress"},
            {"publish": "suppress", "scope": "items"},
            {"publish": "generalise", "item_hierarchy": TREE},
            {"publish": "disassociate"},
        ]
    ),
)
def test_every_release_is_anonymous(baskets, k: int, m: int, how) -> None:
    try:
        release = shoal.anonymize(baskets, SparsePolicy.of(k=k, m=m, **how))
    except Infeasible:
        return
    assert all(g.holds for g in release.guarantees)
    published = release.published
    if not isinstance(published, Disassociated):
        assert not rare(sets_of(published), k, m)
        return
    shown, clusters = set(published.names), release._evidence.clusters
    for row, cluster in zip(map(frozenset, baskets), np.asarray(clusters).tolist(), strict=True):
        for size in range(1, m + 1):
            for known in combinations(sorted(row & shown), size):
                assert fewest_that_may_hold(published, cluster, frozenset(known)) >= k


@FEW
@given(
    visits=st.lists(
        st.tuples(st.integers(0, 7), st.lists(st.sampled_from(ITEMS[:5]), max_size=3, unique=True)),
        min_size=1,
        max_size=40,
    ),
    k=st.integers(2, 3),
    m=st.integers(1, 3),
    publish=st.sampled_from(["suppress", "disassociate"]),
)
def test_any_items_of_a_persons_visits_fit_k_persons(visits, k: int, m: int, publish: str) -> None:
    persons = [person for person, _ in visits]
    records = Sparse.of([items for _, items in visits]).with_persons(persons)
    held = {person: frozenset(i for p, items in visits if p == person for i in items) for person in persons}
    assert sorted(map(sorted, sets_of(records.joined()))) == sorted(map(sorted, held.values()))
    assert sets_of(one_a_person(records)) == sets_of(records.joined())
    try:
        release = shoal.anonymize(records, SparsePolicy.of(k=k, m=m, publish=publish))
    except Infeasible:
        return
    assert release.records["in"] == len(held)
    shown = sets_of(release.baskets)
    assert len(shown) <= len(held)
    if publish == "suppress":
        assert not rare(shown, k, m)
        for size in range(1, m + 1):
            for known in combinations(ITEMS[:5], size):
                fitting = [p for p, items in held.items() if set(known) <= items]
                assert sum(set(known) <= row for row in shown) <= len(fitting)
