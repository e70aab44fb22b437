"""The tests of `kernels/attack/covering.py`."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.attack.tables.predicates import AT_LEAST, AT_MOST, EQUAL, LESS, MORE, OTHER, Crowd, Predicates, about_people
from shoal.kernels.attack.covering import Runs, count_covered, fill_bits, list_covering
from shoal.kernels.compile import interpreted
from tests.unit.attack.tables.views import view_of


@pytest.fixture(params=["labels", "plain"])
def view(request):
    return view_of(request.param)


def test_predicates_count_people(view):
    rng = np.random.default_rng(2)
    n = 400
    columns = np.sort(np.argsort(rng.random((n, 3)), axis=1)[:, :2], axis=1)
    labels = np.array([[rng.integers(0, view.labels[c].n_labels) for c in row] for row in columns])
    operators = np.array(
        [[rng.integers(0, 6) if c == 0 else rng.choice([EQUAL, OTHER]) for c in row] for row in columns]
    )
    predicates = Predicates(columns, labels, operators)
    counts = Crowd(view.original).count(about_people(predicates, view), 10**6)
    assert len(set(counts.tolist())) > 5
    for i in range(n):
        holds = np.ones(50, dtype=bool)
        for c, label, operator in zip(columns[i], labels[i], operators[i], strict=True):
            holds &= np.array([slow_holds(view.labels[c], label, operator, x) for x in view.original[:, c]])
        assert counts[i] == holds.sum(), (columns[i], labels[i], operators[i])
    capped = Crowd(view.original).count(about_people(predicates, view), 2)
    np.testing.assert_array_equal(capped, np.minimum(counts, 2))


def slow_holds(read, label, operator, x):
    low, high = read.low[label], read.high[label]
    listed = read.listed[read.begins[label] : read.begins[label + 1]]
    only_missing = read.may_miss[label] and low > high
    if only_missing:
        return not np.isnan(x) if operator == OTHER else bool(np.isnan(x))
    if np.isnan(x):
        return bool(read.may_miss[label]) and operator == EQUAL
    if operator == EQUAL:
        return bool(low <= x <= high and (not len(listed) or x in listed))
    if operator == OTHER:  # of a label with gaps: outside its ends
        return not low <= x <= high
    return {AT_LEAST: x >= low, AT_MOST: x <= high, MORE: x > high, LESS: x < low}[operator]


@pytest.mark.parametrize(("n_owners", "is_weighted"), [(0, False), (7, False), (0, True)])
def test_interpreted_it_counts_the_same(n_owners, is_weighted):
    rng = np.random.default_rng(n_owners)
    first = rng.integers(0, 9, 40)
    runs = Runs(rng.integers(0, 20, 150), np.sort(rng.integers(0, 40, 21)), first, first + rng.integers(-1, 4, 40))
    cells = rng.integers(0, 9, (60, 3)).astype(np.int32)
    weights = rng.integers(1, 3, 60) if is_weighted else np.zeros(0, np.int64)
    owners = np.sort(rng.integers(0, n_owners, 60)) if n_owners else np.zeros(0, np.int64)

    def found():
        bits = np.zeros((9, 3), np.uint64)
        fill_bits(runs, bits)
        counts, boxes = np.zeros(150, np.int64), np.full(192, -1)
        count_covered(bits, cells, owners, weights, 4, counts)
        n = list_covering(bits, cells, 5, boxes)
        return bits, counts, boxes[:n]

    with interpreted(True):
        by_numpy = found()
    for ours, theirs in zip(by_numpy, found(), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    assert by_numpy[1].max() == 4
