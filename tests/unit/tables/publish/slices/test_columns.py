"""Which attributes go together."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from shoal.tables.encoding import Ranked
from shoal.tables.publish.slices.bins import Bins, binned
from shoal.tables.publish.slices.columns import clustered, correlations, k_medoids, mean_square_contingency, placed


def ranked_of(values, kind="category", has_missing=False):
    distinct, ranks = np.unique(values, return_inverse=True)
    positions = np.arange(len(distinct), dtype=float)
    if has_missing:
        positions[-1] = np.nan
    return Ranked("x", kind, ranks.astype(np.int32), positions, has_missing=has_missing)


def bins_of(values):
    return binned(ranked_of(values))


def slow_phi(one, other):
    n = len(one)
    total = 0.0
    for a in set(one):
        for b in set(other):
            f = sum(x == a and y == b for x, y in zip(one, other, strict=True)) / n
            e = one.count(a) / n * other.count(b) / n
            total += (f - e) ** 2 / e
    fewer = min(len(set(one)), len(set(other)))
    return total / (fewer - 1) if fewer > 1 else 0.0


def test_mean_square_contingency_against_its_definition() -> None:
    rng = np.random.default_rng(0)
    for _ in range(50):
        one, other = rng.integers(0, rng.integers(1, 6), 30).tolist(), rng.integers(0, rng.integers(1, 6), 30).tolist()
        assert mean_square_contingency(bins_of(one), bins_of(other)) == pytest.approx(slow_phi(one, other))
    assert mean_square_contingency(bins_of([0, 1, 2]), bins_of([2, 0, 1])) == pytest.approx(1.0)


def test_medoids_against_all_choices() -> None:
    rng = np.random.default_rng(1)
    hits = 0
    for _ in range(40):
        points = rng.random((7, 2))
        distances = np.linalg.norm(points[:, None] - points[None], axis=2)
        medoid = k_medoids(distances, 3)
        cost = distances[np.arange(7), medoid].sum()
        best = min(distances[:, list(c)].min(axis=1).sum() for c in combinations(range(7), 3))
        assert (medoid[medoid] == medoid).all()
        hits += cost <= best + 1e-12
        for place in set(medoid):  # no swap is better
            for other in set(range(7)) - set(medoid):
                swapped = [*(set(medoid) - {place}), other]
                assert distances[:, swapped].min(axis=1).sum() >= cost - 1e-9
    assert hits > 30


def test_clusters_follow_the_correlation_and_others_are_placed_by_it() -> None:
    rng = np.random.default_rng(2)
    a, b = rng.integers(0, 4, (2, 500))
    columns = {"a": a, "b": b, "like a": a ^ (rng.random(500) < 0.05), "like b": b ^ (rng.random(500) < 0.05)}
    names = list(columns)
    phi = correlations([bins_of(v) for v in columns.values()])
    assert np.allclose(phi, phi.T)
    assert clustered(names, phi, 2) == [["a", "like a"], ["b", "like b"]]
    assert clustered(names, phi, 9) == [["a"], ["b"], ["like a"], ["like b"]]
    assert placed([["a"], ["b"]], ["like b", "like a"], names, phi) == [["a", "like a"], ["b", "like b"]]


def test_one_value_everywhere_goes_with_nothing() -> None:
    assert mean_square_contingency(bins_of([1, 1, 1]), bins_of([1, 2, 3])) == 0.0
    assert isinstance(bins_of([1]), Bins)
