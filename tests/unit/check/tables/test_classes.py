"""Equivalence classes: who stands with whom, and how a class is named."""

from __future__ import annotations

import csv

import numpy as np
import pytest

from shoal.check.tables.classes import classes_of
from shoal.data.tables.frames import from_frame
from shoal.data.tables.table import Column, Table
from shoal.errors import DataError, PolicyError
from tests.unit.check.tables.slow_check import random_table, table, weighted


def test_classes_match_a_dictionary_of_rows():
    rng = np.random.default_rng(1)
    for _ in range(20):
        t = random_table(rng, missing=0.1)
        found = classes_of(t, ["a", "b"])
        rows = list(zip(t["a"].cells().tolist(), t["b"].cells().tolist(), strict=True))
        for i, row in enumerate(rows):
            assert found.sizes[found.ids[i]] == rows.count(row)
            assert [j for j in range(len(rows)) if found.ids[j] == found.ids[i]] == [
                j for j in range(len(rows)) if rows[j] == row
            ]
            assert rows[found.first[found.ids[i]]] == row
            assert list(found.first).count(rows.index(row)) == 1


def test_francdat_sample_frequencies(shared_data):
    with open(shared_data / "sdcmicro_testdata" / "francdat.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    t = table(**{n: [r[n] for r in rows] for n in rows[0]})
    found = classes_of(t, ["Key1", "Key2", "Key3", "Key4"])
    assert found.sizes[found.ids].tolist() == [2, 2, 2, 1, 1, 1, 1, 2]


def test_a_class_is_named_by_its_published_texts():
    dates = np.array(["2020-02-01", "2020-02-01T06:30"], dtype="datetime64[us]")
    t = Table.of(
        [
            *table(age=[30.5, 30.5, 41.0], zip=["48*", "48*", None]).columns.values(),
            Column("day", np.array([0, 0, 1], dtype=np.int32), dates),
            Column("own", np.array([0, 0, 1], dtype=np.int32), np.array([True]), ("?",)),
        ]
    )
    found = classes_of(t, ["age", "zip", "day", "own"])
    names = [found.values(int(c)) for c in range(found.n_classes)]
    assert names == [
        {"age": "30.5", "zip": "48*", "day": "2020-02-01 00:00:00", "own": "true"},
        {"age": "41", "zip": "", "day": "2020-02-01 06:30:00", "own": "?"},
    ]


def test_a_reader_tells_spellings_of_missing_apart():
    values = np.array(["?", "NA", "x"], dtype=object)
    t = Table.of([Column("a", np.array([0, 1, 2, 3, 4], dtype=np.int32), values, (None, "n/k"))])
    assert sorted(classes_of(t, ["a"]).sizes) == [1, 1, 1, 1, 1]
    again = Table.of([Column("a", np.array([0, 1, 1], dtype=np.int32), values[:0], ("?", "NA"))])
    assert sorted(classes_of(again, ["a"]).sizes) == [1, 2]


def test_a_row_with_a_missing_cell_stands_alone_when_it_may_hide_any_value():
    t = table(a=["x", "x", None, None, "x"], b=["y", "y", "y", "y", None])
    assert sorted(classes_of(t, ["a", "b"]).sizes) == [1, 2, 2]
    found = classes_of(t, ["a", "b"], missing="any")
    assert sorted(found.sizes) == [1, 1, 1, 2]
    assert found.sizes[found.ids].tolist() == [2, 2, 1, 1, 1]


def test_a_value_that_stands_twice_in_the_dictionary_is_one_value():
    t = Table.of([Column("a", np.array([0, 1, 2], dtype=np.int32), np.array(["x", "x", "y"], dtype=object))])
    assert sorted(classes_of(t, ["a"]).sizes) == [1, 2]


def test_nan_in_a_dictionary_is_missing():
    t = Table.of([Column("a", np.array([0, 1, 1, 2], dtype=np.int32), np.array([1.0, np.nan]), (None,))])
    assert classes_of(t, ["a"]).sizes.tolist() == [1, 3]
    assert classes_of(t, ["a"], missing="any").sizes.tolist() == [1, 1, 1, 1]


def test_many_columns_do_not_overflow_the_key():
    rng = np.random.default_rng(5)
    cells = {f"q{i}": [f"v{j}" for j in rng.integers(0, 50, 40)] for i in range(40)}
    cells = {n: c + c for n, c in cells.items()}
    assert classes_of(table(**cells), list(cells)).sizes.tolist() == [2] * 40


def test_refusals():
    t = table(a=["x"])
    with pytest.raises(PolicyError, match="no quasi-identifier"):
        classes_of(t, [])
    with pytest.raises(DataError, match="there is no column 'b'"):
        classes_of(t, ["b"])
    with pytest.raises(DataError, match="nothing would be published"):
        classes_of(t.take(np.array([], dtype=np.intp)), ["a"])


def test_histories_are_those_that_sets_of_rows_give() -> None:
    rng = np.random.default_rng(8)
    for _ in range(40):
        n = int(rng.integers(1, 40))
        labels, persons = rng.integers(0, 3, n), rng.integers(0, 12, n)
        classes = classes_of(from_frame({"q": [str(x) for x in labels]}), ["q"])
        alike = classes.of_histories(persons)
        wanted: dict[tuple[int, ...], set[int]] = {}
        mine = {int(p): tuple(sorted(labels[persons == p].tolist())) for p in set(persons.tolist())}
        for person, history in mine.items():
            wanted.setdefault(history, set()).add(person)
        assert alike.n_classes == len(wanted)
        for row in range(n):
            assert alike.sizes[alike.ids[row]] == len(wanted[mine[int(persons[row])]])
            assert {int(p) for p in persons[alike.ids == alike.ids[row]]} == wanted[mine[int(persons[row])]]


def test_rows_that_stand_for_several_records_count_as_these():
    rng = np.random.default_rng(5)
    for missing in ("value", "any"):
        few, many = weighted(random_table(rng, 60, 4, missing=0.1))
        found, expected = (classes_of(t, ["a", "b"], missing=missing) for t in (few, many))
        assert found.sizes.min() == expected.sizes.min()
        if missing == "value":
            assert found.sizes.tolist() == expected.sizes.tolist()
            assert (found.n_rows, found.n_members) == (expected.n_rows, expected.n_members)
            assert [found.values(i) for i in range(5)] == [expected.values(i) for i in range(5)]


def test_rows_of_nobody_make_no_class_larger() -> None:
    found = classes_of(table(a=["x", "x", "x", "y", "y"]), ["a"])
    assert found.of_persons(np.array([7, 7, 8, 9, 6])).sizes.tolist() == [2, 2]
    assert found.of_persons(np.array([7, -1, -2, 9, 6])).sizes.tolist() == [1, 2]


def test_persons_of_weighted_rows_are_as_many_as_records():
    rng = np.random.default_rng(3)
    for _ in range(5):
        rows, records = weighted(random_table(rng), rng)
        few, many = classes_of(rows, ["a", "b"]), classes_of(records, ["a", "b"])
        one_each = np.arange(records.n_rows)
        for ours, theirs in (
            (few.of_persons(np.arange(rows.n_rows)), many.of_persons(one_each)),
            (few.of_histories(np.arange(rows.n_rows)), many.of_histories(one_each)),
        ):
            assert ours.sizes.tolist() == theirs.sizes.tolist()
            assert (ours.noun, ours.n_members, ours.n_rows) == (theirs.noun, theirs.n_members, theirs.n_rows)
            assert ours.are_histories == theirs.are_histories
