"""Attributes before and after, against the plain reading of each label."""

from __future__ import annotations

import numpy as np
import pytest

from shoal.data.tables.attribute import Attribute
from shoal.data.tables.hierarchy import Hierarchy
from shoal.data.tables.table import encode_cells
from shoal.utility.tables.attributes import AttributeComparison, compare, total_variation
from shoal.utility.tables.grouping import Grouping
from shoal.utility.tables.reading import read_published
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


def test_a_range_of_fractions_is_uniform() -> None:
    cells = np.array([0.0, 0.5, 24.0])
    found, _ = compared(cells, objects("[0..24]", "[0..24]", "[0..24]"), [0, 0, 0], "continuous")
    assert found.edges == tuple(range(26))
    assert found.after == pytest.approx((*(1 / 24,) * 24, 0.0))
    assert found.mean_after == pytest.approx(12.0)
    assert found.sd_after == pytest.approx(24 / np.sqrt(12))


def test_numbers_outside_the_original_range_count_for_the_last_cell() -> None:
    found, _ = compared(np.array([1, 2]), np.array([-7.0, 99.0]), [0, 1], "continuous")
    assert found.after == (0.5, 0.5)


def test_a_large_hierarchy_is_shown_by_its_upper_labels() -> None:
    leaves = [f"{i:02d}" for i in range(20)]
    tree = Hierarchy(tuple((leaf, leaf[0] + "*", "*") for leaf in leaves))
    found, _ = compared(objects(*leaves), objects(*leaves), list(range(20)), "nominal", hierarchy=tree)
    assert found.labels == ("0*", "1*")
    assert found.before == found.after == (0.5, 0.5)
    assert found.n_values == 20


def test_values_of_fewer_than_k_records_are_not_named() -> None:
    cells = objects(*["common"] * 5, "rare", "rarer")
    found, _ = compared(cells, cells, [0] * 7, "nominal", k=5)
    assert found.labels == ("common", "(other)")
    assert found.before == pytest.approx((5 / 7, 2 / 7))
    assert found.n_values_hidden == 2


def test_missing_values_are_kept_apart() -> None:
    cells = objects("a", None, None, "a")
    found, _ = compared(cells, objects("a", "a", None, "a"), [0, 0, 1, 1], "nominal")
    assert found.labels == ("a", "(missing)")
    assert (found.missing_before, found.missing_after) == (0.5, 0.25)
    numbers, _ = compared(np.array([1.0, np.nan, 3.0]), objects("[1..3]", "[1..3]", "[1..3]"), [0, 0, 0], "continuous")
    assert (numbers.missing_before, numbers.missing_after) == (pytest.approx(1 / 3), pytest.approx(1 / 3))
    assert sum(numbers.after) == pytest.approx(1.0)


def test_a_column_without_any_value() -> None:
    found, _ = compared(np.array([np.nan, np.nan]), np.array([np.nan, np.nan]), [0, 0], "continuous")
    assert (found.missing_before, found.missing_after) == (1.0, 1.0)
    assert found.mean_before is None
    assert found.mean_after is None


def test_huge_numbers_do_not_break_the_cells() -> None:
    for cells in (np.array([1e18, 1e18 + 4096]), np.array([1e300, -1e300]), np.array([5e-324, 0.0])):
        found, _ = compared(cells, objects("r", "r"), [0, 0], "continuous")
        assert sum(found.before) == pytest.approx(1.0)
        assert sum(found.after) == pytest.approx(1.0)


def test_edges_are_round_and_not_the_extremes() -> None:
    found, _ = compared(np.array([1234.567, 98765.4321]), objects("r", "r"), [0, 0], "continuous")
    assert found.edges[0] == 0.0
    assert found.edges[-1] == 100_000.0
    assert not {1234.567, 98765.4321} & set(found.edges)


def test_total_variation() -> None:
    assert total_variation(np.array([1.0, 1.0]), np.array([2.0, 0.0])) == 0.5
    assert total_variation(np.array([0.0]), np.array([2.0])) == 0.0
