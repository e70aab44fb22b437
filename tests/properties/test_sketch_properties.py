"""What holds for sketches of any sparse records."""

from __future__ import annotations

from dataclasses import replace
from math import sqrt

import numpy as np
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from shoal.data.sparse.records import Sparse
from shoal.errors import Infeasible
from shoal.kinds.sparse.policy import SparsePolicy
from shoal.sparse.anonymize import anonymize_sparse
from shoal.sparse.delta import delta_counts
from shoal.sparse.signs import new_key
from shoal.sparse.sketch import Sketcher, sketch_records

KEY = new_key(1)
many = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
few = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
items = st.sampled_from("abcdefghij")
whole = st.integers(-3, 5).filter(bool)
real = st.sampled_from([0.1, 0.25, 0.3, 1.0, 1.7, -0.2, -1.5, 2.5])
sets = st.lists(st.dictionaries(items, st.just(1), max_size=8), min_size=1, max_size=14)
counts_of_items = st.lists(st.dictionaries(items, whole, max_size=8), min_size=1, max_size=14)
reals = st.lists(st.dictionaries(items, real, max_size=8), min_size=1, max_size=14)
rows_of_any_kind = st.one_of(sets, counts_of_items, reals)
policies = st.builds(
    lambda **asked: SparsePolicy.of(**asked),
    k=st.integers(1, 4),
    delta=st.sampled_from([0.05, 0.3, 1.0]),
    threshold=st.sampled_from(["sqrt", "difference"]),
    variance=st.sampled_from(["smaller", "paper", "exact"]),
    metric=st.sampled_from(["cosine", "euclidean"]),
    recovery_cap=st.booleans(),
    max_components=st.sampled_from([3, 128]),
)


def dense(records):
    matrix = np.zeros((len(records), max(1, records.n_items)))
    matrix[np.repeat(np.arange(len(records)), records.sizes), records.items] = records.weights
    return matrix


def deviation(x, y, n, variance):
    """Of the estimate of x.y from n components."""
    lengths = (x @ x) * (y @ y)
    paper = max(0.0, lengths - (x @ y) ** 2)
    exact = max(0.0, lengths + (x @ y) ** 2 - 2 * (x**2 @ y**2))
    return sqrt({"paper": paper, "exact": exact, "smaller": min(paper, exact)}[variance] / n)


@many
@given(rows_of_any_kind, policies)
def test_no_edge_is_ever_violated(rows, policy):
    records = Sparse.of(rows)
    try:
        made = anonymize_sparse(records, policy, KEY)
    except Infeasible:
        assert sum(map(bool, rows)) <= policy.k
        return
    matrix = dense(records)
    asked = policy.k_variance
    for q in np.flatnonzero(made.counts):
        neighbours = made.neighbours.indices[q]
        assert len(set(neighbours.tolist()) - {q, -1}) == policy.k
        for other in neighbours:
            shared = min(made.counts[q], made.counts[other])
            longest = sqrt((matrix[q] @ matrix[q]) * (matrix[other] @ matrix[other]))
            gap = longest - abs(matrix[q] @ matrix[other])
            if shared == 0 or gap <= 1e-12 * longest:
                continue
            needed = sqrt(gap) if asked.threshold == "sqrt" else gap
            assert deviation(matrix[q], matrix[other], shared, asked.variance) >= needed * (1 - 1e-9)
        # And the delta rule for every attribute, those it has not included.
        assert ((matrix[q] @ matrix[q] - matrix[q] ** 2) / made.counts[q] >= policy.delta * (1 - 1e-12)).all()


@many
@given(rows_of_any_kind, st.floats(0.01, 20))
def test_delta_rule_holds_for_every_attribute_and_gives_the_most(rows, delta):
    records = Sparse.of(rows)
    counts = delta_counts(records, delta)
    matrix = dense(records)
    for x, n in zip(matrix, counts, strict=True):
        least = (x @ x - x**2).min()
        if n:
            assert least / n >= delta * (1 - 1e-13)
        assert least / (n + 1) <= delta * (1 + 1e-9)


@few
@given(rows_of_any_kind, policies, st.randoms(use_true_random=False))
def test_the_order_of_records_and_the_names_that_do_not_occur_change_nothing(rows, policy, random):
    assume(sum(map(bool, rows)) > policy.k)
    labels = [random.choice("xy") for _ in rows]
    shuffled = random.sample(range(len(rows)), len(rows))
    policy = policy.changed(rare=1)
    made = anonymize_sparse(Sparse.of(rows, labels), policy, KEY)
    again = Sparse.of([rows[i] for i in shuffled], [labels[i] for i in shuffled])
    again = replace(again, names=("A", *again.names, "z"), items=again.items + np.int32(1))
    other = anonymize_sparse(again, policy, KEY)
    assert other.sketches.components.tobytes() == made.sketches.components.tobytes()
    assert other.sketches.counts.tolist() == made.sketches.counts.tolist()
    assert other.sketches.labels.tolist() == made.sketches.labels.tolist()


@few
@given(rows_of_any_kind, st.integers(1, 70), st.integers(0, 100))
def test_sketches_are_prefixes_and_alone_as_in_a_batch(rows, n, seed):
    records = Sparse.of(rows)
    key = new_key(seed)
    long = sketch_records(records, np.full(len(rows), 70), key, 0.25)
    short = sketch_records(records, np.full(len(rows), n), key, 0.25)
    assert (short.components.reshape(-1, n) == long.components.reshape(-1, 70)[:, :n]).all()
    sketcher = Sketcher(key, n, 0.25)
    for i, row in enumerate(rows):
        weights = list(row.values())
        weights = np.array(weights, records.weights.dtype)
        assert np.array_equal(sketcher.sketch(row, weights), short.components.reshape(-1, n)[i])


@few
@given(st.one_of(sets, counts_of_items), st.integers(1, 70))
def test_whole_numbers_stay_whole_and_show_the_parity_of_their_sum(rows, n):
    records = Sparse.of(rows)
    sketches = sketch_records(records, np.full(len(rows), n), KEY)
    assert sketches.components.dtype.kind == "i"
    assert sketches.step == 1.0
    parities = np.array([sum(row.values()) % 2 for row in rows])
    assert (sketches.components.reshape(-1, n) % 2 == parities[:, None]).all()
    totals = np.array([sum(map(abs, row.values())) for row in rows])
    assert (np.abs(sketches.components.reshape(-1, n)) <= totals[:, None]).all()
