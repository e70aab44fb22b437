"""Nearest neighbours of sparse records against a plain NumPy twin."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.data.samples.quest import Quest, generate_baskets
from shoal.data.sparse.records import Sparse
from shoal.errors import PolicyError
from shoal.kernels.sparse import bits as sparse_bits
from shoal.sparse import near_partition, neighbours
from shoal.sparse.neighbours import nearest


def sparse_of(dense):
    dense = np.asarray(dense)
    rows, items = np.nonzero(dense)
    starts = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=len(dense)))]).astype(np.int64)
    weights = dense[rows, items]
    weights = weights.astype(np.int64 if weights.dtype.kind in "biu" else np.float64)
    return Sparse(starts, items.astype(np.int32), weights, tuple(f"i{j:04d}" for j in range(dense.shape[1])))


def brute(dense, k, metric):
    """All pairs, one by one, in the order (nearest, smallest row); whole numbers are compared exactly."""
    dense = np.asarray(dense, dtype=np.float64)
    n = len(dense)
    squares = (dense**2).sum(axis=1)
    indices, distances = np.full((n, k), -1), np.full(n, np.inf)
    for q in range(n):
        if squares[q] == 0:
            continue
        others = [y for y in range(n) if y != q and squares[y] > 0]
        products = {y: float(dense[q] @ dense[y]) for y in others}
        if metric == "cosine":
            score = {y: products[y] * abs(products[y]) / squares[y] for y in others}
        else:
            score = {y: 2 * products[y] - squares[y] for y in others}
        best = sorted(others, key=lambda y: (-score[y], y))[:k]
        indices[q, : len(best)] = best
        if len(best) == k:
            y = best[-1]
            if metric == "cosine":
                distances[q] = 1 - products[y] / np.sqrt(squares[q] * squares[y])
            else:
                distances[q] = np.sqrt(((dense[q] - dense[y]) ** 2).sum())
    return indices, distances


@st.composite
def tables(draw, values):
    n, d = draw(st.integers(1, 14)), draw(st.integers(1, 9))
    cells = st.one_of(st.just(0), values)
    return np.array(draw(st.lists(st.lists(cells, min_size=d, max_size=d), min_size=n, max_size=n)))


SETS, COUNTS = st.just(1), st.integers(1, 5)
SIGNED, QUARTERS = st.integers(-4, 4), st.integers(-9, 9).map(lambda i: i / 4)


@pytest.mark.parametrize("metric", ["cosine", "euclidean"])
@pytest.mark.parametrize("values", [SETS, COUNTS, SIGNED, QUARTERS], ids=["sets", "counts", "signed", "quarters"])
def test_exact_equals_all_pairs(values, metric):
    @settings(max_examples=40, deadline=None)
    @given(tables(values), st.integers(1, 16))
    def check(dense, k):
        found = nearest(sparse_of(dense), k, metric=metric, workers=1)
        indices, distances = brute(dense, k, metric)
        np.testing.assert_array_equal(found.indices, indices)
        np.testing.assert_allclose(found.distances, distances, atol=1e-7)
        assert (found.how, found.recall) == ("exact", None)

    check()


def twin(dense, queries, k, metric):
    """As `brute`, for some of many records: products of whole numbers or quarters, which are exact."""
    dense = np.asarray(dense, dtype=np.float64)
    squares = (dense**2).sum(axis=1)
    products = dense[queries] @ dense.T
    scores = products * np.abs(products) / squares if metric == "cosine" else 2 * products - squares
    scores[np.arange(len(queries)), queries] = -np.inf
    return np.argsort(-scores, axis=1, kind="stable")[:, :k]


def skewed_sets(n, n_items, rng, most=150):
    """Sets of very different sizes, of frequent and of rare items."""
    chances = 1 / np.arange(1, n_items + 1)
    wanted = rng.integers(1, most, n)
    dense = rng.random((n, n_items)) < chances[np.newaxis, :] * wanted[:, np.newaxis] / chances.sum()
    dense[np.arange(n), rng.integers(0, n_items, n)] = True
    return dense.astype(np.int64)


@pytest.mark.parametrize("metric", ["cosine", "euclidean"])
@pytest.mark.parametrize("records_per_bit", [1, 20, 10**6], ids=["lists", "both", "bits"])
def test_sets_in_several_blocks_equal_all_pairs(metric, records_per_bit, monkeypatch):
    monkeypatch.setattr(neighbours, "RECORDS_PER_BIT", records_per_bit)
    dense = skewed_sets(4300, 300, np.random.default_rng(0), most=50)
    found = nearest(sparse_of(dense), 7, metric=metric)
    some = np.arange(0, len(dense), 23)
    np.testing.assert_array_equal(found.indices[some], twin(dense, some, 7, metric))


@pytest.mark.parametrize("metric", ["cosine", "euclidean"])
def test_weights_in_several_blocks_equal_all_pairs(metric):
    rng = np.random.default_rng(1)
    dense = skewed_sets(2500, 120, rng, most=40) * rng.integers(-6, 12, (2500, 120)) / 4
    dense[~dense.any(axis=1), 0] = 1
    found = nearest(sparse_of(dense), 7, metric=metric)
    some = np.arange(0, len(dense), 23)
    np.testing.assert_array_equal(found.indices[some], twin(dense, some, 7, metric))


@pytest.mark.parametrize("metric", ["cosine", "euclidean"])
def test_any_real_weights_have_the_distances_of_all_pairs(metric):
    rng = np.random.default_rng(2)
    dense = skewed_sets(300, 60, rng, most=20) * rng.normal(size=(300, 60)) * 1e170
    found = nearest(sparse_of(dense), 5, metric=metric)
    _, distances = brute(dense * 1e-170, 5, metric)
    np.testing.assert_allclose(found.distances * (1 if metric == "cosine" else 1e-170), distances, rtol=1e-7, atol=1e-7)


def test_equal_records_are_neighbours_and_the_first_of_them_are_taken():
    dense = np.array([[1, 1, 0], [0, 1, 1], [1, 1, 0], [1, 1, 0], [0, 0, 0]])
    found = nearest(sparse_of(dense), 2)
    assert found.indices.tolist() == [[2, 3], [0, 2], [0, 3], [0, 2], [-1, -1]]
    assert found.distances.tolist() == [0.0, 0.5, 0.0, 0.0, np.inf]


def test_fewer_others_than_asked_for():
    found = nearest(sparse_of([[1, 0], [1, 1]]), 3)
    assert found.indices.tolist() == [[1, -1, -1], [0, -1, -1]]
    assert np.isinf(found.distances).all()
    assert nearest(sparse_of([[1, 0], [0, 0]]), 1).indices.tolist() == [[-1], [-1]]
    assert nearest(sparse_of(np.zeros((0, 2), np.int64)), 1).indices.shape == (0, 1)


@pytest.mark.parametrize("wrong", [{"k": 0}, {"k": 2, "metric": "l1"}, {"k": 2, "how": "fast"}, {"k": 2, "workers": 0}])
def test_what_is_not_understood_is_refused(wrong):
    with pytest.raises(PolicyError):
        nearest(sparse_of([[1, 0], [1, 1]]), **wrong)


def baskets(n, seed=5):
    made = generate_baskets(Quest.named("T20.I6.D1K", n_transactions=n), seed=seed)
    return Sparse(made.starts, made.items, np.ones(len(made.items), np.int64), tuple(f"{i:04d}" for i in range(1000)))


def shrink(monkeypatch):
    """A partition as that of many more records: each is compared with a tenth of them."""
    small = {"BUDGET": 800, "BUDGET_AT": 8000, "LEAST_BUDGET": 1, "CLUSTER": 50}
    for name, value in {**small, "QUERIES_AT_ONCE": 1500, "RECALL_SAMPLE": 600}.items():
        monkeypatch.setattr(near_partition, name, value)


@pytest.mark.parametrize(("metric", "level"), [("cosine", 0.6), ("euclidean", 0.5)])
def test_a_partition_finds_most_neighbours_and_says_how_many(metric, level, monkeypatch):
    shrink(monkeypatch)
    records = baskets(8000)
    found = nearest(records, 10, metric=metric, how="partition")
    exact = nearest(records, 10, metric=metric, how="exact")
    row = np.arange(8000)[:, np.newaxis] * 8000
    share = np.isin(found.indices + row, exact.indices + row).mean()
    assert found.how == "partition"
    assert level < share < 0.99
    assert abs(share - found.recall) < 0.04
    assert (found.distances >= exact.distances - 1e-12).all()


@pytest.mark.parametrize("kind", ["sets", "weights"])
def test_the_number_of_workers_and_the_progress_change_nothing(kind, monkeypatch):
    shrink(monkeypatch)
    records = baskets(3000)
    if kind == "weights":
        records = replace(records, weights=1 + np.arange(len(records.items)) % 5 / 4)
    for how in ("exact", "partition"):
        calls = []
        one = nearest(records, 4, how=how, workers=1)
        many = nearest(records, 4, how=how, workers=3, progress=lambda done, total: calls.append((done, total)))  # noqa: B023  # called before the next turn
        np.testing.assert_array_equal(one.indices, many.indices)
        np.testing.assert_array_equal(one.distances, many.distances)
        assert one.recall == many.recall
        assert calls
        assert calls[-1][0] == calls[-1][1]


def test_a_partition_in_which_all_clusters_are_near_is_exact():
    records = baskets(3000)
    found = nearest(records, 4, how="partition")
    assert found.recall == 1.0
    np.testing.assert_array_equal(found.indices, nearest(records, 4).indices)


def test_many_equal_records_are_no_more_work(monkeypatch):
    shrink(monkeypatch)
    monkeypatch.setattr(sparse_bits, "BLOCK", 64)
    dense = np.repeat(np.eye(40, dtype=np.int64)[:2] + np.eye(40, k=1, dtype=np.int64)[:2], 3000, axis=0)
    visited = []
    plain = sparse_bits.scan_bits
    monkeypatch.setattr(sparse_bits, "scan_bits", lambda *a: (visited.append(len(a[4]) * (a[7] - a[6])), plain(*a)))
    found = nearest(sparse_of(dense), 3, how="partition", workers=1)
    assert (found.distances == 0).all()
    assert sum(visited) < 6000 * (800 + 3 * 64) + 600 * 6000
