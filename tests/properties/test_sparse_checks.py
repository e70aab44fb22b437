"""Whatever the records and the readings, an honest release made the slow way passes; neighbours are the true ones."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from shoal.check.sparse import edges as sparse_edges
from shoal.check.sparse.neighbours import SparseRecords, content_classes, nearest
from shoal.check.sparse.sketches import sketch_form
from shoal.check.sparse.verify import SparseAsked, verify_sketches
from tests.unit.check.sparse import slow_sketches as slow

FEW = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])

WEIGHTS = {
    "binary": st.just(1),
    "counts": st.integers(1, 4),
    "mixed": st.integers(-3, 3).filter(bool),
    "real": st.floats(0.1, 4.0),
    "both signs": st.floats(-4.0, 4.0).filter(lambda w: abs(w) > 0.1),
}


@st.composite
def data(draw, kinds=tuple(WEIGHTS)):
    weights = WEIGHTS[draw(st.sampled_from(kinds))]
    record = st.dictionaries(st.sampled_from("abcdefghijklmnop"), weights, max_size=10)
    records = draw(st.lists(record, min_size=5, max_size=14))
    copies = draw(st.lists(st.integers(0, len(records) - 1), max_size=4))
    records += [records[i] for i in copies]
    labels = [draw(st.sampled_from("xy")) for _ in records] if draw(st.booleans()) else None
    return slow.sparse(records, labels)


asked = st.builds(
    SparseAsked,
    delta=st.sampled_from([0.05, 0.3, 1.0]),
    k=st.one_of(st.none(), st.integers(1, 3)),
    threshold=st.sampled_from(["sqrt", "difference"]),
    variance=st.sampled_from(["smaller", "paper", "exact"]),
    metric=st.sampled_from(["cosine", "euclidean"]),
    max_components=st.sampled_from([3, 12, 40]),
    recovery_cap=st.booleans(),
    rare=st.integers(1, 4),
    neighbours=st.sampled_from(["exact", "partition"]),
)


def is_enough(records, k):
    return k is None or (records.sizes > 0).sum() > k


@FEW
@given(records=data(), asked=asked)
def test_an_honest_release_passes_in_all_readings(records, asked):
    assume(is_enough(records, asked.k))
    release = slow.honest(records, asked)
    assume(len(release.published))
    verdict = verify_sketches(release.published, asked, release.evidence)
    assert verdict.holds, [g.sentence for g in verdict.guarantees if not g.holds]
    without_key = verify_sketches(release.published, asked, replace(release.evidence, key=None))
    assert without_key.holds, [g.sentence for g in without_key.guarantees if not g.holds]
    if asked.neighbours == "exact":
        alone = verify_sketches(release.published, asked, replace(release.evidence, neighbours=None))
        assert alone.holds, [g.sentence for g in alone.guarantees if not g.holds]
    without_rows = verify_sketches(release.published, asked, replace(release.evidence, rows=None, neighbours=None))
    assert all(g.holds for g in without_rows.guarantees)
    no_secrets = verify_sketches(release.published, asked, replace(release.evidence, rows=None, key=None))
    assert all(g.holds for g in no_secrets.guarantees)


@FEW
@given(records=data(), metric=st.sampled_from(["cosine", "euclidean"]), k=st.integers(1, 4))
def test_the_nearest_are_those_of_a_search_one_by_one(records, metric, k):
    assume(is_enough(records, k))
    rows = np.flatnonzero(records.sizes > 0)
    prepared = SparseRecords.of(records, np.zeros(len(records), np.int64), metric)
    found, products = nearest(prepared, rows, k)
    slowly = slow.neighbours_of(records, k, metric)
    content = content_classes(records)
    lists = slow.records_of(records)
    for q, others, dots in zip(rows, found, products, strict=True):
        # Sums of real weights may be rounded in another order, and what is equally near then be swapped.
        if records.is_integral:
            assert content[others].tolist() == content[slowly[q]].tolist()
        scores = prepared.scores(np.array([slow.dot(lists[q], lists[i]) for i in others]), others)
        expected = prepared.scores(np.array([slow.dot(lists[q], lists[i]) for i in slowly[q]]), np.array(slowly[q]))
        assert scores == pytest.approx(expected)
        assert dots == pytest.approx([slow.dot(lists[q], lists[i]) for i in others])
    floors = prepared.scores(products, found).min(axis=1)
    again, _ = nearest(prepared, rows, k, np.where(np.arange(len(rows)) % 2, floors, -np.inf))
    assert np.array_equal(again, found)


@FEW
@given(records=data(), order=st.randoms(use_true_random=False))
def test_the_order_of_content_is_that_of_lists(records, order):
    lists = slow.records_of(records)
    labels = [0] * len(lists) if records.labels is None else records.labels.tolist()
    keys = [([*sorted(r)], [r[n] for n in sorted(r)], label) for r, label in zip(lists, labels, strict=True)]
    assert content_classes(records).tolist() == [sum(other < key for other in keys) for key in keys]
    rows = list(range(len(lists)))
    order.shuffle(rows)
    assert content_classes(records.take(np.array(rows))).tolist() == content_classes(records)[rows].tolist()


@FEW
@given(
    records=data(kinds=("binary", "counts", "real")),
    asked=asked,
    counts=st.lists(st.integers(0, 20), min_size=18, max_size=18),
    k=st.integers(1, 3),
)
def test_whoever_is_certain_has_edges_that_hold(records, asked, counts, k):
    assume(is_enough(records, k))
    shown = np.array(counts[: len(records)]) * (records.sizes > 0)
    rows = np.flatnonzero(shown)
    assume(len(rows))
    rule = sparse_edges.EdgeRule(k, asked.threshold, asked.variance, asked.metric)
    prepared = SparseRecords.of(records, shown, asked.metric)
    # Any k others do for a witness; here those that are far.
    filled = np.flatnonzero(records.sizes > 0)
    far = np.array([[i for i in filled if i != q][-k:] for q in rows])
    scores = sparse_edges.edges_of(prepared, shown, rows, far, rule).scores.min(axis=1)
    bounds = sparse_edges.least_ratios(prepared, shown, rows, sparse_edges.lowered(scores), rule)
    true, _ = nearest(prepared, rows, k)
    edges = sparse_edges.edges_of(prepared, shown, rows, true, rule)
    assert (edges.ratios.min(axis=1) >= bounds).all()
    assert edges.holds.all(axis=1)[bounds >= 1].all()


@FEW
@given(records=data(), asked=asked, at=st.integers(0, 2**31), sign=st.sampled_from([-2, 2]))
def test_a_component_that_is_off_is_found_with_the_key(records, asked, at, sign):
    asked = replace(asked, k=None)
    release = slow.honest(records, asked)
    assume(len(release.published))
    components = release.published.components.copy()
    components[at % len(components)] += sign if records.is_integral else sign * release.published.step
    spoiled = replace(release.published, components=components)
    rng = np.random.default_rng(0)
    assert not sketch_form(spoiled, records, release.evidence.rows, slow.KEY, rng).holds
