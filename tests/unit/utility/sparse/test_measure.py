"""What the protection cost: each measure beside a slow twin or a known answer."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from shoal.data.sparse.records import Sparse
from shoal.data.sparse.sketches import Sketches
from shoal.errors import DataError, Infeasible, PolicyError
from shoal.sparse.mining.estimates import Estimate
from shoal.sparse.signs import new_key
from shoal.sparse.sketch import sketch_records
from shoal.utility.sparse import (
    Agreement,
    ComponentCounts,
    compare_clusters,
    compare_dot_products,
    compare_squared_lengths,
    count_neighbours_kept,
    learn,
    measure_sketches,
)
from shoal.utility.sparse.clustering import cluster_quality
from shoal.utility.sparse.originals import matrix_of, nearest_originals, original_blocks, unit_rows

KEY = new_key(2)


def crowds(n: int, n_crowds: int = 3, seed: int = 0) -> Sparse:
    """Records of 6 of the 20 items of their crowd, and 3 of any."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, n_crowds, n).astype(np.int32)
    present = np.zeros((n, 20 * n_crowds), bool)
    for row, crowd in enumerate(labels):
        present[row, 20 * crowd + rng.permutation(20)[:6]] = True
        present[row, rng.integers(0, 20 * n_crowds, 3)] = True
    starts = np.concatenate([[0], np.cumsum(present.sum(axis=1))])
    items = np.nonzero(present)[1].astype(np.int32)
    names = tuple(f"{i:03d}" for i in range(20 * n_crowds))
    return Sparse(starts, items, np.ones(len(items), np.int64), names, labels, tuple("abcdef")[:n_crowds])


def dense_of(records: Sparse) -> np.ndarray:
    out = np.zeros((len(records), records.n_items))
    out[np.repeat(np.arange(len(records)), records.sizes), records.items] = records.weights
    return out


def maker(n_components: int, every: int = 0):
    """Sketches in reverse order; each `every`-th record is suppressed."""

    def make(records: Sparse) -> tuple[Sketches, np.ndarray]:
        rows = np.arange(len(records))[::-1]
        rows = rows[rows % every != 0] if every else rows
        return sketch_records(records, np.full(len(records), n_components), KEY).take(rows), rows

    return make


def cosines_of(dense: np.ndarray) -> np.ndarray:
    units = dense / np.linalg.norm(dense, axis=1, keepdims=True)
    return units @ units.T


def test_originals_are_compared_without_a_matrix_of_all_pairs() -> None:
    records = crowds(60)
    dense = dense_of(records)
    matrix = matrix_of(records)
    for metric, expected in (
        ("cosine", cosines_of(dense)[:20]),
        ("euclidean", -((dense[:20, None] - dense[None]) ** 2).sum(axis=2) / (2 * (dense**2).sum(axis=1).mean())),
    ):
        got = np.concatenate([block for _, block in original_blocks(matrix[:20], matrix, metric)])
        assert got == pytest.approx(expected, abs=1e-5)


def test_nearest_originals_are_those_of_a_sort() -> None:
    records = crowds(80, seed=1)
    cosines = np.round(cosines_of(dense_of(records)), 6)
    rows = np.array([3, 70, 0])
    got = nearest_originals(unit_rows(matrix_of(records)), rows, 5)
    for row, found in zip(rows, got, strict=True):
        others = sorted(set(range(80)) - {row}, key=lambda j: -cosines[row, j])
        assert cosines[row, found] == pytest.approx(cosines[row, others[:5]])
        assert row not in found
        assert len(set(found)) == 5
        tied = [j for a, j in pairwise(found.tolist()) if cosines[row, a] == cosines[row, j] and a > j]
        assert not tied


def test_agreement_is_by_the_formulas() -> None:
    true = np.array([1.0, 2.0, 3.0, 9.0])
    found = Agreement.of(true, Estimate(np.array([1.5, 2.0, 1.0, np.nan]), np.array([0.5, 0.1, 1.0, np.inf])))
    assert found is not None
    assert found.root_mean_square_error == pytest.approx(np.sqrt((0.25 + 4) / 3))
    assert found.share_within == pytest.approx(2 / 3)
    assert found.correlation == pytest.approx(np.corrcoef([1, 2, 3], [1.5, 2, 1])[0, 1])
    assert len(found.true) == 3
    assert Agreement.of(true[:1], Estimate(np.array([np.nan]), np.array([np.inf]))) is None


