"""The tests of `report/tables/pictures.py`."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest

from shoal.report.tables import pictures


def texts(svg: str) -> list[str]:
    return [t.text or "" for t in ET.fromstring(svg).iter() if t.tag.endswith("text")]


def test_a_picture_is_the_same_every_time_and_names_nothing() -> None:
    once = pictures.histogram([0, 1, 2], [0.4, 0.6], [0.5, 0.5], is_date=False, alt="x")
    assert once == pictures.histogram([0, 1, 2], [0.4, 0.6], [0.5, 0.5], is_date=False, alt="x")
    for part in ("matplotlib", "<metadata", "<!--", "<style", "id=", "DejaVu"):
        assert part not in once
    assert "var(--before)" in once
    assert "var(--after)" in once


def test_pictures_leave_the_settings_of_matplotlib_alone() -> None:
    import matplotlib

    before = dict(matplotlib.rcParams)
    pictures.class_sizes({"1": 3, "2": 0}, {"1": 0, "2": 3})
    assert dict(matplotlib.rcParams) == before


def test_dates_have_dates_at_the_axis() -> None:
    svg = pictures.histogram([18262, 18400, 18628], [0.5, 0.5], None, is_date=True, alt="x")
    assert any(t.startswith("2020-") for t in texts(svg))


@pytest.mark.parametrize("edges", [[1e18, 1e18 + 2048], [-5e5, 9e5], [0.0, 1e-300]])
def test_odd_scales_can_be_drawn(edges: list[float]) -> None:
    assert pictures.histogram(edges, [1.0], [1.0], is_date=False, alt="x").startswith("<svg")
    assert pictures.histogram(edges, [1.0], None, is_date=abs(edges[1]) < 1e9, alt="x").startswith("<svg")
