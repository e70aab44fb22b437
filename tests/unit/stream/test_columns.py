"""Quasi-identifiers of a stream: labels that cover, grids that stay, states that come back."""

from __future__ import annotations

import json

import numpy as np
import pytest

from shoal.data.tables.attribute import Attribute
from shoal.data.tables.hierarchy import Hierarchy
from shoal.data.tables.labels import read_label
from shoal.data.tables.table import MARKERS
from shoal.errors import DataError, PolicyError
from shoal.stream.columns import NumberColumn, StreamColumn, UnreadableCell, column_for
from shoal.stream.text import WindowCells, csv_cells
from shoal.tables.groups import Groups

TREE = Hierarchy((("flat", "home", "*"), ("house", "home", "*"), ("office", "work", "*")))


def column(kind: str, *, missing: str = "value", ends: str = "rounded", **more: object) -> StreamColumn:
    return column_for(Attribute("x", kind, "quasi", **more), missing, MARKERS, ends)  # type: ignore[arg-type]


def cells_of(cells: list[str]) -> WindowCells:
    return csv_cells("".join(f"{c}\n" for c in cells).encode(), ["x"], ";", 1)


def labelled(made: StreamColumn, cells: list[str], labels: list[int]) -> list[str]:
    return made.labels(made.read(cells_of(cells)), Groups.of(np.array(labels)))


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("ends", ["rounded", "exact"])
def test_ranges_of_numbers_cover_their_groups_window_after_window(seed: int, ends: str) -> None:
    rng = np.random.default_rng(seed)
    made, scale = column("continuous", ends=ends), 10.0 ** rng.integers(-4, 6)
    for _ in range(3):
        values = np.round(rng.normal(size=30) * scale, int(rng.integers(0, 6)))
        labels = np.repeat(np.arange(5), 6)
        for group, text in enumerate(labelled(made, [repr(float(v)) for v in values], labels.tolist())):
            told = [float(v) for v in read_label(text).values]
            assert told[0] <= values[labels == group].min()
            assert values[labels == group].max() <= told[-1]


def test_the_grid_of_the_first_window_stays() -> None:
    made = column("continuous")
    assert isinstance(made, NumberColumn)
    labelled(made, [str(i) for i in range(40)], [i // 10 for i in range(40)])
    step = made.step
    assert step is not None
    labelled(made, [str(i / 1000) for i in range(40)], [i // 10 for i in range(40)])
    assert made.step == step


def test_one_value_is_spelled_in_one_way() -> None:
    assert labelled(column("continuous"), ["1", "1.0", "01", "2", "3", "4"], [0, 0, 0, 1, 1, 1])[0] == "1"


def test_missing_numbers_are_told_or_hidden() -> None:
    cells, labels = ["1", "?", "5", "", "NA", "?"], [0, 0, 0, 1, 1, 1]
    assert labelled(column("continuous", ends="exact"), cells, labels) == ["[1..5] or missing", ""]
    assert labelled(column("continuous", missing="any"), cells, labels) == ["*", "*"]


@pytest.mark.parametrize("cell", ["secret", "inf", "-inf", "1_000", "12345678901234567890", "1,5"])
def test_what_is_no_number_is_named_by_its_place(cell: str) -> None:
    with pytest.raises(UnreadableCell, match="column 'x'") as told:
        column("continuous").read(cells_of(["1", "2", cell]))
    assert told.value.place == 2
    assert cell == "inf" or cell not in str(told.value)


def test_the_loss_is_a_share_of_the_range_of_all() -> None:
    made = column("continuous", ends="exact")
    labelled(made, ["0", "10", "20", "20"], [0, 0, 1, 1])
    assert made.share_lost(4) == pytest.approx((10 * 2) / 20 / 4)
    labelled(made, ["0", "100"], [0, 0])
    assert made.share_lost(6) == pytest.approx((10 * 2 + 100 * 2) / 100 / 6)


def test_points_lie_between_the_ends_of_all_that_came() -> None:
    made = column("continuous")
    made.read(cells_of(["0", "100"]))
    points, weights = made.points(made.read(cells_of(["25", "?"])))
    assert (points.tolist(), weights.tolist()) == ([[0.25, 2.0]], [1.0])


def test_categories_and_taxonomies_are_labelled_as_in_tables() -> None:
    cells, labels = ["flat", "house", "office", "office"], [0, 0, 1, 1]
    assert labelled(column("nominal"), cells, labels) == ["{flat, house}", "office"]
    assert labelled(column("nominal", hierarchy=TREE), cells, labels) == ["home", "office"]
    assert labelled(column("prefix"), ["4711", "4712", "80", "81"], labels) == ["471*", "8***"]
    dates = ["2021-03-01", "2021-03-20", "2021-05-05", "2021-05-05"]
    assert labelled(column("date"), dates, labels)[1] == "2021-05-05"


def test_values_that_nobody_listed_are_named_by_their_place() -> None:
    for made in (column("nominal", hierarchy=TREE), column("ordinal", order=("flat", "house"))):
        with pytest.raises(UnreadableCell) as told:
            made.read(cells_of(["flat", "castle"]))
        assert told.value.place == 1
        assert "castle" not in str(told.value)
    with pytest.raises(UnreadableCell, match="dates") as told:
        column("date").read(cells_of(["2021-03-01", "soon"]))
    assert told.value.place == 1


def test_an_order_that_is_not_given_is_asked_for() -> None:
    with pytest.raises(DataError, match=r"columns\.x\.order"):
        column("ordinal")


@pytest.mark.parametrize("kind", ["continuous", "nominal"])
def test_a_state_comes_back(kind: str) -> None:
    made, again = column(kind), column(kind)
    labelled(made, ["1", "2", "3", "5", "9", "12"], [0, 0, 0, 1, 1, 1])
    again.restore(json.loads(json.dumps(made.state())))
    assert again.state() == made.state()
    cells, labels = ["4", "6", "7", "10"], [0, 0, 1, 1]
    assert labelled(made, cells, labels) == labelled(again, cells, labels)


def test_averages_are_those_of_groups_and_their_loss_is_il() -> None:
    attribute = Attribute("x", "continuous", "quasi")
    made, again = (column_for(attribute, "value", MARKERS, "rounded", is_averaged=True) for _ in range(2))
    assert labelled(made, ["1", "2", "6", "10", "10.5"], [0, 0, 0, 1, 1]) == ["3", "10.25"]
    values = np.array([1, 2, 6, 10, 10.5])
    within = ((values - np.array([3, 3, 3, 10.25, 10.25])) ** 2).sum()
    assert made.share_lost(5) == pytest.approx(within / ((values - values.mean()) ** 2).sum())
    again.restore(json.loads(json.dumps(made.state())))
    assert again.share_lost(5) == made.share_lost(5)
    with pytest.raises(UnreadableCell, match="average") as told:
        made.read(cells_of(["1", ""]))
    assert told.value.place == 1
    with pytest.raises(PolicyError, match="averages only numbers"):
        column_for(Attribute("x", "nominal", "quasi"), "value", MARKERS, "rounded", is_averaged=True)
