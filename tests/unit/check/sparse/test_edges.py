"""Edges of k-variance: the formulas, neighbours of a part of the records, and neighbours that are approximate."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from shoal.check.sparse import edges as sparse_edges
from shoal.check.sparse.edges import EdgeRule, k_variance, room_of
from shoal.check.sparse.neighbours import SparseRecords
from shoal.check.sparse.verify import SparseAsked, verify_sketches
from tests.unit.check.sparse import slow_sketches as slow
from tests.unit.check.sparse.clustered import clustered

K = 4
RULE = EdgeRule(K, "sqrt", "smaller", "cosine")


@pytest.fixture(scope="module")
def data():
    return clustered()


@pytest.fixture(scope="module")
def listed(data):
    return np.array(slow.neighbours_of(data, K, "cosine"), np.int32)


@pytest.fixture(scope="module")
def counts(data, listed):
    """As many components as the edges allow, at most 40, each record held to its own."""
    records = slow.records_of(data)
    rooms = [[slow.room(records[q], records[i], "sqrt", "smaller") for i in row] for q, row in enumerate(listed)]
    return np.array([min(40, math.floor(min(r) * (1 - 1e-9))) for r in rooms])


def judge(data, counts, claimed, are_exact=True, rule=RULE, **work):
    return k_variance(data, counts, rule, claimed, are_exact, np.random.default_rng(0), **work)


def test_the_variance_is_that_of_all_signs():
    # All 2^6 signs of six items, which are 6-wise independent.
    signs = np.array(np.meshgrid(*[[-1, 1]] * 6)).reshape(6, -1)
    rng = np.random.default_rng(0)
    for _ in range(20):
        x, y = rng.integers(-3, 4, (2, 6)).astype(float)
        if not x.any() or not y.any():
            continue
        gap = math.sqrt(x @ x * (y @ y)) - abs(x @ y)
        if gap < 1e-9:
            continue
        variance = np.var((x @ signs) * (y @ signs))
        args = tuple(np.array([v]) for v in (x @ x, y @ y, x @ y, (x * x) @ (y * y)))
        assert room_of(*args, "sqrt", "exact")[0] == pytest.approx(variance / gap)
        assert room_of(*args, "difference", "exact")[0] == pytest.approx(variance / gap**2)
        paper = (x @ x) * (y @ y) - (x @ y) ** 2
        assert room_of(*args, "sqrt", "paper")[0] == pytest.approx(paper / gap)
        assert room_of(*args, "difference", "smaller")[0] == pytest.approx(min(variance, paper) / gap**2)


def test_identical_directions_have_all_the_room():
    one = np.array([10.0])
    assert np.isinf(room_of(one, 4 * one, 2 * one, 4 * one, "sqrt", "smaller")[0])
    assert np.isinf(room_of(one, 4 * one, -2 * one, 4 * one, "difference", "exact")[0])


def test_a_list_saves_most_of_the_search_and_changes_nothing(data, listed, counts):
    caps = np.minimum(counts, data.sizes - 1)
    alone, _ = judge(data, caps, None)
    helped, unverified = judge(data, caps, listed)
    assert alone.holds
    assert helped.holds
    assert not unverified
    assert alone.achieved == pytest.approx(helped.achieved)
    assert helped.details["searched"] < 0.5
    assert alone.details["searched"] < 1
    assert alone.details["recomputed"] == 1
    assert helped.details["recomputed"] == 1


def test_a_list_of_far_records_is_seen_through(data, listed, counts):
    # One component more wherever an edge is tight: the true edges fail, those of the false list do not.
    more = counts + 1
    truth, _ = judge(data, more, listed)
    assert not truth.holds
    false = np.array([row[-K:] for row in slow.neighbours_of(data, 140, "cosine")], np.int32)
    loose = np.minimum(more, 9)
    assert (
        judge(data, loose, listed)[0].holds == judge(data, loose, false)[0].holds == judge(data, loose, None)[0].holds
    )
    seen, _ = judge(data, more, false)
    assert seen.n_failing == truth.n_failing == judge(data, more, None)[0].n_failing
    assert seen.details["recall"] < 0.1


def test_a_list_of_unpublished_records_is_seen_through(data, listed, counts):
    more = counts + 1
    more[-K:] = 0
    truth, _ = judge(data, more, listed)
    assert not truth.holds
    # All edges of this list hold, as there is nothing to compare with; they are not those to the nearest.
    false = np.tile(np.arange(len(data) - K, len(data), dtype=np.int32), (len(data), 1))
    assert judge(data, more, false)[0].n_failing == truth.n_failing
    assert judge(data, more, false, are_exact=False)[0].details["missed"] > 0


@pytest.mark.parametrize("spoil", ["itself", "twice", "nobody"])
def test_a_list_that_is_none_is_not_believed(data, listed, counts, spoil):
    wrong = listed.copy()
    wrong[:, -1] = {"itself": np.arange(len(wrong)), "twice": wrong[:, 0], "nobody": -1}[spoil]
    found, _ = judge(data, counts, wrong)
    assert found.holds
    assert "recall" not in found.details
    assert found == judge(data, counts, None)[0]
    approximate, _ = judge(data, counts, wrong, are_exact=False)
    assert not approximate.holds
    assert approximate.n_failing >= len(data)


def test_beyond_the_budget_a_part_is_recomputed_and_that_is_said(data, listed, counts, monkeypatch):
    monkeypatch.setattr(sparse_edges, "SAMPLE", 50)
    found, unverified = judge(data, counts, listed, most_work=0.0)
    assert found.holds
    assert not unverified
    assert found.details["searched"] == pytest.approx(50 / 150)
    assert found.details["recomputed"] < 1
    assert "were recomputed; of the others" in found.sentence
    alone, unverified = judge(data, counts, None, most_work=0.0)
    assert alone.holds
    assert alone.details["searched"] == pytest.approx(50 / 150)
    assert alone.n_classes == pytest.approx(alone.details["recomputed"] * 150 * K)
    assert f"{100 * alone.details['recomputed']:.1f} %" in unverified
    # What the list itself shows is found in any case.
    assert not judge(data, counts + 1, listed, most_work=0.0)[0].holds


def test_approximate_neighbours_are_told_with_their_recall(data, listed, counts, monkeypatch):
    far = [row[60] for row in slow.neighbours_of(data, 61, "cosine")]
    near = listed.copy()
    near[::2, -1] = np.array(far)[::2]
    records = SparseRecords.of(data, counts, "cosine")
    edges = sparse_edges.edges_of(records, counts, np.arange(len(data)), near.astype(np.int64), RULE)
    lowered = np.minimum(counts, np.floor(edges.room.min(axis=1) * (1 - 1e-9)).astype(np.int64))
    found, unverified = judge(data, lowered, near, are_exact=False)
    assert found.holds
    assert not unverified
    assert found.details["recall"] == pytest.approx(1 - 0.5 / K, abs=1e-9)
    assert found.details["recall_low"] < 1 - 0.5 / K < found.details["recall_high"]
    assert "approximate" in found.sentence
    assert "87.5 %" in found.sentence
    monkeypatch.setattr(sparse_edges, "SAMPLE", 100)
    assert judge(data, lowered, near, are_exact=False)[0].details["sampled"] < 300
    assert not judge(data, counts + 30, near, are_exact=False)[0].holds


def test_approximate_neighbours_need_their_list():
    asked = SparseAsked(delta=0.5, k=2, neighbours="partition")
    release = slow.honest(clustered(40), asked)
    assert verify_sketches(release.published, asked, release.evidence).holds
    for listed in (None, release.evidence.neighbours[:, :1]):
        verdict = verify_sketches(release.published, asked, replace(release.evidence, neighbours=listed))
        assert not verdict.holds
        assert "list" in verdict.unverified[0]
