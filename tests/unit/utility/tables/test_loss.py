"""Information loss against slow twins and cases worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.data.tables.attribute import Attribute
from shoal.data.tables.hierarchy import Hierarchy
from shoal.data.tables.table import encode_cells
from shoal.utility.tables import loss
from shoal.utility.tables.grouping import Grouping
from shoal.utility.tables.scale import Scale, scale_of

TREE = Hierarchy((("a", "x", "*"), ("b", "x", "*"), ("c", "y", "*"), ("d", "y", "*"), ("e", "y", "*")))


def objects(*cells: str | None) -> np.ndarray:
    array = np.empty(len(cells), dtype=object)
    array[:] = cells
    return array


def grouping(groups: list[int], n_rows: int | None = None) -> Grouping:
    n_rows = len(groups) if n_rows is None else n_rows
    return Grouping.of(n_rows, np.arange(len(groups)), np.array(groups, dtype=np.int32))[0]


def scale(cells: np.ndarray, type_: str, **more: object) -> Scale:
    return scale_of(encode_cells("x", cells), Attribute("x", type_, "quasi", **more))  # type: ignore[arg-type]


def slow_penalty(cells: list[str | None], whole: list[str | None], kind: str) -> float:
    """The definition, for one group, value by value."""
    present = [c for c in cells if c is not None]
    if kind == "nominal":
        return len(set(cells)) / len(set(whole)) if len(set(cells)) > 1 else 0.0
    if not present:
        return 0.0
    if len(present) < len(cells):
        return 1.0
    if kind == "continuous":
        numbers, all_numbers = [float(c) for c in present], [float(c) for c in whole if c is not None]
        span = max(all_numbers) - min(all_numbers)
        return (max(numbers) - min(numbers)) / span if span else 0.0
    for height in range(TREE.height + 1):
        labels = {TREE.label(c, height) for c in present}
        if len(labels) == 1:
            under = sum(TREE.label(leaf, height) in labels for leaf in TREE.leaves)
            return (under - 1) / (len(TREE.leaves) - 1)
    raise AssertionError("all leaves meet at the root")


DOMAINS = {"nominal": ["a", "b", "c", "d"], "continuous": ["1", "2.5", "10", "-3"], "tree": list("abcde")}


@settings(max_examples=60, deadline=None)
@given(
    kind=st.sampled_from(sorted(DOMAINS)),
    data=st.data(),
    groups=st.lists(st.integers(0, 4), min_size=1, max_size=25),
    n_suppressed=st.integers(0, 3),
)
def test_penalties_agree_with_the_definition(
    kind: str, data: st.DataObject, groups: list[int], n_suppressed: int
) -> None:
    n_rows = len(groups) + n_suppressed
    cell = st.sampled_from([*DOMAINS[kind], None])
    cells = data.draw(st.lists(cell, min_size=n_rows, max_size=n_rows))
    more = {"hierarchy": TREE} if kind == "tree" else {}
    column = scale(objects(*cells), "nominal" if kind == "tree" else kind, **more)
    made = grouping(groups, n_rows)
    found = loss.penalties(column, made)
    for label, group in enumerate(sorted(set(groups))):
        members = [cells[i] for i, g in enumerate(groups) if g == group]
        assert found[label] == pytest.approx(slow_penalty(members, cells, kind))
    expected = sum(slow_penalty([cells[j] for j, h in enumerate(groups) if h == g], cells, kind) for g in groups)
    assert loss.ncp(found, made) == pytest.approx((expected + n_suppressed) / n_rows)
    persons = np.arange(n_rows)[::-1] % 4
    lost = [slow_penalty([cells[j] for j, h in enumerate(groups) if h == g], cells, kind) for g in groups]
    each = [np.mean([*lost, *[1.0] * n_suppressed], where=persons == p) for p in np.unique(persons)]
    assert loss.ncp(found, made, persons) == pytest.approx(np.mean(each))


def test_numbers_by_hand() -> None:
    ages = scale(np.array([20.0, 30.0, 40.0, 60.0]), "continuous")
    assert loss.penalties(ages, grouping([0, 0, 1, 1])).tolist() == [0.25, 0.5]


def test_numbers_that_are_spelled_as_text_are_numbers() -> None:
    ages = scale(objects("9", "10", "100"), "continuous")
    assert loss.penalties(ages, grouping([0, 0, 1]))[0] == pytest.approx(1 / 91)


def test_ordered_categories_follow_the_given_order() -> None:
    sizes = scale(objects("low", "mid", "high"), "ordinal", order=("low", "mid", "high"))
    assert loss.penalties(sizes, grouping([0, 0, 1])).tolist() == [0.5, 0.0]
    assert loss.penalties(sizes, grouping([0, 1, 0])).tolist() == [1.0, 0.0]


def test_dates_are_measured_in_days() -> None:
    days = scale(objects("2020-01-01", "2020-01-11", "2020-04-10"), "date")
    assert loss.penalties(days, grouping([0, 0, 1]))[0] == pytest.approx(0.1)


def test_gcp_is_the_mean_over_attributes() -> None:
    assert loss.gcp([0.1, 0.3]) == pytest.approx(0.2)
    assert loss.gcp([]) == 0.0


def test_discernibility_and_average_class_size_by_hand() -> None:
    made = grouping([0, 0, 0, 1, 1], n_rows=7)
    assert loss.discernibility(made) == 9 + 4 + 2 * 7
    assert loss.average_class_size(made, 2) == pytest.approx(1.25)


def test_everything_suppressed_is_everything_lost() -> None:
    made = Grouping.of(4, np.zeros(0, dtype=np.intp), np.zeros(0, dtype=np.int32))[0]
    ages = scale(np.array([1.0, 2.0, 3.0, 4.0]), "continuous")
    assert loss.ncp(loss.penalties(ages, made), made) == 1.0
    assert loss.discernibility(made) == 16
    assert loss.average_class_size(made, 2) == 0.0


def test_squared_error_share_by_hand() -> None:
    x = np.array([1.0, 3.0, 5.0, 7.0])
    assert loss.squared_error_share([x], [np.array([2.0, 2.0, 6.0, 6.0])]) == pytest.approx(4 / 20)
    assert loss.squared_error_share([x], [np.full(4, 4.0)]) == pytest.approx(1.0)
    assert loss.squared_error_share([x, 100 * x], [x, np.full(4, 400.0)]) == pytest.approx(0.5)
    assert loss.squared_error_share([], []) is None
    assert loss.squared_error_share([np.ones(3)], [np.ones(3)]) is None


def test_missing_numbers_are_passed_over_in_the_squared_error() -> None:
    x = np.array([1.0, 3.0, np.nan, 5.0])
    y = np.array([1.0, 3.0, 2.0, np.nan])
    assert loss.squared_error_share([x], [y]) == 0.0
