"""The tests of `sparse/content_order.py`."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.data.sparse.records import Sparse
from shoal.sparse.content_order import canonical_order, published_order, refine
from shoal.sparse.signs import new_key
from shoal.sparse.sketch import sketch_records

KEY = new_key(1)


def draw(n=80, kind="sets", seed=0, classes="xy"):
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(n):
        items = rng.choice(60, int(rng.integers(1, 12)), replace=False) // rng.integers(1, 4)
        weights = {"sets": np.ones(12, int), "counts": rng.integers(1, 5, 12), "reals": rng.normal(size=12)}[kind]
        rows.append(dict(zip([f"{i:02d}" for i in items], weights.tolist(), strict=False)))
    return Sparse.of(rows, [classes[int(c)] for c in rng.integers(0, len(classes), n)])


def listed(records):
    """Each record as a tuple that sorts by content: items, weights, class."""
    out = []
    for i in range(len(records)):
        own = slice(records.starts[i], records.starts[i + 1])
        label = -1 if records.labels is None else int(records.labels[i])
        out.append((records.items[own].tolist(), records.weights[own].tolist(), label))
    return out


@pytest.mark.parametrize("kind", ["sets", "counts", "reals"])
def test_canonical_order_is_that_of_sorted_tuples(kind):
    records = draw(300, kind)
    records = records.take(np.concatenate([np.arange(300), np.arange(0, 300, 3)]))  # some twice
    order = canonical_order(records)
    assert sorted(order.tolist()) == list(range(400))
    rows = listed(records)
    assert [rows[i] for i in order] == sorted(rows)


def test_canonical_order_of_records_that_begin_others():
    records = Sparse.of([["a", "b", "c"], [], ["a", "b"], ["a"], [], ["a", "b"]])
    assert canonical_order(records).tolist() == [1, 4, 3, 2, 5, 0]
    assert canonical_order(records.take(np.zeros(0, np.int64))).tolist() == []


def test_ranks_count_the_rows_before():
    ranks = refine(np.array([3, 0, 0, 0]), np.array([0, 1, 2, 4, 5]), np.array([-9, 5, 4, 1, 5]))
    assert ranks.tolist() == [3, 1, 0, 1]


def test_published_order_is_by_class_count_and_components():
    records = draw(200)
    sketches = sketch_records(records, np.arange(200) % 5 + 1, KEY)
    order = published_order(sketches)
    parts = np.split(sketches.components, sketches.starts[1:-1])
    rows = [(int(sketches.labels[i]), len(parts[i]), parts[i].tolist()) for i in range(200)]
    assert [rows[i] for i in order] == sorted(rows)
