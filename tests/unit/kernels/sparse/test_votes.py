"""Guesses by the nearest published records, against the same with dense matrices."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from shoal.kernels.sparse.votes import best_by_votes


def slow(whole, known, rarity, held, units, n_voters, ties):
    """The unknown item of most votes by the nearest rows, all in dense numbers."""
    found = []
    for mine in known:
        near = units @ (mine * rarity)
        order = [row for row in np.argsort(-near, kind="stable") if near[row] > 0]
        best = []
        for n in n_voters:
            votes = sum((near[row] * held[row] for row in order[:n]), np.zeros(len(rarity)))
            votes = np.where((votes > 0) & (mine == 0), votes + ties, 0)
            best.append(int(votes.argmax()) if votes.any() else -1)
        found.append(best)
    return np.array(found).T


@pytest.mark.parametrize("seed", range(5))
def test_guesses_are_those_of_dense_matrices(seed):
    rng = np.random.default_rng(seed)
    held = (rng.random((30, 12)) < 0.3).astype(float)
    whole = (rng.random((15, 12)) < 0.4).astype(float)
    known = whole * (rng.random(whole.shape) < 0.5)
    rarity, ties = rng.uniform(1, 3, 12), rng.uniform(0, 1e-6, 12)
    units = held * rarity / np.maximum(np.sqrt(((held * rarity) ** 2).sum(axis=1, keepdims=True)), 1e-9)
    units *= rng.uniform(0.9, 1.1, units.shape)  # so that no two are equally near
    persons, rows, columns = csr_matrix(whole), csr_matrix(held), csr_matrix(units).tocsc()
    owners = np.repeat(np.arange(15), np.diff(persons.indptr))
    n_voters = np.array([1, 3, 8])
    found = best_by_votes(
        persons.indptr.astype(np.int64),
        persons.indices,
        known[owners, persons.indices] > 0,
        rarity,
        rows.indptr.astype(np.int64),
        rows.indices,
        columns.indptr.astype(np.int64),
        columns.indices,
        columns.data.astype(np.float32),
        n_voters,
        ties,
    )
    single = np.float32(units).astype(float)
    assert found.tolist() == slow(whole, known, rarity, held, single, n_voters, ties).tolist()


def test_who_is_near_to_nobody_is_not_guessed():
    none = np.zeros(1, np.int64)
    found = best_by_votes(
        np.array([0, 1]),
        np.zeros(1, np.int32),
        np.ones(1, bool),
        np.ones(2),
        none,
        np.zeros(0, np.int32),
        np.zeros(3, np.int64),
        np.zeros(0, np.int32),
        np.zeros(0, np.float32),
        np.array([1, 5]),
        np.zeros(2),
    )
    assert found.tolist() == [[-1], [-1]]
