"""The tests of `utility/tables/reading.py`."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.data.tables.attribute import Attribute
from shoal.data.tables.hierarchy import Hierarchy
from shoal.data.tables.table import encode_cells
from shoal.utility.tables.attributes import AttributeComparison, compare
from shoal.utility.tables.grouping import Grouping
from shoal.utility.tables.reading import Categories, Labels, Ranges, ReadNumbers, Sets, read_published
from shoal.utility.tables.scale import scale_of


def objects(*cells: str | None) -> np.ndarray:
    array = np.empty(len(cells), dtype=object)
    array[:] = cells
    return array


def compared(
    cells: np.ndarray, published: np.ndarray, groups: list[int], type_: str, k: int = 1, **more: object
) -> tuple[AttributeComparison, object]:
    attribute = Attribute("x", type_, "quasi", **more)  # type: ignore[arg-type]
    scale = scale_of(encode_cells("x", cells), attribute)
    made, kept = Grouping.of(len(cells), np.arange(len(groups)), np.array(groups, dtype=np.int32))
    reading = read_published(scale, encode_cells("x", published), kept, made)
    return compare(scale, reading, k), reading


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(-5, 9)), min_size=1, max_size=30))
def test_a_range_of_whole_numbers_counts_equally_for_each(records: list[tuple[int, int]]) -> None:
    groups, numbers = [g for g, _ in records], [x for _, x in records]
    found, reading = compared(np.array(numbers), objects(*(["[a..b]"] * len(records))), groups, "continuous")
    assert isinstance(reading, Ranges)
    implied: Counter[int] = Counter()
    for group, _ in records:
        members = [x for g, x in records if g == group]
        for x in range(min(members), max(members) + 1):
            implied[x] += 1 / (max(members) - min(members) + 1)  # type: ignore[assignment]
    values = np.array(sorted(implied))
    weights = np.array([implied[v] for v in values]) / len(records)
    mean = float(np.dot(weights, values))
    assert found.mean_after == pytest.approx(mean)
    assert found.sd_after == pytest.approx(float(np.sqrt(np.dot(weights, (values - mean) ** 2))), abs=1e-9)
    expected = np.histogram(values, found.edges, weights=weights)[0]
    assert found.after == pytest.approx(tuple(expected))
    assert found.distance == pytest.approx(float(np.abs(np.array(found.before) - expected).sum() / 2))


def test_published_numbers_are_taken_as_they_are() -> None:
    found, reading = compared(np.array([1, 3, 10]), np.array([2.0, 2.0, 10.0]), [0, 0, 1], "continuous")
    assert isinstance(reading, ReadNumbers)
    assert (found.mean_before, found.mean_after) == (pytest.approx(14 / 3), pytest.approx(14 / 3))
    assert found.sd_after == pytest.approx(float(np.std([2, 2, 10])))


def test_a_set_counts_equally_for_each_member() -> None:
    cells = objects("a", "a", "a", "b", "c")
    found, reading = compared(cells, objects("a|b", "a|b", "a|b", "a|b", "c"), [0, 0, 0, 0, 1], "nominal")
    assert isinstance(reading, Sets)
    assert dict(zip(found.labels, found.after, strict=True)) == pytest.approx({"a": 0.4, "b": 0.4, "c": 0.2})
    assert found.distance == pytest.approx(0.2)


def test_modes_are_taken_as_they_are() -> None:
    cells = objects("a", "a", "b")
    found, reading = compared(cells, objects("a", "a", "a"), [0, 0, 0], "nominal")
    assert isinstance(reading, Categories)
    assert dict(zip(found.labels, found.after, strict=True)) == {"a": 1.0, "b": 0.0}
    assert found.distance == pytest.approx(1 / 3)


def test_ordered_categories_count_for_all_between() -> None:
    cells = objects("low", "high", "mid")
    found, reading = compared(cells, objects("r", "r", "r"), [0, 0, 0], "ordinal", order=("low", "mid", "high"))
    assert isinstance(reading, Labels)
    assert found.labels == ("low", "mid", "high")
    assert found.after == pytest.approx((1 / 3,) * 3)


def test_a_label_of_a_hierarchy_counts_for_all_values_below() -> None:
    tree = Hierarchy((("a", "x", "*"), ("b", "x", "*"), ("c", "y", "*")))
    cells = objects("a", "b", "a", "c")
    found, reading = compared(cells, objects("x", "x", "x", "c"), [0, 0, 0, 1], "nominal", hierarchy=tree)
    assert isinstance(reading, Labels)
    assert dict(zip(found.labels, found.after, strict=True)) == pytest.approx({"a": 0.375, "b": 0.375, "c": 0.25})
