"""The order of distances between groups, by hand."""

from __future__ import annotations

import json

import numpy as np
import pytest

from shoal.data.strings.strings import Strings
from shoal.errors import DataError
from shoal.utility.strings import compare_distances
from shoal.utility.strings.distances import _draw_pairs

# Groups at 0, 1, 3 and 7 of a line: all six distances differ.
PLACES = {0: 0, 1: 1, 2: 3, 3: 7}


def line(places, copies=2):
    texts = ["b" * p + "a" * (10 - p) for p in places.values() for _ in range(copies)]
    return Strings.of(texts), np.repeat(list(places), copies)


def test_the_same_strings_keep_all_orders():
    strings, groups = line(PLACES)
    found = compare_distances(strings, groups, strings, groups)
    assert (found.kept, found.kept_by_mean, found.n_pairs, found.n_comparisons) == (1.0, 1.0, 6, 15)
    assert sorted(found.before) == [1, 2, 3, 4, 6, 7]
    assert found.before == found.after
    json.dumps(found.to_dict())


def test_orders_that_change_are_counted():
    strings, groups = line(PLACES)
    moved, _ = line({**PLACES, 3: 2})
    found = compare_distances(strings, groups, moved, groups)
    # Distances 1 3 7 2 6 4 become 1 3 2 2 1 1.
    before = {(1, 0): 1, (2, 0): 3, (3, 0): 7, (2, 1): 2, (3, 1): 6, (3, 2): 4}
    after = {(1, 0): 1, (2, 0): 3, (3, 0): 2, (2, 1): 2, (3, 1): 1, (3, 2): 1}
    pairs = list(before)
    kept = [
        np.sign(before[p] - before[q]) == np.sign(after[p] - after[q]) for i, p in enumerate(pairs) for q in pairs[:i]
    ]
    assert found.kept == pytest.approx(np.mean(kept))


def test_sums_grow_with_groups_and_means_do_not():
    strings, groups = line(PLACES)
    rows = np.concatenate([np.arange(8), np.full(40, 1)])  # the first group is larger
    found = compare_distances(strings, groups, strings.take(rows), groups[rows], n_strings=100)
    assert found.kept_by_mean == 1.0
    assert found.kept < 1.0


def test_groups_without_pseudo_strings_and_suppressed_strings_are_left_out():
    strings, groups = line(PLACES)
    groups = groups.copy()
    groups[-2:] = -1
    found = compare_distances(strings, groups, strings.take(np.arange(6)), groups[:6])
    assert found.n_pairs == 3
    with pytest.raises(DataError, match="three groups"):
        compare_distances(strings, groups, strings.take(np.arange(4)), groups[:4])


@pytest.mark.parametrize("n_groups", [3, 4, 57])
def test_all_pairs_are_drawn_once(n_groups):
    pairs = _draw_pairs(n_groups, 10_000, np.random.default_rng(0))
    assert {tuple(p) for p in pairs.tolist()} == {(i, j) for i in range(n_groups) for j in range(i)}
    assert len(pairs) == n_groups * (n_groups - 1) // 2
