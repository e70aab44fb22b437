"""From records and a policy to what is published."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from shoal.data.samples.quest import labelled_records
from shoal.data.sparse.records import Sparse
from shoal.errors import Infeasible, PolicyError
from shoal.kinds.sparse.policy import SparsePolicy
from shoal.kinds.sparse.release import release_sparse
from shoal.sparse import anonymize as method
from shoal.sparse.anonymize import REASONS, anonymize_sparse, component_caps
from shoal.sparse.content_order import published_order
from shoal.sparse.delta import delta_counts
from shoal.sparse.k_variance import edges_of
from shoal.sparse.signs import new_key
from shoal.sparse.sketch import sketch_records
from tests.unit.sparse.test_k_variance import n_violated

KEY = new_key(1)


def draw(n=80, kind="sets", seed=0, classes="xy"):
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(n):
        items = rng.choice(60, int(rng.integers(1, 12)), replace=False) // rng.integers(1, 4)
        weights = {"sets": np.ones(12, int), "counts": rng.integers(1, 5, 12), "reals": rng.normal(size=12)}[kind]
        rows.append(dict(zip([f"{i:02d}" for i in items], weights.tolist(), strict=False)))
    return Sparse.of(rows, [classes[int(c)] for c in rng.integers(0, len(classes), n)])


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
        assert n_violated(edges, made.counts) == 0
        assert (made.neighbours.indices != np.arange(len(records))[:, None]).all()
        assert made.n_passes >= 1
    else:
        assert made.neighbours is None


@pytest.mark.parametrize("kind", ["sets", "reals"])
def test_the_order_of_the_input_does_not_show(kind):
    records = draw(kind=kind)
    policy = SparsePolicy.of(publish="sketch", k=3, delta=0.2)
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
    made = anonymize_sparse(far, SparsePolicy.of(publish="sketch", k=1, recovery_cap=False), KEY)
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
        anonymize_sparse(records, SparsePolicy.of(publish="sketch", k=2), KEY)
    anonymize_sparse(records, SparsePolicy.of(publish="sketch", k=1), KEY)


def test_nothing_to_publish():
    for rows in ([], [[]], [[], []]):
        made = anonymize_sparse(Sparse.of(rows), SparsePolicy.of(model="delta"), KEY)
        assert len(made.sketches) == len(made.rows) == 0
        assert [REASONS[r] for r in made.reasons] == ["empty"] * len(rows)
        with pytest.raises(Infeasible):
            anonymize_sparse(Sparse.of(rows), SparsePolicy.of(publish="sketch", k=1), KEY)


def test_classes_of_few_are_left_out_but_remain_neighbours():
    records = draw(60, classes="x")
    records = replace(records, classes=("x", "y"), labels=np.where(np.arange(60) < 3, 1, 0).astype(np.int32))
    made = anonymize_sparse(records, SparsePolicy.of(publish="sketch", k=5), KEY)
    assert [REASONS[r] for r in made.reasons[:3]] == ["small_class"] * 3
    assert made.counts[:3].tolist() == [0, 0, 0]
    assert set(made.neighbours.indices[3:].ravel().tolist()) & {0, 1, 2}


def test_the_key_is_refused_before_any_work():
    with pytest.raises(PolicyError, match="not 32 bytes"):
        anonymize_sparse(draw(), SparsePolicy.of(publish="sketch"), b"")


def test_real_weights_are_told_about():
    assert "rounded" in anonymize_sparse(draw(kind="reals"), SparsePolicy.of(model="delta"), KEY).notes[0]
    assert anonymize_sparse(draw(), SparsePolicy.of(model="delta"), KEY).notes == ()


POLICY = SparsePolicy.of(publish="sketch", k=5)


@pytest.fixture(scope="module")
def baskets() -> Sparse:
    return labelled_records("C20.I4.D400", seed=5)


def lists(n: int, size: int, n_items: int = 300, seed: int = 0) -> list[list[str]]:
    rng = np.random.default_rng(seed)
    return [[f"w{i}" for i in rng.choice(n_items, size, replace=False)] for _ in range(n)]


def test_a_class_of_which_few_are_left_is_not_published() -> None:
    """Five records of a class, four too short to be published: the label pointed at the fifth."""
    data = Sparse.of([*lists(45, 15), *lists(4, 1, seed=1)], [*["many"] * 44, *["few"] * 5])
    made = anonymize_sparse(data, SparsePolicy.of(model="delta"), new_key(1))
    assert {made.sketches.classes[c] for c in made.sketches.labels} == {"many"}
    assert method.REASONS[made.reasons[44]] == "small_class"
    assert [method.REASONS[r] for r in made.reasons[45:]] == ["too_short"] * 4


def test_an_item_that_most_records_have_is_told() -> None:
    """Of baskets with one item in 90 % of them, the mean of the sketches gave 21 of its 24 signs away."""
    plain = Sparse.of(lists(60, 15))
    popular = Sparse.of([[*items, "bag"] if i % 10 else items for i, items in enumerate(lists(60, 15))])
    notes = [anonymize_sparse(r, POLICY, new_key(2)).notes for r in (plain, popular)]
    assert not any("mean of all sketches" in note for note in notes[0])
    assert any(note.startswith("one item is in more than half") for note in notes[1])


def test_a_delta_that_is_nothing_beside_the_weights_is_told() -> None:
    heavy = Sparse.of([dict.fromkeys(items, 100) for items in lists(60, 15)])
    assert any("small beside the square" in note for note in anonymize_sparse(heavy, POLICY, new_key(2)).notes)
    light = Sparse.of(lists(60, 15))
    assert not any("small beside the square" in note for note in anonymize_sparse(light, POLICY, new_key(2)).notes)


def test_a_search_that_finds_few_of_the_nearest_is_refused(baskets: Sparse, monkeypatch: pytest.MonkeyPatch) -> None:
    honest = method._within_edges

    def blind(*given: object) -> object:
        counts, found, n_passes = honest(*given)
        return counts, replace(found, how="partition", recall=0.3), n_passes

    monkeypatch.setattr(method, "_within_edges", blind)
    with pytest.raises(Infeasible, match="30 %"):
        release_sparse(baskets, POLICY.changed(neighbours="partition"))


def test_the_release_does_not_depend_on_threads_or_order(baskets: Sparse, monkeypatch: pytest.MonkeyPatch) -> None:
    one = anonymize_sparse(baskets, POLICY, new_key(9))
    monkeypatch.setattr("os.cpu_count", lambda: 7)
    shuffled = np.random.default_rng(1).permutation(len(baskets))
    other = anonymize_sparse(baskets.take(shuffled), POLICY, new_key(9))
    assert np.array_equal(one.sketches.starts, other.sketches.starts)
    assert np.array_equal(one.sketches.components, other.sketches.components)
    assert np.array_equal(one.sketches.labels, other.sketches.labels)
    assert np.array_equal(one.reasons[shuffled], other.reasons)
