"""The measure against a slow twin: every record beside every other."""

from __future__ import annotations

from itertools import combinations, permutations

import numpy as np
import pytest

from shoal.check.tables import singled_out
from shoal.check.tables.singled_out import Uniques, findings_of, n_looked_at
from shoal.data.tables.attribute import Attribute
from shoal.data.tables.frames import from_frame
from shoal.data.tables.slices import Layout
from tests.unit.check.tables.slow_check import weighted


def drawn(seed: int, n_rows: int = 40, n_columns: int = 5):
    rng = np.random.default_rng(seed)
    cells = {f"c{i}": [str(v) for v in rng.integers(0, 2 + 2 * i, n_rows)] for i in range(n_columns)}
    return from_frame(cells), cells, rng.integers(0, n_rows // 2, n_rows)


def slow_share(cells, names, persons=None) -> float:
    rows = list(zip(*(cells[n] for n in names), strict=True))
    whose = list(range(len(rows))) if persons is None else persons.tolist()
    alone = {
        w
        for row, w in zip(rows, whose, strict=True)
        if {v for r, v in zip(rows, whose, strict=True) if r == row} == {w}
    }
    return len(alone) / len(set(whose))


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("by_person", [False, True])
def test_shares_are_those_of_a_slow_twin(seed: int, by_person: bool) -> None:
    table, cells, persons = drawn(seed)
    whose = persons if by_person else None
    uniques = Uniques(list(table.columns.values()), persons=whose)
    for size in (1, 2, 3, 5):
        for names in combinations(cells, size):
            assert uniques.share(names) == slow_share(cells, names, whose)
    beside = Uniques([table["c1"], table["c2"]], [table["c0"], table["c4"]], whose)
    assert beside.share(["c2"]) == slow_share(cells, ["c0", "c4", "c2"], whose)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("limit", [0.0, 0.05, 0.3, 0.9, 1.0])
def test_the_fewest_columns_above_the_limit_are_found(seed: int, limit: float) -> None:
    table, cells, _ = drawn(seed)
    found = Uniques(list(table.columns.values())).most_telling(limit)
    worst = [max(slow_share(cells, names) for names in combinations(cells, size)) for size in (1, 2, 3)]
    wanted = next((share for share in worst if share > limit), max(worst))
    if slow_share(cells, list(cells)) <= limit:
        wanted = worst[0]
    assert found is not None
    assert found.share == wanted == slow_share(cells, found.columns)
    assert len(found.columns) <= 3


@pytest.mark.parametrize("limit", [0.0, 0.3, 1.0])
def test_ties_do_not_depend_on_the_order_of_columns(limit: float) -> None:
    twins = from_frame({name: [str(i // 3) for i in range(30)] + [name + "!"] for name in "badc"})
    columns = list(twins.columns.values())
    found = {Uniques(order).most_telling(limit) for order in permutations(columns)}
    assert len(found) == 1
    assert next(iter(found)).columns[0] == "a"


def test_no_columns_tell_nothing() -> None:
    assert Uniques([]).most_telling() is None


def test_work_is_bounded(monkeypatch) -> None:
    assert n_looked_at(10**9) == 2
    table, _, _ = drawn(1, n_columns=8)
    monkeypatch.setattr(singled_out, "MOST_COLUMNS", 3)
    found = Uniques(list(table.columns.values())).most_telling(0.9)
    assert found is not None
    assert set(found.columns) <= {"c5", "c6", "c7"}


def test_cells_of_many_wide_columns_do_not_overflow() -> None:
    n_rows = 3000
    rng = np.random.default_rng(3)
    cells = {f"c{i}": [str(v) for v in rng.permutation(n_rows)] for i in range(8)}
    table = from_frame(cells)
    assert Uniques(list(table.columns.values())).share(list(cells)) == 1.0


def roles(**by_name: str) -> dict[str, Attribute]:
    return {n: Attribute(n, "nominal", role) for n, role in by_name.items()}  # type: ignore[arg-type]


def test_a_column_of_its_own_values_is_found_alone() -> None:
    cells = {"age": ["[20..30]"] * 40, "cost": [str(i) for i in range(40)], "ward": ["a", "b"] * 20}
    meant = roles(age="quasi", cost="sensitive", ward="sensitive")
    found, told = findings_of(from_frame(cells), meant, has_labels=True)
    assert (found.name, found.columns, found.share, found.is_serious) == ("singled_out", ("cost",), 1.0, True)
    assert "'cost'" in found.sentence
    assert "--accept singled_out=REASON" in found.remedy
    assert (told.name, told.share, told.is_serious) == ("known_sensitive", 1.0, False)
    taken = findings_of(from_frame(cells), meant, has_labels=True, accepted={"singled_out": "nobody knows it"})[0]
    assert (taken.accepted, taken.is_serious) == ("nobody knows it", False)
    assert not findings_of(from_frame(cells), meant, has_labels=True, limit=1.0)[0].is_serious


def test_what_others_may_know_counts_with_the_labels_and_what_is_sensitive_does_not() -> None:
    cells = {"age": [f"[{i // 4}]" for i in range(40)], "ward": ["a", "b", "c", "d"] * 10}
    found = findings_of(from_frame(cells), roles(age="quasi", ward="insensitive"), has_labels=True)
    assert [(f.name, f.columns, f.share) for f in found] == [("singled_out", ("ward",), 1.0)]
    assert "and the published labels" in found[0].sentence
    found = findings_of(from_frame(cells), roles(age="quasi", ward="sensitive"), has_labels=True)
    assert [(f.name, f.share, f.is_serious) for f in found] == [
        ("singled_out", 0.0, False),
        ("known_sensitive", 1.0, False),
    ]
    # A row that stands for no record has no labels beside its other cells.
    found = findings_of(from_frame(cells), roles(age="quasi", ward="insensitive"), has_labels=False)
    assert [f.share for f in found] == [0.0]


def test_columns_of_one_slice_belong_together() -> None:
    pair = {"a": [str(i // 7) for i in range(49)], "b": [str(i % 7) for i in range(49)]}
    cells = {"bucket": ["1"] * 49, **pair}
    meant = roles(a="sensitive", b="sensitive")
    apart = findings_of(from_frame(cells), meant, has_labels=False, layout=Layout.of([["a"], ["b"]]))
    together = findings_of(from_frame(cells), meant, has_labels=False, layout=Layout.of([["a", "b"]]))
    assert [f.share for f in apart] == [0.0]
    assert [(f.columns, f.share) for f in together] == [(("a", "b"), 1.0)]


def test_persons_are_counted_where_they_are_known() -> None:
    cells = {"age": ["*"] * 40, "ward": [str(i // 2) for i in range(40)]}
    persons = np.arange(40) // 2
    assert findings_of(from_frame(cells), roles(age="quasi", ward="sensitive"), has_labels=True)[0].share == 0.0
    found = findings_of(from_frame(cells), roles(age="quasi", ward="sensitive"), has_labels=True, persons=persons)[0]
    assert (found.share, "persons" in found.sentence) == (1.0, True)


def test_nothing_is_found_where_all_is_generalised() -> None:
    assert findings_of(from_frame({"age": ["*"] * 5}), roles(age="quasi"), has_labels=True) == ()


def test_sensitive_columns_count_from_twenty_records_on() -> None:
    for n in (19, 20):
        cells = {"age": ["*"] * n, "cost": [str(i) for i in range(n)]}
        sensitive = findings_of(from_frame(cells), roles(age="quasi", cost="sensitive"), has_labels=True)
        assert any(f.is_serious for f in sensitive) == (n == 20)
        assert findings_of(from_frame(cells), roles(age="quasi", cost="insensitive"), has_labels=True)[0].is_serious


@pytest.mark.parametrize("seed", range(3))
def test_rows_that_stand_for_several_records_are_counted_as_these(seed: int) -> None:
    few, many = weighted(drawn(seed)[0], seed)
    meant = roles(c0="quasi", c1="quasi", c2="sensitive", c3="insensitive", c4="insensitive")
    found, expected = (findings_of(t, meant, has_labels=True, limit=0.1) for t in (few, many))
    assert found == expected
    looked_at = [Uniques(list(t.columns.values()), weights=t.weights) for t in (few, many)]
    assert looked_at[0].each() == looked_at[1].each()
    assert looked_at[0].most_telling(0.2) == looked_at[1].most_telling(0.2)
    assert looked_at[0]._widest(3) == looked_at[1]._widest(3)


@pytest.mark.parametrize("seed", range(4))
def test_what_each_column_adds_is_what_is_lost_without_it(seed: int) -> None:
    table, cells, persons = drawn(seed)
    for whose in (None, persons):
        found = Uniques(list(table.columns.values()), persons=whose).added_by_each()
        whole = slow_share(cells, table.names, whose)
        for name, added in found.items():
            rest = [n for n in table.names if n != name]
            assert added == pytest.approx(whole - slow_share(cells, rest, whose))
