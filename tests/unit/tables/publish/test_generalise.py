"""What is published in place of a group, on tables small enough to write down."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.data.tables.attribute import Attribute
from shoal.data.tables.hierarchy import Hierarchy
from shoal.data.tables.table import Column
from shoal.tables.encoding import rank
from shoal.tables.groups import Groups
from shoal.tables.publish.aggregate import aggregate
from shoal.tables.publish.generalise import generalise


def column_of(cells: list[str | None], markers: tuple[str | None, ...] = ("?",)) -> Column:
    values = sorted({c for c in cells if c is not None})
    codes = [len(values) if c is None else values.index(c) for c in cells]
    return Column("x", np.array(codes, np.int32), np.array(values, dtype=object), markers if None in cells else ())


def shown(column: Column) -> list[str]:
    return [column.texts()[c] for c in column.codes]


def publish(cells, labels, attribute, how="generalise", missing="value", restore_variance=False, k=2) -> list[str]:
    column, groups = column_of(cells), Groups.of(np.array(labels))
    ranked = rank(column, attribute)
    if how == "generalise":
        return shown(generalise(column, ranked, groups, attribute.hierarchy, missing=missing))
    return shown(aggregate(column, ranked, groups, k=k, missing=missing, restore_variance=restore_variance).column)


NUMBER = Attribute("x", "continuous", "quasi")
WORD = Attribute("x", "nominal", "quasi")
GRADE = Attribute("x", "ordinal", "quasi", order=("low", "middle", "high"))
DATE = Attribute("x", "date", "quasi")
TREE = Attribute("x", "nominal", "quasi", hierarchy=Hierarchy((("a", "ab", "*"), ("b", "ab", "*"), ("c", "cd", "*"))))


def test_ranges_sets_and_ancestors() -> None:
    assert publish(["9", "10", "-3", "10"], [0, 0, 1, 1], NUMBER) == ["[9..10]"] * 2 + ["[-3..10]"] * 2
    assert publish(["9", "9"], [0, 0], NUMBER) == ["9", "9"]
    assert publish(["low", "high", "middle", "middle"], [0, 0, 1, 1], GRADE) == ["[low..high]"] * 2 + ["middle"] * 2
    assert publish(["b", "a", "c", "a"], [0, 0, 1, 1], WORD) == ["{a, b}"] * 2 + ["{a, c}"] * 2
    assert publish(["b", "a", "c"], [0, 0, 0], WORD) == ["*"] * 3
    assert publish(["b", "a", "c", "a"], [0, 0, 1, 1], TREE) == ["ab", "ab", "*", "*"]
    assert publish(["2020-02-01", "2020-01-15"], [0, 0], DATE) == ["[2020-01-15..2020-02-01]"] * 2


def test_rounded_ends_are_of_the_column() -> None:
    column = column_of(["51.23", "51.47", "60.05", "60.11", "70.1", None])
    groups = Groups.of(np.array([0, 0, 1, 1, 2, 2]))
    made = generalise(column, rank(column, NUMBER), groups, None, missing="value", ends="rounded")
    assert shown(made) == ["[51.2..51.6]"] * 2 + ["[60..60.2]"] * 2 + ["70.1 or missing"] * 2
    grades = column_of(["low", "high", "middle", "middle"])
    made = generalise(
        grades, rank(grades, GRADE), Groups.of(np.array([0, 0, 1, 1])), None, missing="value", ends="rounded"
    )
    assert shown(made)[0] == "[low..high]"


def test_rounded_ends_of_ordered_categories_are_of_the_column() -> None:
    hours = [f"{h:02d}h" for h in range(24)]
    column, attribute = (
        column_of(["07h", "09h", "11h", "14h", *hours]),
        Attribute("x", "ordinal", "quasi", tuple(hours)),
    )
    groups = Groups.of(np.array([0, 0, 1, 1, *range(2, 26)]))
    made = {
        ends: shown(generalise(column, rank(column, attribute), groups, None, missing="value", ends=ends))
        for ends in ("exact", "rounded")
    }
    assert made["exact"][:4] == ["[07h..09h]"] * 2 + ["[11h..14h]"] * 2
    assert made["rounded"][:4] == ["[06h..09h]"] * 2 + ["[10h..15h]"] * 2
    assert made["rounded"][4:] == hours


def test_missing_is_a_value_of_its_own() -> None:
    assert publish(["9", None, None, None], [0, 0, 1, 1], NUMBER) == ["9 or missing"] * 2 + ["?"] * 2
    assert publish(["b", None, None, "a", "b"], [0, 0, 1, 2, 2], WORD) == ["b or missing"] * 2 + ["?"] + ["*"] * 2
    assert publish(["b", None, None], [0, 0, 1], TREE) == ["*", "*", "?"]


@pytest.mark.parametrize("attribute", [NUMBER, WORD, GRADE, DATE, TREE])
def test_a_column_without_any_value(attribute) -> None:
    assert publish([None, None, None], [0, 0, 1], attribute) == ["?"] * 3
    assert publish([None, None, None], [0, 0, 1], attribute, missing="any") == ["*"] * 3


def test_missing_may_be_any_value() -> None:
    for attribute in (WORD, TREE):
        assert publish(["b", None, "a", "b"], [0, 0, 1, 1], attribute, missing="any")[:2] == ["*", "*"]
    assert publish(["9", None, None], [0, 0, 1], NUMBER, missing="any") == ["*", "*", "*"]


def rounded(cells: list[str], labels: np.ndarray, weights: np.ndarray | None = None) -> list[str]:
    column = column_of(list(cells))
    ranked = rank(column, NUMBER)
    return shown(generalise(column, ranked, Groups.of(labels), None, missing="value", ends="rounded", weights=weights))


def test_rounded_ends_of_rows_that_stand_for_several_records_are_those_of_the_records() -> None:
    n_other = 0
    for seed in range(30):
        rng = np.random.default_rng(seed)
        cells = [str(n) for n in np.sort(rng.choice(90, 40, replace=False)).tolist()]
        weights = rng.choice([1, 1, 1, 2, 90], 40).astype(np.int32)
        labels = rng.permutation(np.repeat(np.arange(10), 4))
        by_weight = rounded(cells, labels, weights)
        assert np.repeat(by_weight, weights).tolist() == rounded(
            np.repeat(cells, weights).tolist(), np.repeat(labels, weights)
        )
        n_other += by_weight != rounded(cells, labels)
    assert n_other  # weights make a difference
