"""From records and a policy to what is published."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from shoal.data.sparse.records import Sparse
from shoal.errors import Infeasible, PolicyError
from shoal.kinds.sparse.policy import SparsePolicy
from shoal.sparse.anonymize import REASONS, anonymize_sparse, component_caps
from shoal.sparse.content_order import canonical_order, published_order, refine
from shoal.sparse.delta import delta_counts
from shoal.sparse.k_variance import edges_of
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


@pytest.mark.parametrize("kind", ["sets", "counts", "reals"])
@pytest.mark.parametrize("model", ["delta", "k-variance"])
def test_what_is_published_are_the_sketches_of_the_rows_named(kind, model):
    records = draw(kind=kind)
    policy = SparsePolicy.of(model=model, delta=0.3, **({"k": 3} if model == "k-variance" else {}))
    made = anonymize_sparse(records, policy, KEY)
    again = sketch_records(records.take(made.rows), made.counts[made.rows], KEY, made.sketches.step)
    assert made.sketches.components.tobytes() == again.components.tobytes()
    assert made.sketches.starts.tolist() == again.starts.tolist()
    assert made.sketches.labels.tolist() == again.labels.tolist()
    assert made.sketches.is_integral == (kind != "reals")
    assert published_order(made.sketches).tolist() == list(range(len(made.sketches)))
    assert sorted(made.rows.tolist()) == np.flatnonzero(made.counts).tolist()
    assert ((made.reasons == 0) == (made.counts > 0)).all()
    assert len(made.rows) > 20
    assert (made.counts <= delta_counts(records, 0.3)).all()
    assert made.n_suppressed == len(records) - len(made.rows)
    if model == "k-variance":
        # Neighbours are told by original rows.
        edges = edges_of(records, made.neighbours.indices)
        assert edges.violated(made.counts) == 0
        assert (made.neighbours.indices != np.arange(len(records))[:, None]).all()
        assert made.n_passes >= 1
    else:
        assert made.neighbours is None


@pytest.mark.parametrize("kind", ["sets", "reals"])
def test_the_order_of_the_input_does_not_show(kind):
    records = draw(kind=kind)
    policy = SparsePolicy.of(k=3, delta=0.2)
    made = anonymize_sparse(records, policy, KEY)
    for seed in range(5):
        shuffle = np.random.default_rng(seed).permutation(len(records))
        other = anonymize_sparse(records.take(shuffle), policy, KEY)
        assert other.sketches.components.tobytes() == made.sketches.components.tobytes()
        assert other.sketches.starts.tolist() == made.sketches.starts.tolist()
        assert other.sketches.labels.tolist() == made.sketches.labels.tolist()
        assert other.counts.tolist() == made.counts[shuffle].tolist()
        assert other.reasons.tolist() == made.reasons[shuffle].tolist()


def test_reasons():
    rows = [["a", "b", "c", "d"]] * 6 + [[]] + [["e"]] + [["a", "b", "c"]]
    labels = ["x"] * 6 + ["x"] + ["x"] + ["y"]
    records = Sparse.of(rows, labels)
    made = anonymize_sparse(records, SparsePolicy.of(model="delta", recovery_cap=False, rare=2), KEY)
    assert [REASONS[r] for r in made.reasons] == ["kept"] * 6 + ["empty", "too_short", "small_class"]
    # a + b and a - b share two items and yet have the product 0: its estimate is always right, so none is allowed.
    far = Sparse.of([{"a": 1, "b": 1}, {"a": 1, "b": -1}])
    made = anonymize_sparse(far, SparsePolicy.of(k=1, recovery_cap=False), KEY)
    assert sorted(REASONS[r] for r in made.reasons) == ["kept", "too_distinct"]


def test_caps_take_the_smallest_of_all():
    records = draw()
    step = 1.0
    plain = SparsePolicy.of(model="delta", delta=0.1, max_components=4096, recovery_cap=False, rare=1)
    wide, _ = component_caps(records, plain, step)
    assert (wide == delta_counts(records, 0.1)).all()
    few, _ = component_caps(records, plain.changed(max_components=7), step)
    assert (few == np.minimum(wide, 7)).all()
    capped, _ = component_caps(records, plain.changed(recovery_cap=True), step)
    assert (capped <= wide).all()
    assert (capped < wide).any()


def test_too_few_records_for_k():
    records = Sparse.of([["a", "b"], ["b", "c"], [], []])
    with pytest.raises(Infeasible, match="2 records with items"):
        anonymize_sparse(records, SparsePolicy.of(k=2), KEY)
    anonymize_sparse(records, SparsePolicy.of(k=1), KEY)


def test_nothing_to_publish():
    for rows in ([], [[]], [[], []]):
        made = anonymize_sparse(Sparse.of(rows), SparsePolicy.of(model="delta"), KEY)
        assert len(made.sketches) == len(made.rows) == 0
        assert [REASONS[r] for r in made.reasons] == ["empty"] * len(rows)
        with pytest.raises(Infeasible):
            anonymize_sparse(Sparse.of(rows), SparsePolicy.of(k=1), KEY)


def test_classes_of_few_are_left_out_but_remain_neighbours():
    records = draw(60, classes="x")
    records = replace(records, classes=("x", "y"), labels=np.where(np.arange(60) < 3, 1, 0).astype(np.int32))
    made = anonymize_sparse(records, SparsePolicy.of(k=5), KEY)
    assert [REASONS[r] for r in made.reasons[:3]] == ["small_class"] * 3
    assert made.counts[:3].tolist() == [0, 0, 0]
    assert set(made.neighbours.indices[3:].ravel().tolist()) & {0, 1, 2}


def test_the_key_is_refused_before_any_work():
    with pytest.raises(PolicyError, match="not 32 bytes"):
        anonymize_sparse(draw(), SparsePolicy(), b"")


def test_real_weights_are_told_about():
    assert "rounded" in anonymize_sparse(draw(kind="reals"), SparsePolicy.of(model="delta"), KEY).notes[0]
    assert anonymize_sparse(draw(), SparsePolicy.of(model="delta"), KEY).notes == ()
