"""Sketches of records, one by one and in batches; that estimates from them are unbiased and as uncertain as said."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from shoal.data.sparse.records import Sparse
from shoal.errors import DataError, PolicyError
from shoal.sparse import sketch as sketch_module
from shoal.sparse.rounding import step_of
from shoal.sparse.signs import new_key, sign_table
from shoal.sparse.sketch import Sketcher, sketch_records
from tests.unit.sparse.random_records import draw

KEY = new_key(1)


def dense(records):
    matrix = np.zeros((len(records), records.n_items), records.weights.dtype)
    matrix[np.repeat(np.arange(len(records)), records.sizes), records.items] = records.weights
    return matrix


@pytest.mark.parametrize("kind", ["sets", "counts", "reals"])
@pytest.mark.parametrize("n_items", [30, 3000])  # fewer items than entries, and more
def test_components_are_products_with_the_signs(kind, n_items):
    records = draw(kind=kind, n_items=n_items)
    counts = np.arange(len(records)) * 3
    sketches = sketch_records(records, counts, KEY)
    signs = sign_table(records.item_keys(), KEY, int(counts.max()))
    whole = dense(records) @ signs.astype(records.weights.dtype)
    step = step_of(records)
    if kind == "reals":
        whole = np.rint(whole / step) * step
    assert sketches.counts.tolist() == counts.tolist()
    assert sketches.step == step
    assert sketches.components.dtype == {"sets": np.int32, "counts": np.int64, "reals": np.float64}[kind]
    for i, n in enumerate(counts):
        assert sketches.components[sketches.starts[i] : sketches.starts[i + 1]].tolist() == whole[i, :n].tolist()


@pytest.mark.parametrize("kind", ["sets", "counts", "reals"])
def test_a_record_sketched_alone_equals_the_batch(kind):
    records = draw(kind=kind)
    step = 2.0**-60  # so fine that the order of a sum shows
    batch = sketch_records(records, np.full(len(records), 70), KEY, step).components.reshape(-1, 70)
    sketcher = Sketcher(KEY, 70, step)
    rng = np.random.default_rng(3)
    for i in range(len(records)):
        own = slice(records.starts[i], records.starts[i + 1])
        shuffled = rng.permutation(records.sizes[i])
        names = [records.names[item] for item in records.items[own][shuffled]]
        alone = sketcher.sketch(names, None if kind == "sets" else records.weights[own][shuffled])
        assert alone.dtype.kind == batch.dtype.kind
        assert np.array_equal(alone, batch[i])


def test_many_components_over_many_items_are_made_in_parts(monkeypatch):
    records = draw(longest=200)
    counts = np.arange(len(records)) * 5
    whole = sketch_records(records, counts, KEY)
    monkeypatch.setattr(sketch_module, "TABLE_BYTES", 64 * records.n_items)
    monkeypatch.setattr(sketch_module, "_BLOCK_ENTRIES", 100)
    assert sketch_records(records, counts, KEY).components.tobytes() == whole.components.tobytes()


def test_same_key_same_bytes_and_another_key_another_sketch():
    records = draw()
    counts = np.full(len(records), 40)
    one = sketch_records(records, counts, KEY)
    assert one.components.tobytes() == sketch_records(records, counts, KEY).components.tobytes()
    assert (one.components != sketch_records(records, counts, new_key(2)).components).mean() > 0.5


def test_parity_of_components_is_that_of_the_sum_of_weights():
    records = draw(kind="counts")
    sketches = sketch_records(records, np.full(len(records), 33), KEY).components.reshape(-1, 33)
    assert (sketches % 2 == records.sums(records.weights)[:, None] % 2).all()


def test_labels_and_empty_records_stay():
    records = draw(5).with_labels(list("abcab"))
    sketches = sketch_records(records.take(np.array([], np.int64)), np.array([], np.int64), KEY)
    assert len(sketches) == 0
    empty = replace(records, starts=np.zeros(6, np.int64), items=records.items[:0], weights=records.weights[:0])
    sketches = sketch_records(empty, np.array([0, 1, 2, 3, 4]), KEY)
    assert sketches.components.tolist() == [0] * 10
    assert sketches.classes == ("a", "b", "c")
    assert sketches.labels is records.labels


def test_refusals_name_no_secret():
    records = draw()
    with pytest.raises(DataError, match="one for each record"):
        sketch_records(records, np.ones(3, np.int64), KEY)
    with pytest.raises(DataError, match="from 0 on"):
        sketch_records(records, np.full(len(records), -1), KEY)
    with pytest.raises(PolicyError, match="not 32 bytes"):
        sketch_records(records, np.ones(len(records)), b"short")
    for step in (0.3, 0.0, -1.0, float("nan"), True):
        with pytest.raises(PolicyError, match="power of two"):
            sketch_records(draw(kind="reals"), np.ones(60, np.int64), KEY, step)
    huge = replace(records, weights=np.full(len(records.items), 2**60))
    with pytest.raises(DataError, match="too large"):
        sketch_records(huge, np.ones(60, np.int64), KEY)
    with pytest.raises(DataError, match="not finite"):
        sketch_records(replace(records, weights=np.full(len(records.items), np.nan)), np.ones(60, np.int64), KEY, 1.0)
    assert repr(KEY) not in repr(Sketcher(KEY, 4))
    for items, weights in ((["a", "a"], [1, 2]), (["a"], [1, 2]), (["a"], ["x"]), ("abc", None), ([1], None)):
        with pytest.raises(DataError):
            Sketcher(KEY, 4).sketch(items, weights)
    for n in (0, 2.5, True):
        with pytest.raises(PolicyError):
            Sketcher(KEY, n)


def test_a_set_may_name_an_item_twice():
    assert Sketcher(KEY, 9).sketch(["a", "b", "a"]).tolist() == Sketcher(KEY, 9).sketch(["b", "a"]).tolist()


def within(estimates, expected, sigmas=6.0):
    """Whether a mean is as expected; six standard errors are missed once in 500 million times."""
    return abs(estimates.mean() - expected) <= sigmas * estimates.std() / np.sqrt(len(estimates))


ATTRIBUTES = {"a": 3, "b": 1, "c": -2, "d": 1, "e": 1, "f": 4}
PAIRS = [
    ({"a": 1, "b": 1, "c": 1, "d": 1}, {"c": 1, "d": 1, "e": 1}),
    ({"a": 3, "b": -1, "c": 2, "d": 1}, {"a": 1, "b": 2, "c": -1, "e": 1}),
    ({str(i): 1 for i in range(10)}, {str(i): 1 for i in range(10)}),  # 180, where the paper's formula says 0
]


@cache
def over_keys(n_keys=100, n_components=512):
    """Components of all records above and signs of all items, each over many keys and components."""
    records = Sparse.of([ATTRIBUTES, *(record for pair in PAIRS for record in pair)])
    parts, signs = [], []
    for seed in range(n_keys):
        key = new_key(1000 + seed)
        made = sketch_records(records, np.full(len(records), n_components), key)
        parts.append(made.components.reshape(len(records), n_components))
        signs.append(sign_table(records.item_keys(), key, n_components))
    return records, np.hstack(parts).astype(np.float64), np.hstack(signs).astype(np.float64)


def test_attribute_estimates_are_unbiased_and_have_the_variance_of_the_paper():
    records, sketches, signs = over_keys()
    for k, name in enumerate(records.names):
        truth = ATTRIBUTES.get(name, 0)
        estimates = sketches[0] * signs[k]  # Eq. (2.2)
        assert within(estimates, truth)
        assert within((estimates - truth) ** 2, sum(w * w for w in ATTRIBUTES.values()) - truth**2)  # below Eq. (2.5)


@pytest.mark.parametrize("number", range(len(PAIRS)))
def test_product_estimates_are_unbiased_and_have_the_exact_variance(number):
    x, y = PAIRS[number]
    _, sketches, _ = over_keys()
    products = sketches[1 + 2 * number] * sketches[2 + 2 * number]
    dot = sum(w * y.get(name, 0) for name, w in x.items())
    common = sum(w**2 * y.get(name, 0) ** 2 for name, w in x.items())
    lengths = sum(w * w for w in x.values()) * sum(w * w for w in y.values())
    exact = lengths + dot**2 - 2 * common
    assert within(products, dot)
    assert within((products - dot) ** 2, exact)
    # The test is sharp enough to tell it from the formula that the paper prints.
    assert not within((products - dot) ** 2, lengths - dot**2)
    if x == y:
        assert exact == 180