def test_products_are_of_the_right_records() -> None:
    """With very many components estimates are the truth only if rows lead to the right originals."""
    records = crowds(50)
    sketches, rows = maker(3000, every=3)(records)
    pairs = np.column_stack(np.triu_indices(len(rows), 1))
    found = compare_dot_products(records, sketches, rows, pairs)
    assert found is not None
    assert found.correlation > 0.98
    assert found.share_within > 0.9
    doubled = replace(records, weights=np.repeat(np.arange(1, 51), records.sizes))
    sketches, rows = maker(2000)(doubled)
    lengths = compare_squared_lengths(doubled, sketches, rows, np.array([7, 3, 40]))
    assert lengths.true == tuple(doubled.squares[[42, 46, 9]].tolist())
    assert lengths.estimated == pytest.approx(lengths.true, rel=0.2)


def test_neighbours_kept_are_those_of_a_loop() -> None:
    records = crowds(130)
    sketches, rows = maker(25)(records)
    shown = records.take(rows)
    sampled = np.array([5, 90])
    nearest = nearest_originals(unit_rows(matrix_of(shown)), sampled, 10)
    found = count_neighbours_kept(sketches, sampled, nearest)
    # With one number of components for all and sets of nearly one length, cosines of sketches rank alike.
    padded = sketches.padded()
    for reach in (10, 50, 100):
        kept = 0
        for row, truly in zip(sampled, nearest, strict=True):
            products = cosines_of(padded)[row]
            products[row] = -9
            kept += len(set(np.argsort(-products)[:reach]) & set(truly.tolist()))
        assert found.shares[reach] == pytest.approx(kept / 20, abs=0.1)
        assert found.by_chance[reach] == pytest.approx(reach / 129)
    assert found.shares[10] < found.shares[50] < found.shares[100]


def test_neighbours_that_tie_share_the_places() -> None:
    same = Sketches(np.arange(0, 401, 4), np.tile([1, 3, 1, 1], 100))
    found = count_neighbours_kept(same, np.array([0]), np.arange(1, 11)[None])
    assert found.shares == pytest.approx({10: 10 / 99, 50: 50 / 99})
    assert found.shares == pytest.approx(found.by_chance)


def test_component_counts_have_no_small_bin() -> None:
    counts = np.concatenate([np.full(40, 3), np.full(2, 4), np.full(30, 9), [77]])
    sketches = Sketches(np.concatenate([[0], np.cumsum(counts)]), np.zeros(counts.sum(), np.int64))
    found = ComponentCounts.of(sketches, 10)
    assert sum(found.counts) == 73
    assert min(found.counts) >= 10
    assert found.edges == (3, 4, 78)
    assert found.counts == (40, 33)
    assert dict(found.quantiles)[0.5] == 3
    assert dict(found.quantiles)[1.0] == 9  # not the one record of 77
    assert found.mean == pytest.approx(counts.mean())


def test_component_counts_of_few_records_and_of_many_numbers() -> None:
    few = ComponentCounts.of(Sketches(np.array([0, 1, 4]), np.zeros(4, np.int64)), 10)
    assert few.counts == (2,)
    assert ComponentCounts.of(Sketches(np.array([0]), np.zeros(0, np.int64)), 10).counts == ()
    counts = np.random.default_rng(0).integers(1, 400, 20_000)
    many = ComponentCounts.of(Sketches(np.concatenate([[0], np.cumsum(counts)]), np.zeros(counts.sum(), np.int64)), 10)
    assert len(many.counts) <= 40
    assert sum(many.counts) == 20_000


def test_learning_before_and_after() -> None:
    records = crowds(450)
    found = learn(records, maker(60), n_repeats=2)
    assert found.before.mean > 0.9
    assert found.baseline.mean < 0.5
    assert found.baseline.mean + 0.25 < found.after.mean <= found.before.mean + 0.05
    assert (found.n_train, found.n_test, found.n_classes) == (300, 150, 3)
    assert found.suppressed_test == found.suppressed_train == 0
    worse = learn(records, maker(3), n_repeats=2)
    assert worse.after.mean < found.after.mean - 0.1
    assert worse.before == found.before
    assert found == learn(records, maker(60), n_repeats=2)


