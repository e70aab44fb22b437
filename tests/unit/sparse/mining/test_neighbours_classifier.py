"""Nearest neighbours among sketches, beside slow twins and the same rule on originals."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from shoal.data.sparse.records import Sparse
from shoal.data.sparse.sketches import Sketches
from shoal.errors import DataError, PolicyError
from shoal.sparse.mining import SketchKNeighbors
from shoal.sparse.mining.neighbours_classifier import SHARPNESS, elect
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
def test_with_many_components_predictions_are_those_on_originals(metric) -> None:
    train, test = two_crowds(150, 4), two_crowds(60, 5)
    sketches = [sketch_records(r, np.full(len(r), 8000), KEY) for r in (train, test)]
    model = SketchKNeighbors(n_neighbors=7, metric=metric).fit(sketches[0])
    x, y = dense_of(test), dense_of(train)
    if metric == "cosine":
        true = x @ y.T / np.outer(np.linalg.norm(x, axis=1), np.linalg.norm(y, axis=1))
    else:
        true = -((x[:, None] - y[None]) ** 2).sum(axis=2) / (2 * (y**2).sum(axis=1).mean())
    blocks = [(slice(0, 60), true.astype(np.float32))]
    expected = elect(blocks, train.labels, 2, [7], ["similarity"], 60)[7, "similarity"]
    # Originals tie where sketches cannot, so few may differ.
    assert (model.predict(sketches[1]) == expected).mean() > 0.95
    assert 0.85 < model.score(sketches[1]) <= 1


def test_votes_are_those_of_a_loop_over_records() -> None:
    rng = np.random.default_rng(0)
    block = (rng.integers(0, 9, (40, 30)) / 20).astype(np.float32)  # many ties
    labels = rng.integers(0, 3, 30).astype(np.int32)
    found = elect(
        [(slice(0, 25), block[:25]), (slice(25, 40), block[25:])], labels, 3, [1, 4, 99], ["similarity", "uniform"], 40
    )
    for (k, votes), named in found.items():
        for row, got in zip(block.astype(float), named, strict=True):
            n = min(k, 30)
            limit = sorted(row)[-n]
            share = (n - (row > limit).sum()) / (row == limit).sum()
            votes_of = np.where(row > limit, 1.0, np.where(row == limit, share, 0.0))
            kinds = [
                [(w * (labels == c)).sum() for c in range(3)] for w in (votes_of, votes_of * np.exp(SHARPNESS * row))
            ]
            first, second = kinds if votes == "uniform" else kinds[::-1]
            leading = [c for c in range(3) if first[c] >= max(first) * (1 - 1e-9)]
            assert got == next(c for c in leading if second[c] >= max(second[d] for d in leading) * (1 - 1e-9))


def test_the_order_of_known_records_is_without_influence() -> None:
    train, test = ragged(two_crowds(200, 6), 1, 6), ragged(two_crowds(80, 7), 1, 6, 1)
    order = np.random.default_rng(1).permutation(200)
    for metric in ("cosine", "euclidean"):
        one = SketchKNeighbors(n_neighbors=5, metric=metric).fit(train).predict(test)
        other = SketchKNeighbors(n_neighbors=5, metric=metric).fit(train.take(order)).predict(test)
        assert (one == other).all()


def test_records_of_few_components_do_not_crowd_out_the_others() -> None:
    """Half of the known records have one component and random classes, and must not be everyone's neighbours."""
    train, test = two_crowds(600, 8), ragged(two_crowds(200, 9), 60, 60)
    counts = np.where(np.arange(600) % 2, 60, 1)
    labels = np.where(np.arange(600) % 2, train.labels, np.random.default_rng(0).integers(0, 2, 600)).astype(np.int32)
    sketches = replace(sketch_records(train, counts, KEY), labels=labels)
    good = sketches.take(np.arange(1, 600, 2))
    alone = SketchKNeighbors(n_neighbors=15).fit(good).score(test)
    assert alone > 0.8
    assert SketchKNeighbors(n_neighbors=15).fit(sketches).score(test) > alone - 0.03


def test_a_score_compares_classes_by_name() -> None:
    sketches = ragged(two_crowds(50, 1), 20, 20)
    model = SketchKNeighbors(n_neighbors=1).fit(sketches)
    assert model.score(sketches) > 0.9
    renamed = replace(sketches, labels=1 - sketches.labels, classes=("b", "a"))
    assert model.score(renamed) == model.score(sketches)
    assert model.score(replace(sketches, classes=("x", "y"))) == 0


def test_what_cannot_be_is_refused() -> None:
    sketches = ragged(two_crowds(10, 1), 3, 3)
    with pytest.raises(DataError, match="classes"):
        SketchKNeighbors().fit(replace(sketches, labels=None))
    with pytest.raises(DataError, match="classes"):
        SketchKNeighbors().fit(sketches).score(replace(sketches, labels=None))
    for wrong in ({"n_neighbors": 0}, {"metric": "manhattan"}, {"votes": "none"}):
        with pytest.raises(PolicyError):
            SketchKNeighbors(**wrong).fit(sketches)
