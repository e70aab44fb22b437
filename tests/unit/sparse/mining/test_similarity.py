"""The tests of `sparse/mining/similarity.py`."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.data.sparse.records import Sparse
from shoal.data.sparse.sketches import Sketches
from shoal.sparse.mining import similarity
from shoal.sparse.mining.similarity import PRIOR_WEIGHT, Background, similarity_blocks
from shoal.sparse.signs import new_key
from shoal.sparse.sketch import sketch_records
from tests.unit.sparse.mining.crowds import two_crowds

KEY = new_key(5)


def dense_of(records: Sparse) -> np.ndarray:
    out = np.zeros((len(records), records.n_items))
    out[np.repeat(np.arange(len(records)), records.sizes), records.items] = records.weights
    return out


def ragged(records: Sparse, low: int, high: int, seed: int = 0) -> Sketches:
    counts = np.random.default_rng(seed).integers(low, high + 1, len(records))
    return sketch_records(records, counts, KEY)


@pytest.mark.parametrize("metric", ["cosine", "euclidean"])
def test_similarities_are_those_of_a_loop_over_pairs(metric, monkeypatch) -> None:
    monkeypatch.setattr(similarity, "BLOCK_CELLS", 100)
    known, tested = ragged(two_crowds(30, 1), 0, 40), ragged(two_crowds(20, 2), 0, 50, 1)
    background = Background(0.2, 9.0, 3.0)
    got = np.concatenate([block for _, block in similarity_blocks(tested, known, metric, background)])
    x, y = tested.padded(), known.padded()
    lengths = []
    for sketches, rows in ((tested, x), (known, y)):
        weight = 2 * 9.0**2 / 3.0**2
        lengths.append(
            [np.sqrt(((r**2).sum() + weight * 9) / (m + weight)) for r, m in zip(rows, sketches.counts, strict=True)]
        )
    for i in range(len(tested)):
        for j in range(len(known)):
            m = min(tested.counts[i], known.counts[j])
            if metric == "cosine":
                above = x[i, :m] @ y[j, :m] / (lengths[0][i] * lengths[1][j]) - 0.2 * m
            else:
                above = 0.8 * m - ((x[i, :m] - y[j, :m]) ** 2).sum() / 18
            assert got[i, j] == pytest.approx(above / (m + PRIOR_WEIGHT), abs=1e-5)


def test_the_background_is_that_of_the_records() -> None:
    records = two_crowds(1000, 3)
    dense = dense_of(records)
    units = dense / np.linalg.norm(dense, axis=1, keepdims=True)
    cosine = (np.linalg.norm(units.sum(axis=0)) ** 2 - len(units)) / (len(units) * (len(units) - 1))
    background = Background.of(ragged(records, 150, 250))
    squares = (dense**2).sum(axis=1)
    assert background.cosine == pytest.approx(cosine, abs=0.03)
    assert background.square == pytest.approx(squares.mean(), rel=0.1)
    assert background.square_deviation == pytest.approx(squares.std(), rel=0.4)