def test_suppressed_test_records_are_guessed_by_the_shares_of_classes() -> None:
    records = crowds(600)
    whole, half = (learn(records, maker(200, every), n_repeats=2) for every in (0, 2))
    assert half.suppressed_test == pytest.approx(0.5)
    # Half of the test records are right by chance, one of three classes.
    assert half.after.mean == pytest.approx((whole.after.mean + 1 / 3) / 2, abs=0.1)
    none = learn(
        records,
        lambda r: (
            sketch_records(r, np.ones(len(r), np.int64), KEY).take(np.zeros(0, np.int64)),
            np.zeros(0, np.int64),
        ),
        n_repeats=1,
    )
    assert none.suppressed_train == 1
    assert none.after.mean == pytest.approx(1 / 3, abs=0.1)


def test_learning_without_classes_is_refused() -> None:
    with pytest.raises(DataError, match="two classes"):
        learn(replace(crowds(30), labels=None), maker(3))
    with pytest.raises(PolicyError, match="nine records"):
        learn(crowds(8), maker(3))


def test_cluster_quality_is_the_mean_cosine_to_the_mean_of_originals() -> None:
    records = crowds(40)
    labels = np.arange(40, dtype=np.int32) % 2
    dense = dense_of(records)
    cosines = []
    for row, label in zip(dense, labels, strict=True):
        mean = dense[labels == label].mean(axis=0)
        cosines.append(row @ mean / (np.linalg.norm(row) * np.linalg.norm(mean)))
    assert cluster_quality(matrix_of(records), labels, 3) == pytest.approx(np.mean(cosines))


def test_clusters_before_and_after() -> None:
    records = crowds(300)
    best = cluster_quality(matrix_of(records), records.labels, 3)
    found = {m: compare_clusters(records, *maker(m)(records), n_clusters=3) for m in (4, 100)}
    assert found[100].before == pytest.approx(best, rel=0.02)
    assert found[100].after == pytest.approx(best, rel=0.05)
    assert found[100].random < found[4].after < found[100].after
    part = compare_clusters(records, *maker(100, every=3)(records), n_clusters=3)
    assert part.suppressed == pytest.approx(1 / 3)
    assert found[100].random < part.after < found[100].after - 0.02
    assert compare_clusters(records, *maker(5)(records.take(np.arange(4)))) is None


def test_all_measures_together() -> None:
    records = crowds(240)
    sketches, rows = maker(40, every=5)(records)
    found = measure_sketches(records, sketches, rows, make=maker(40, every=5))
    assert (found.n_records, found.n_published) == (240, 192)
    assert len(found.random_pairs.true) == 2000
    assert len(found.near_pairs.true) == 2 * 192
    assert np.mean(found.near_pairs.true) > np.mean(found.random_pairs.true) + 1
    assert len(found.squared_lengths.true) == 192
    assert found.squared_lengths.share_within > 0.8
    assert found.neighbours.n_sampled == 192
    assert found.learning.suppressed_train == pytest.approx(0.2, abs=0.01)
    assert found.clusters.before > found.clusters.random
    assert json.loads(json.dumps(found.to_dict()))["neighbours"]["shares"]["10"] == found.neighbours.shares[10]
    assert found == measure_sketches(records, sketches, rows, make=maker(40, every=5))


def test_what_cannot_be_measured_is_none() -> None:
    records = crowds(30)
    sketches, rows = maker(5)(records.take(np.arange(6)))

    def refuse(part: Sparse) -> tuple[Sketches, np.ndarray]:
        raise Infeasible("too few records")

    found = measure_sketches(records, sketches, rows, make=refuse)
    assert found.random_pairs is found.neighbours is found.learning is found.clusters is None
    assert measure_sketches(records, *maker(5)(records)).learning is None
    with pytest.raises(DataError, match="rows"):
        measure_sketches(records, sketches, rows[1:])
