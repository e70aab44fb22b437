"""Edit distance by bits against the table of Needleman and Wunsch; the vote against a sort."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from shoal.data.strings.strings import Strings
from shoal.kernels.strings.edit_distance import edit_distances, vote_nearest


def slow_distance(a, b):
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, start=1):
        before, row[0] = row[0], i
        for j, y in enumerate(b, start=1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (x != y))
    return row[-1]


def texts(rng, n, longest, alphabet="abcd"):
    return ["".join(rng.choice(list(alphabet), rng.integers(0, longest + 1))) for _ in range(n)]


@pytest.mark.parametrize("longest", [5, 63, 64, 65, 200])
def test_distances_are_those_of_the_table(longest):
    rng = np.random.default_rng(longest)
    ours, others = texts(rng, 8, longest), texts(rng, 8, longest)
    ours += ["abcd" * longest, "", "a" * longest]
    others += [("abcd" * longest)[:longest], "", ours[0], ours[1][1:] + "a"]
    a, b = Strings.of(ours, alphabet="abcd"), Strings.of(others, alphabet="abcd")
    rows, other_rows = np.arange(len(ours)), np.arange(len(others))[::-1].copy()
    found = edit_distances(a.symbols, a.starts, rows, b.symbols, b.starts, other_rows, 4)
    assert found.tolist() == [[slow_distance(x, y) for y in others[::-1]] for x in ours]


@pytest.mark.parametrize("n_neighbours", [1, 3, 10, 100])
@pytest.mark.parametrize("alphabet", ["ab", "abcdefghijklmnopqrstuvwxyz"])
def test_the_vote_is_that_of_the_nearest(n_neighbours, alphabet):
    rng = np.random.default_rng(n_neighbours)
    train, tested = texts(rng, 60, 12, alphabet), texts(rng, 40, 12, alphabet)
    labels = rng.integers(0, 3, 60)
    priors = np.bincount(labels, minlength=3)
    t, q = Strings.of(train, alphabet=alphabet), Strings.of(tested, alphabet=alphabet)
    found = vote_nearest(
        q.symbols, q.starts, t.symbols, t.starts, labels.astype(np.int32), priors, n_neighbours, 1000, len(alphabet)
    )
    for string, predicted in zip(tested, found.tolist(), strict=True):
        distances = [slow_distance(string, s) * 1000 // max(len(string), len(s), 1) for s in train]
        limit = sorted(distances)[min(n_neighbours, 60) - 1]
        votes = Counter(c for c, d in zip(labels.tolist(), distances, strict=True) if d <= limit)
        assert predicted == max(range(3), key=lambda c: (votes[c], priors[c], -c))
