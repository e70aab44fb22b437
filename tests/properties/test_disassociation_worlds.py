"""What disassociated records may have been, all of it, one possible world after another.

The definition of k^m-anonymity that the paper gives (Terrovitis et al., PVLDB 2012, section 3) is about these worlds:
whatever up to m items of a record somebody knows, there is one in which at least k records hold them. Here they are
listed, for data of a few records, from what is published alone. Records of a cluster that nothing tells apart are not
told apart here either.
"""

from __future__ import annotations

from itertools import combinations, permutations, product

import numpy as np
from hypothesis import HealthCheck, assume, event, example, given, settings
from hypothesis import strategies as st

import shoal
from shoal.check.sparse.km import KMAsked, KMEvidence, verify_km
from shoal.data.sparse.disassociated import Disassociated
from shoal.errors import Infeasible
from shoal.kinds.sparse.policy import SparsePolicy

FEW = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much]
)
MOST_WORLDS = 20_000
Record = frozenset[str]
World = tuple[tuple[Record, ...], ...]  # the records of each cluster


def _alike(clusters: list[list[Record]]) -> World:
    return tuple(tuple(sorted(records, key=sorted)) for records in clusters)


def _more(world: World, lines: list[Record], first: int, last: int, is_terms: bool) -> set[World]:
    """The worlds in which a chunk's lines were given to records of these clusters."""
    places = [(c, i) for c in range(first, last + 1) for i in range(len(world[c]))]
    if is_terms:  # each term to some of them, at least one
        some = [s for n in range(1, len(places) + 1) for s in combinations(places, n)]
        given_to = [
            [(place, frozenset([term])) for term, own in zip(sorted(lines[0]), chosen, strict=True) for place in own]
            for chosen in product(some, repeat=len(lines[0]))
        ]
    else:  # one a record at most
        given_to = [list(zip(chosen, lines, strict=True)) for chosen in permutations(places, len(lines))]
    found = set()
    for dealt in given_to:
        records = [list(cluster) for cluster in world]
        for (c, i), items in dealt:
            records[c][i] |= items
        found.add(_alike(records))
    return found


def possible_worlds(published: Disassociated) -> set[World]:
    """All records that the release may have been made of; none of them is empty."""
    worlds = {_alike([[frozenset()] * n for n in published.sizes.tolist()])}
    for chunk in range(len(published.firsts)):
        lines = [
            frozenset(published.names[i] for i in published.items[published.starts[n] : published.starts[n + 1]])
            for n in range(published.chunk_starts[chunk], published.chunk_starts[chunk + 1])
        ]
        span = (int(published.firsts[chunk]), int(published.lasts[chunk]), bool(published.is_terms[chunk]))
        worlds = set().union(*(_more(world, lines, *span) for world in worlds))
        assume(len(worlds) <= MOST_WORLDS)
    return {world for world in worlds if all(all(cluster) for cluster in world)}


def fewest_of_a_cluster(worlds: set[World], cluster: int, known: Record) -> int:
    """In how many records of a cluster known items stand, in the world of most."""
    return max((sum(known <= record for record in world[cluster]) for world in worlds), default=0)


def _known(record: Record, m: int) -> list[Record]:
    return [frozenset(s) for size in range(1, m + 1) for s in combinations(sorted(record), size)]


@example(baskets=["ab", "ab", "c", "c"], k=2, m=2)
@example(baskets=["ab", "a", "b", "c", "ac", "bc"], k=2, m=2)
@FEW
@given(
    baskets=st.lists(st.sets(st.sampled_from("abcd"), min_size=1, max_size=3), min_size=4, max_size=7),
    k=st.integers(2, 3),
    m=st.integers(1, 3),
)
def test_whatever_is_known_fits_k_records_of_a_world(baskets, k: int, m: int) -> None:
    try:
        policy = SparsePolicy.of(k=k, m=m, publish="disassociate", cluster_size=2 * k)
        release = shoal.anonymize([sorted(b) for b in baskets], policy)
    except Infeasible:
        return
    published = release.published
    assert isinstance(published, Disassociated)
    worlds = possible_worlds(published)
    clusters, shown = np.asarray(release._evidence.clusters), set(published.names)
    kept = [frozenset(b) & shown for b in baskets]
    truth = [[kept[row] for row in np.flatnonzero(clusters == c)] for c in range(published.n_clusters)]
    assert _alike(truth) in worlds, "the originals are no possible world of what is published"
    event(f"{published.n_clusters} clusters, shared: {bool((published.firsts < published.lasts).any())}")
    for cluster, records in enumerate(truth):
        for known in {s for record in records for s in _known(record, m)}:
            assert fewest_of_a_cluster(worlds, cluster, known) >= k


@st.composite
def releases(draw) -> Disassociated:
    """Clusters and chunks as anybody may have put them together, right or wrong."""
    sizes = draw(st.lists(st.integers(1, 4), min_size=1, max_size=2))
    line = st.sets(st.sampled_from("abcd"), min_size=1, max_size=3)
    several = st.tuples(line, st.integers(1, 4)).map(lambda drawn: [drawn[0]] * drawn[1])
    subrecords = st.one_of(several, st.lists(line, min_size=1, max_size=4))
    chunks = []
    for first in range(len(sizes)):
        for _ in range(draw(st.integers(0, 2))):
            chunks.append((first, first, False, draw(subrecords)))
        if draw(st.booleans()):
            chunks.append((first, first, True, [draw(st.sets(st.sampled_from("abcd"), min_size=1, max_size=2))]))
    if len(sizes) > 1 and draw(st.booleans()):
        chunks.append((0, 1, False, draw(subrecords)))
    assume({first for first, last, *_ in chunks if first == last} == set(range(len(sizes))))
    lines = [sorted(line) for *_, own in chunks for line in own]
    names = sorted(set().union(*map(set, lines)))
    bounds = np.cumsum([0, *(len(own) for *_, own in chunks)])
    return Disassociated(
        np.array(sizes),
        np.array([c[0] for c in chunks]),
        np.array([c[1] for c in chunks]),
        np.array([c[2] for c in chunks]),
        bounds.astype(np.int64),
        np.cumsum([0, *map(len, lines)]).astype(np.int64),
        np.array([names.index(i) for line in lines for i in line], np.int32),
        tuple(names),
    )


@settings(FEW, max_examples=300)
@given(published=releases(), k=st.integers(2, 3), m=st.integers(1, 3))
def test_what_passes_the_check_fits_k_records_of_a_world(published: Disassociated, k: int, m: int) -> None:
    verdict = verify_km(published, KMAsked(k, m), KMEvidence())
    passed = all(g.holds for g in verdict.guarantees)
    event("passed" if passed else "refused")
    if not passed:
        return
    worlds = possible_worlds(published)
    assert worlds, "nothing can be what such a release was made of"
    for cluster in range(published.n_clusters):
        possible = {record for world in worlds for record in world[cluster]}
        for known in {s for record in possible for s in _known(record, m)}:
            assert fewest_of_a_cluster(worlds, cluster, known) >= k
