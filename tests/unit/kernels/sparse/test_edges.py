"""What edges allow, and counts that respect them, against plain loops over dense records."""

from __future__ import annotations

from itertools import product
from math import floor, inf, sqrt

import numpy as np
import pytest

from shoal.kernels.sparse.edges import ANY, fill_allowed, lower_counts, settle_counts

N_ITEMS = 30
READINGS = list(product(("sqrt", "difference"), ("paper", "exact", "smaller")))


def draw(n, kind, seed):
    rng = np.random.default_rng(seed)
    rows = [np.sort(rng.choice(N_ITEMS, rng.integers(1, 9), replace=False)) for _ in range(n)]
    starts = np.concatenate([[0], np.cumsum([len(r) for r in rows])])
    items = np.concatenate(rows).astype(np.int32)
    weights = {
        "sets": np.ones(len(items)),
        "mixed": rng.integers(1, 4, len(items)) * rng.choice([-1.0, 1.0], len(items)),
        "real": rng.normal(size=len(items)),
    }[kind]
    neighbours = np.array([rng.permutation(np.delete(np.arange(n), q))[:5] for q in range(n)], np.int32)
    neighbours[::7, 3:] = -1
    return starts, items, weights, neighbours


def allowed_by_hand(x, y, threshold, variance):
    longest, near = sqrt((x @ x) * (y @ y)), abs(x @ y)
    gap = longest - near
    if gap <= 1e-12 * longest:
        return inf
    paper = (x @ x) * (y @ y) - (x @ y) ** 2
    exact = (x @ x) * (y @ y) + (x @ y) ** 2 - 2 * (x**2 @ y**2)
    var = {"paper": paper, "exact": exact, "smaller": min(paper, exact)}[variance]
    return var / (gap if threshold == "sqrt" else gap**2)


@pytest.mark.parametrize("kind", ["sets", "mixed", "real"])
@pytest.mark.parametrize(("threshold", "variance"), READINGS)
def test_allowed_equals_the_formula(kind, threshold, variance):
    starts, items, weights, neighbours = draw(60, kind, seed=1)
    dense = np.zeros((60, N_ITEMS))
    dense[np.repeat(np.arange(60), np.diff(starts)), items] = weights
    squares = (dense**2).sum(axis=1)
    out = np.empty_like(neighbours)
    reading = (threshold == "difference", variance != "exact", variance != "paper")
    for begin, end in ((0, 20), (20, 60)):
        fill_allowed(starts, items, weights, squares, neighbours, N_ITEMS, begin, end, *reading, out)
    for q, e in product(range(60), range(5)):
        if neighbours[q, e] < 0:
            assert out[q, e] == ANY
            continue
        real = allowed_by_hand(dense[q], dense[neighbours[q, e]], threshold, variance)
        # Slack is towards fewer, so an exact tie gives one less; never one more.
        assert out[q, e] == (ANY if real == inf else max(0, floor(real * (1 - 1e-9)))) or abs(real - round(real)) < 1e-6
        assert out[q, e] <= real * (1 + 1e-9) or real == inf


def test_identical_directions_allow_any_number():
    starts, items = np.array([0, 2, 4]), np.array([0, 1, 0, 1], np.int32)
    weights = np.array([1.0, 2.0, 0.1, 0.2])
    out = np.zeros((2, 1), np.int32)
    squares, neighbours = np.array([5.0, 0.05]), np.array([[1], [0]], np.int32)
    fill_allowed(starts, items, weights, squares, neighbours, 2, 0, 2, False, True, True, out)
    assert out.ravel().tolist() == [ANY, ANY]


def settle_by_hand(neighbours, allowed, order, caps, counts):
    change = 0
    for q in order:
        own = [(other, a) for other, a in zip(neighbours[q], allowed[q], strict=True) if other >= 0]
        fits = [m for m in range(caps[q] + 1) if all(min(m, counts[other]) <= a for other, a in own)]
        change += abs(max(fits) - counts[q])
        counts[q] = max(fits)
    return change


def test_a_pass_gives_the_largest_count_that_own_edges_allow():
    rng = np.random.default_rng(2)
    for _ in range(30):
        n = 12
        neighbours = np.array([rng.permutation(np.delete(np.arange(n), q))[:3] for q in range(n)], np.int32)
        neighbours[0, 1] = -1
        allowed = rng.integers(0, 15, (n, 3)).astype(np.int32)
        caps, order = rng.integers(0, 20, n), rng.permutation(n)
        counts, twin = caps.copy(), caps.tolist()
        for _ in range(3):
            change = settle_counts(neighbours, allowed, order, caps, counts)
            assert change == settle_by_hand(neighbours, allowed, order, caps, twin)
            assert counts.tolist() == twin


def test_lowering_leaves_no_violated_edge_and_takes_from_the_smaller_end():
    neighbours = np.array([[1], [2], [0], [-1]], np.int32)
    allowed = np.array([[5], [4], [6], [0]], np.int32)
    counts = np.array([9, 8, 20, 7])
    # Edge 0-1 lowers 1 to 5; edge 1-2 then lowers it to 4; edge 2-0 lowers 0 to 6.
    assert lower_counts(neighbours, allowed, np.arange(4), counts) == 3 + 1 + 3
    assert counts.tolist() == [6, 4, 20, 7]
    counts = np.array([9, 8, 20, 7])
    # The other way round: edge 2-0 lowers 0 to 6, edge 1-2 lowers 1 to 4, and edge 0-1 holds.
    assert lower_counts(neighbours, allowed, np.array([3, 2, 1, 0]), counts) == 3 + 4
    assert counts.tolist() == [6, 4, 20, 7]


def test_of_equal_ends_the_edges_own_record_is_lowered():
    counts = np.array([7, 7])
    lower_counts(np.array([[1], [-1]], np.int32), np.array([[3], [ANY]], np.int32), np.arange(2), counts)
    assert counts.tolist() == [3, 7]
