"""Items dealt anew: what is promised of pseudo-baskets, by a slow and obvious count, and that content alone decides."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal.check.sparse.baskets as check
import shoal.data.ragged as ragged
import shoal.sparse.deal_units as deal_units
from shoal.check.sparse.basket_guarantees import BasketsAsked
from shoal.check.sparse.baskets import BasketsEvidence, verify_baskets
from shoal.data.sparse.record_rows import RecordRows
from shoal.data.sparse.records import Sparse
from shoal.errors import Infeasible
from shoal.sparse.pseudo_baskets import PseudoBaskets, kept_sizes, pseudo_baskets
from shoal.sparse.units import joined_units


def shops(n: int = 400, seed: int = 1, n_items: int = 40, *, classes: bool = False) -> Sparse:
    """Baskets of a few patterns with noise."""
    rng = np.random.default_rng(seed)
    patterns = [rng.choice(n_items, 4, replace=False) for _ in range(8)]
    rows = [
        sorted({f"i{x:02d}" for x in [*patterns[rng.integers(8)], *rng.integers(0, n_items, rng.integers(1, 5))]})
        for _ in range(n)
    ]
    return Sparse.of(rows, [str(x) for x in rng.integers(0, 2, n)] if classes else None)


def rows_of(records: Sparse) -> list[tuple[str, ...]]:
    return [
        tuple(records.names[i] for i in records.items[low:high])
        for low, high in zip(records.starts[:-1], records.starts[1:], strict=True)
    ]


def assert_promises(records: Sparse, made: PseudoBaskets, k: int, support: int) -> None:
    """The guarantee in plain words, record by record."""
    originals, shown = rows_of(records), rows_of(made.baskets)
    persons = np.arange(len(records)) if records.persons is None else records.persons
    whose = list(zip(persons.tolist(), originals, strict=True))
    holders = Counter(item for _, item in {(person, item) for person, row in whose for item in row})
    whole = Counter(row for _, row in set(whose))
    members: dict[int, list[int]] = {}
    for row, group in enumerate(made.original_groups.tolist()):
        if group >= 0:
            members.setdefault(group, []).append(row)
    assert all(len({persons[row] for row in rows}) >= k for rows in members.values())
    for row in shown:
        assert row
        assert all(holders[item] >= k for item in row)
        assert whole[row] == 0 or whole[row] >= k
    for group, rows in members.items():
        classes = {None if records.labels is None else records.classes[records.labels[r]] for r in rows}
        assert len(classes) == 1
        ours = np.flatnonzero(made.groups == group)
        if records.labels is not None:
            assert {made.baskets.classes[made.baskets.labels[r]] for r in ours} <= classes
        sizes = sorted((sum(holders[i] >= k for i in originals[r]) for r in rows), reverse=True)
        assert len(ours) <= len(rows)
        assert all(a <= b for a, b in zip(sorted((len(shown[r]) for r in ours), reverse=True), sizes, strict=False))
    of_class = np.zeros(len(records), int) if records.labels is None else records.labels
    for label in np.unique(of_class):
        held = Counter(i for row, c in zip(originals, of_class, strict=True) if c == label for i in row)
        name = None if records.labels is None else records.classes[label]
        mine = [
            row
            for row, c in zip(shown, made.baskets.labels if name is not None else [0] * len(shown), strict=True)
            if name is None or made.baskets.classes[c] == name
        ]
        dealt = Counter(i for row in mine for i in row)
        assert all(n <= held[item] and held[item] >= support for item, n in dealt.items())


@pytest.mark.parametrize("classes", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_persons_are_counted_where_they_have_several_records(seed: int, classes: bool) -> None:
    rng = np.random.default_rng(seed)
    records = shops(300, seed, classes=classes)
    # Some have many records, most have few; some have the same record several times.
    records = records.take(np.sort(rng.integers(0, 300, 300))).with_persons(np.minimum(rng.geometric(0.02, 300), 90))
    made = pseudo_baskets(records, 5, support=3, together=4, seed=seed)
    assert_promises(records, made, 5, 3)
    verdict = verify_baskets(
        made.baskets, BasketsAsked(5, 3), BasketsEvidence(records, made.original_groups, made.groups)
    )
    assert verdict.holds
    assert made.baskets.persons is None
    # All records of a person stand in one group of their class.
    labels = np.zeros(300, int) if records.labels is None else records.labels
    inside = made.original_groups >= 0
    keys = np.unique(np.column_stack([records.persons, labels, made.original_groups])[inside], axis=0)
    assert len(np.unique(keys[:, :2], axis=0)) == len(keys)


def test_a_person_alone_is_no_crowd() -> None:
    rows = [["a", "b"]] * 40 + [["c", "d"], ["c", "e"], ["d", "e"], ["c"]] * 10
    records = Sparse.of(rows).with_persons([0] * 40 + list(range(1, 41)))
    made = pseudo_baskets(records, 5, seed=1)
    assert set(made.baskets.names) == {"c", "d", "e"}
    assert (made.reasons[:40] > 0).all()
    with pytest.raises(Infeasible):
        pseudo_baskets(records.take(np.arange(40)), 5, seed=1)


def test_the_order_of_rows_and_numbers_of_persons_change_nothing() -> None:
    rng = np.random.default_rng(5)
    records = shops(200).take(np.sort(rng.integers(0, 60, 200))).with_persons(rng.integers(0, 50, 200))
    one = pseudo_baskets(records, 4, seed=2).baskets
    order, names = rng.permutation(200), rng.permutation(50)
    other = records.take(order).with_persons(names[records.persons[order]])
    assert rows_of(pseudo_baskets(other, 4, seed=2).baskets) == rows_of(one)


@pytest.mark.parametrize(("k", "support", "together"), [(5, 2, 8), (10, 3, 2), (3, 2, 1)])
@pytest.mark.parametrize("classes", [False, True])
def test_what_is_promised_holds(k: int, support: int, together: int, classes: bool) -> None:
    records = shops(classes=classes)
    made = pseudo_baskets(records, k, support=support, together=together, seed=3)
    assert_promises(records, made, k, support)
    assert len(made.baskets) > 0.9 * len(records)
    assert made.baskets.sizes.sum() > 0.9 * records.sizes.sum()


@settings(max_examples=40)
@given(
    st.lists(st.sets(st.integers(0, 9), max_size=5), min_size=1, max_size=40),
    st.integers(2, 4),
    st.integers(0, 5),
)
def test_small_and_odd_records_keep_what_is_promised(rows: list[set[int]], k: int, seed: int) -> None:
    records = Sparse.of([sorted(row) for row in rows])
    try:
        made = pseudo_baskets(records, k, seed=seed)
    except Infeasible:
        return
    assert_promises(records, made, k, 2)
    assert len(made.baskets) + int((made.reasons > 0).sum()) + made.n_emptied + made.n_copies == len(rows)


def test_the_order_of_the_input_changes_nothing_and_the_seed_does() -> None:
    records = shops(150)
    order = np.random.default_rng(0).permutation(len(records))
    one, other = pseudo_baskets(records, 5, seed=7), pseudo_baskets(records.take(order), 5, seed=7)
    assert rows_of(one.baskets) == rows_of(other.baskets)
    assert rows_of(one.baskets) != rows_of(pseudo_baskets(records, 5, seed=8).baskets)
    assert np.array_equal(one.original_groups[order], other.original_groups)


@pytest.mark.parametrize("n_persons", [0, 150])
def test_of_several_classes_groups_by_pulls_keep_what_is_promised(n_persons: int) -> None:
    rng = np.random.default_rng(6)
    records = shops(400, 6).with_labels([str(x) for x in rng.integers(0, 4, 400)])
    if n_persons:
        records = records.with_persons(rng.integers(0, n_persons, 400))
    made = pseudo_baskets(records, 5, support=3, together=1, seed=6)
    assert_promises(records, made, 5, 3)
    evidence = BasketsEvidence(records, made.original_groups, made.groups)
    assert verify_baskets(made.baskets, BasketsAsked(5, 3), evidence).holds
    other = records.take(rng.permutation(400))
    assert rows_of(pseudo_baskets(other, 5, support=3, together=1, seed=6).baskets) == rows_of(made.baskets)


def test_items_that_stand_together_are_dealt_together() -> None:
    """A pair of k records that are scattered among others keeps its support, where single items would lose it."""
    rng = np.random.default_rng(2)
    rows = [sorted({f"n{x}" for x in rng.integers(0, 30, 6)}) for _ in range(600)]
    for i in range(0, 600, 30):
        rows[i] = sorted([*rows[i], "x", "y"])
    records = Sparse.of(rows)

    def both(together: int) -> int:
        made = pseudo_baskets(records, 10, together=together, seed=1)
        return sum({"x", "y"} <= set(row) for row in rows_of(made.baskets))

    assert both(8) >= 18
    assert both(1) < both(8)


def test_a_unit_is_held_by_k_records_at_least() -> None:
    records = shops(300)
    units = joined_units(RecordRows.of(records), 12, 3, 1 << 20)
    rows = units.rows.part(0, len(records))
    sets = [set(row) for row in rows_of(records)]
    for number in np.unique(rows.values[0]).tolist():
        items = {records.names[i] for i in units.items[units.starts[number] : units.starts[number + 1]]}
        if len(items) > 1:
            assert sum(items <= row for row in sets) >= 12
    places = Counter(np.repeat(np.arange(len(rows)), rows.sizes).repeat(units.sizes[rows.values[0]]).tolist())
    assert [places[row] for row in range(len(records))] == records.sizes.tolist()


def test_weights_are_means_of_the_pool() -> None:
    rng = np.random.default_rng(5)
    rows = [{f"i{x}": int(rng.integers(1, 9)) for x in rng.integers(0, 12, 5)} for _ in range(80)]
    made = pseudo_baskets(Sparse.of(rows), 5, seed=1).baskets
    assert made.is_integral
    assert 1 <= made.weights.min() <= made.weights.max() <= 8
    real = [{i: w + 0.123456 for i, w in row.items()} for row in rows]
    made = pseudo_baskets(Sparse.of(real), 5, seed=1).baskets
    assert all(len(f"{w:g}".replace(".", "")) <= 3 for w in made.weights.tolist())


def test_what_cannot_be_published() -> None:
    with pytest.raises(Infeasible, match="lower k, add records"):
        pseudo_baskets(Sparse.of([["a"], ["b"], ["c"]]), 2, seed=1)
    few = Sparse.of([["a", "b"]] * 4 + [["c"]] + [[]], list("xxxxyy"))
    made = pseudo_baskets(few, 4, seed=1)
    assert rows_of(made.baskets) == [("a", "b")] * 4
    assert made.reasons.tolist() == [0, 0, 0, 0, 3, 1]
    assert kept_sizes(few, 4).tolist() == [2, 2, 2, 2, 0, 0]


def test_the_longest_record_and_the_largest_weight_are_nobodys() -> None:
    rng = np.random.default_rng(5)
    rows = [
        {f"{i}": int(rng.integers(1, 4)) for i in rng.choice(20, rng.integers(2, 5), replace=False)} for _ in range(90)
    ]
    rows.append({f"{i}": 1000 for i in range(20)})
    made = pseudo_baskets(Sparse.of(rows), 5, seed=1).baskets
    assert made.sizes.max() <= 4
    assert made.weights.max() <= 3


@pytest.mark.parametrize("classes", [False, True])
def test_runs_of_few_units_change_nothing(classes: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    records = shops(200, classes=classes)
    whole = pseudo_baskets(records, 5, seed=1)
    monkeypatch.setattr(deal_units, "UNITS_AT_ONCE", 60)
    monkeypatch.setattr(ragged, "ENTRIES_AT_ONCE", 50)
    in_runs = pseudo_baskets(records, 5, seed=1)
    assert rows_of(in_runs.baskets) == rows_of(whole.baskets)
    np.testing.assert_array_equal(in_runs.groups, whole.groups)
    np.testing.assert_array_equal(in_runs.original_groups, whole.original_groups)
    monkeypatch.setattr(check, "BATCH_ENTRIES", 100)
    evidence = BasketsEvidence(records, whole.original_groups, whole.groups)
    assert verify_baskets(whole.baskets, BasketsAsked(5, 3), evidence).holds
