"""The tests of `report/tables/pictures.py`."""

from __future__ import annotations

import datetime
import xml.etree.ElementTree as ET

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from shoal.report.tables import pictures


def texts(svg: str) -> list[str]:
    return [t.text or "" for t in ET.fromstring(svg).iter() if t.tag == "text"]


def test_a_picture_is_the_same_every_time_and_names_nothing() -> None:
    once = pictures.histogram([0, 1, 2], [0.4, 0.6], [0.5, 0.5], is_date=False, alt="x")
    assert once == pictures.histogram([0, 1, 2], [0.4, 0.6], [0.5, 0.5], is_date=False, alt="x")
    for part in ("<!--", "<style", "id=", "font-family"):
        assert part not in once
    assert "var(--before)" in once
    assert "var(--after)" in once


def test_shares_of_classes_are_told_by_number_and_to_a_reader_who_hears() -> None:
    svg = pictures.class_sizes({"1": 3, "2-3": 1}, {"1": 0, "2-3": 4})
    assert {"75 %", "25 %", "100 %", "2–3"} <= set(texts(svg))
    assert "1: 75 % before, 0 % after; 2-3: 25 % before, 100 % after." in ET.fromstring(svg).attrib["aria-label"]


def test_dates_have_dates_at_the_axis() -> None:
    svg = pictures.histogram([18262, 18400, 18628], [0.5, 0.5], None, is_date=True, alt="x")
    assert any(t.startswith("2020-") for t in texts(svg))


def day(label: str) -> datetime.date:
    year, month, first = (*(int(part) for part in label.split("-")), 1, 1)[:3]
    return datetime.date(year, month, first)


@given(st.integers(-100_000, 100_000), st.integers(1, 100_000))
@example(18262, 366)
@example(0, 1)
@example(0, 91)
def test_a_date_stands_where_it_begins(low: int, span: int) -> None:
    ticks = pictures.date_ticks(low, low + span)
    assert len(ticks) <= pictures.MOST_DATES
    assert [at for at, _ in ticks] == [(day(label) - datetime.date(1970, 1, 1)).days for _, label in ticks]
    assert all(low <= at <= low + span for at, _ in ticks)
    assert ticks


@pytest.mark.parametrize("edges", [[1e18, 1e18 + 2048], [-5e5, 9e5], [0.0, 1e-300], [-123456.789, -123456.788]])
def test_odd_scales_can_be_drawn(edges: list[float]) -> None:
    for is_date in {False, abs(edges[1]) < 1e9}:
        for after in ([1.0], None):
            svg = pictures.histogram(edges, [1.0], after, is_date=is_date, alt="x")
            assert len(set(texts(svg))) == len(texts(svg))


def test_shares_that_are_not_known_are_not_drawn() -> None:
    nothing: list[float] = [None, 0.0]  # type: ignore[list-item]
    for svg in (
        pictures.bars(["a", "b"], [0.0, 0.0], nothing, alt="x"),
        pictures.histogram([0, 1, 2], nothing, nothing, is_date=False, alt="x"),
        pictures.paired_bars(["a", "b"], nothing, [0.0, 0.0], "x", alt="x"),
    ):
        assert ET.fromstring(svg) is not None
        assert "nan" not in svg


@pytest.mark.parametrize("values", [[1.0], [1e-5, 2e6], [-3.0, -3.0], [None, 2.0], [None]])
def test_points_of_any_size_have_an_axis(values: list[float | None]) -> None:
    axis = pictures.spread_axis(values, "x")
    assert axis.low < axis.high
    assert all(axis.low <= at <= axis.high for at, _ in axis.ticks)
