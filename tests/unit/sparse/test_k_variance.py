"""Numbers of components under k-variance anonymity."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.data.sparse.records import Sparse
from shoal.kernels.sparse.edges import ANY
from shoal.sparse import k_variance as module
from shoal.sparse.k_variance import Edges, edges_of, k_variance_counts


def edges(neighbours, allowed):
    return Edges(np.array(neighbours, np.int32), np.array(allowed, np.int32))


def n_violated(asked, counts):
    """How many edges the counts violate."""
    there = asked.neighbours >= 0
    shared = np.minimum(counts[:, None], counts[np.where(there, asked.neighbours, 0)])
    return int((there & (shared > asked.allowed)).sum())


def draw(n, k, most, seed):
    rng = np.random.default_rng(seed)
    neighbours = [rng.permutation(np.delete(np.arange(n), q))[:k] for q in range(n)]
    return edges(neighbours, rng.integers(0, most, (n, k))), rng.random(n), rng.integers(0, 2 * most, n)


def test_the_farther_record_pays_and_the_nearer_keeps_its_cap():
    both = edges([[1], [0]], [[5], [5]])
    assert k_variance_counts(both, np.array([0.9, 0.1]), np.array([20, 30]))[0].tolist() == [5, 30]
    assert k_variance_counts(both, np.array([0.1, 0.9]), np.array([20, 30]))[0].tolist() == [20, 5]
    # Of equal distances the first row goes first.
    assert k_variance_counts(both, np.array([0.5, 0.5]), np.array([20, 30]))[0].tolist() == [5, 30]


def test_suppressed_records_satisfy_their_edges():
    counts, _ = k_variance_counts(edges([[1], [0]], [[0], [0]]), np.array([0.9, 0.1]), np.array([20, 30]))
    assert counts.tolist() == [0, 30]


def test_missing_and_unlimited_neighbours_leave_the_caps():
    counts, n_passes = k_variance_counts(edges([[-1], [0]], [[0], [ANY]]), np.zeros(2), np.array([20, 30]))
    assert counts.tolist() == [20, 30]
    assert n_passes == 1


def test_a_ring_that_never_settles_ends_without_a_violated_edge():
    # Each gets 5 while the next has more, and more once it has 5: of three in a ring, never all at rest.
    ring = edges([[1], [2], [0]], [[5], [5], [5]])
    counts, n_passes = k_variance_counts(ring, np.array([3.0, 2.0, 1.0]), np.full(3, 9), max_passes=7)
    assert n_passes == 7
    assert n_violated(ring, counts) == 0
    assert sorted(counts.tolist()) == [5, 5, 9]


@pytest.mark.parametrize("max_passes", [0, 1, 2, 50])
def test_no_edge_is_violated_however_early_passes_end(max_passes):
    for seed in range(40):
        graph, distances, caps = draw(30, 4, 12, seed)
        counts, n_passes = k_variance_counts(graph, distances, caps, max_passes=max_passes)
        assert n_violated(graph, counts) == 0
        assert (counts <= caps).all()
        assert n_passes <= max_passes


def strict_counts(edges, caps):
    """The order-free, stricter answer: the least that any of its own edges allows, whatever the neighbour has."""
    least = np.where(edges.neighbours >= 0, edges.allowed, ANY).min(axis=1, initial=ANY)
    return np.minimum(caps, least)


def test_settled_counts_are_the_largest_and_never_below_the_strict_ones():
    n_settled = 0
    for seed in range(60):
        graph, distances, caps = draw(30, 4, 12, seed)
        strict = strict_counts(graph, caps)
        assert n_violated(graph, strict) == 0
        counts, n_passes = k_variance_counts(graph, distances, caps)
        if n_passes == module.MAX_PASSES:
            continue
        n_settled += 1
        assert (counts >= strict).all()
        assert counts.sum() > strict.sum()
        for q in np.flatnonzero(counts < caps):
            # One more would break an edge of its own.
            more = counts.copy()
            more[q] += 1
            assert n_violated(graph, more) > 0
    assert n_settled > 40


def test_a_tolerance_ends_sooner():
    graph, distances, caps = draw(200, 4, 12, 1)
    _, exact = k_variance_counts(graph, distances, caps)
    counts, early = k_variance_counts(graph, distances, caps, tolerance=0.2)
    assert early < exact
    assert n_violated(graph, counts) == 0


def test_violations_are_counted():
    assert n_violated(edges([[1], [2], [-1]], [[5], [3], [0]]), np.array([6, 6, 4])) == 2


def test_edges_in_blocks_equal_edges_at_once(monkeypatch):
    rng = np.random.default_rng(0)
    records = Sparse.of([{str(i): float(rng.normal()) for i in rng.choice(40, 6, replace=False)} for _ in range(50)])
    neighbours = np.array([rng.permutation(np.delete(np.arange(50), q))[:4] for q in range(50)], np.int32)
    whole = edges_of(records, neighbours).allowed
    monkeypatch.setattr(module, "_BLOCK_EDGES", 7)
    assert (edges_of(records, neighbours).allowed == whole).all()
    assert len(np.unique(whole)) > 3


def test_readings_for_sets_of_ten_with_five_in_common():
    records = Sparse.of([[*"abcdefghij"], [*"fghijklmno"]])
    neighbours = np.array([[1], [0]], np.int32)

    def allowed(threshold, variance):
        return edges_of(records, neighbours, threshold, variance).allowed[0, 0]

    # Paper: 100 - 25 = 75; exact: 100 + 25 - 10 = 115; threshold^2: 5 or 25. Ties give one less.
    assert allowed("sqrt", "paper") == 14
    assert allowed("sqrt", "exact") == 22
    assert allowed("sqrt", "smaller") == 14
    assert allowed("difference", "paper") == 2
    assert allowed("difference", "exact") == 4


def test_smaller_is_safe_where_signs_are_mixed():
    # x.y = 0 though they share all: the exact variance is 4 + 0 - 4 = 0, so not one component is safe.
    records = Sparse.of([{"a": 1, "b": 1}, {"a": 1, "b": -1}])
    for variance, expected in (("paper", 1), ("exact", 0), ("smaller", 0)):
        got = edges_of(records, np.array([[1], [0]], np.int32), "sqrt", variance).allowed.ravel()
        assert got.tolist() == [expected, expected]
