"""Pictures that stand inside a page."""

from __future__ import annotations

import math
import re
import xml.etree.ElementTree as ET
from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from shoal.report.svg import AFTER, BEFORE, Axis, Drawing, clean, fitted, round_ticks, text_width
from shoal.report.tables import pictures

HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x>',
    "]]><b>",
    "a -- b",
    "$x^2$",
    "\x00\x0b\u202e",
    "1.23456",
    ' id="z"',
    "#010101",
]
UNIT = Axis(0.0, 1.0)


def elements(svg: str, name: str) -> list[ET.Element]:
    return [e for e in ET.fromstring(svg).iter() if e.tag == name]


def texts(svg: str) -> list[str]:
    return [e.text or "" for e in elements(svg, "text")]


def test_labels_are_escaped_and_unchanged() -> None:
    svg = pictures.bars(HOSTILE, [0.1] * 9, [0.2] * 9, alt='a "picture" of <things>')
    root = ET.fromstring(svg)
    assert root.attrib["aria-label"] == 'a "picture" of <things>'
    assert root.attrib["role"] == "img"
    shown = texts(svg)
    for label in HOSTILE:
        assert fitted(label, pictures.LABELS - 4.25) in shown


def test_long_labels_that_begin_alike_stay_apart() -> None:
    labels = ["[2022-07-01..2023-12-31]", "[2022-07-01..2023-09-30]", "{divorced, married}"]
    shown = [t for t in texts(pictures.bars(labels, [0.1] * 3, None, alt="")) if "…" in t or "{" in t]
    assert len(set(shown)) == 3
    assert shown[2] == labels[2]
    assert all(
        cut.startswith("[2022-") and cut.endswith(label[-4:]) for cut, label in zip(shown, labels[:2], strict=False)
    )


@given(st.text(max_size=60), st.floats(8, 300))
def test_what_is_fitted_begins_like_the_text_and_has_the_width(text: str, width: float) -> None:
    shown = fitted(text, width)
    assert shown == clean(text, 200) or (shown.endswith("…") and clean(text, 200).startswith(shown[:-1]))
    assert text_width(shown) <= width + 1e-9 or len(shown) == 2
    assert ET.fromstring(Drawing(3, 1, UNIT, Axis(0, 1, [(0.5, shown)])).svg(shown)) is not None


def slow_round_ticks(low: Fraction, high: Fraction, most: int) -> list[float]:
    """All steps from small to large: the first that fits so often and not more."""
    for step in (Fraction(s) * Fraction(10) ** power for power in range(-9, 12) for s in (1, 2, 5)):
        if (high - low) / step <= most:
            first = math.floor(low / step)
            return [float(i * step) for i in range(first, first + most + 2) if low <= i * step <= high]
    raise AssertionError


@given(st.integers(-(10**6), 10**6), st.integers(1, 10**6), st.integers(1, 9), st.integers(-4, 2))
@example(0, 3, 3, -1)
@example(-7, 10, 5, 0)
def test_ticks_are_those_of_the_slow_twin(low: int, span: int, most: int, power: int) -> None:
    ends = [i * Fraction(10) ** power for i in (low, low + span)]
    ticks = round_ticks(float(ends[0]), float(ends[1]), most)
    assert ticks == pytest.approx(slow_round_ticks(*ends, most))
    assert len(ticks) <= most + 1


@pytest.mark.parametrize("ends", [(0, 0), (5, 5), (0, 1e-308), (1, math.inf), (math.nan, 1)])
def test_ends_without_room_have_one_tick(ends: tuple[float, float]) -> None:
    assert len(round_ticks(*ends)) == 1


@given(st.floats(0.001, 1000), st.floats(1.1, 1000), st.floats(0, 1))
def test_equal_ratios_take_equal_room_on_a_logarithmic_axis(low: float, ratio: float, share: float) -> None:
    axis = Axis(low, low * ratio, is_log=True)
    assert axis.share(low * ratio**share) == pytest.approx(share, abs=1e-6)
    assert axis.share(0.0) == axis.share(-1.0) == 0.0
    assert Axis(low, low * ratio).share(low + share * low * (ratio - 1)) == pytest.approx(share, abs=1e-6)


def test_places_are_where_the_numbers_say() -> None:
    drawing = Drawing(2, 1, Axis(10, 20, has_line=False), Axis(0, 4, has_line=False))
    drawing.bars([(10, 15, 0, 2)], BEFORE)
    drawing.line([(10, 0), (20, 4)], AFTER)
    box, line = (e.attrib["d"] for e in elements(drawing.svg("x"), "path"))
    assert box == "M2.5 69.5H72V36H2.5Z"  # half of 144 x 72 points, less 2.5 at each side
    assert line == "M2.5 69.5L141.5 2.5"
    assert Axis(4, 0).share(1) == 0.75  # upside down


def test_what_is_not_a_number_is_not_drawn() -> None:
    drawing = Drawing(2, 1, Axis(0, 1, has_line=False), Axis(0, 1, has_line=False))
    drawing.bars([(0, None, 0, 1), (0, 1, 0, math.nan)], BEFORE)
    drawing.line([(0, 0), (0.5, None), (math.inf, 1)], AFTER)
    drawing.mark((None, 0.5), "round", AFTER)
    drawing.text(math.nan, 0.5, "nowhere")
    drawing.dots([(0.5, None)], AFTER, 1)
    svg = drawing.svg("x")
    assert texts(svg) == []
    assert [e.attrib["d"] for e in elements(svg, "path")] == ["M2.5 69.5"]  # a line of one place
    assert not elements(svg, "circle")


@pytest.mark.parametrize("shape", ["round", "square", "diamond", "tick"])
def test_every_mark_can_be_drawn(shape: str) -> None:
    drawing = Drawing(2, 1, UNIT, UNIT)
    drawing.mark((0.5, 0.5), shape, AFTER, fill="" if shape == "tick" else BEFORE)
    assert len(elements(drawing.svg("x"), "path")) == 2


@pytest.mark.parametrize("label", ["7", "a long label", "漢字"])
def test_labels_do_not_run_into_each_other_or_over_the_sides(label: str) -> None:
    ticks = [(i, label) for i in range(40)]
    svg = Drawing(3, 1, Axis(0, 39, ticks), Axis(0, 1, [(0.5, label)], "heights")).svg("x")
    at = [float(e.attrib["x"]) for e in elements(svg, "text") if e.attrib["text-anchor"] == "middle"][:-1]
    half = text_width(label) / 2
    assert len(at) >= 2
    assert all(b - a > 2 * half for a, b in pairwise(at))
    assert at[0] - half >= 0
    assert at[-1] + half <= 3 * 72


def test_text_stays_inside_and_has_lines() -> None:
    drawing = Drawing(2, 1, UNIT, UNIT)
    drawing.text(1.0, 0.5, "beyond the right side")
    drawing.text(0.0, 0.5, "left", anchor="end")
    drawing.text(0.5, 0.5, "two\nlines")
    found = elements(drawing.svg("x"), "text")
    assert float(found[0].attrib["x"]) + text_width("beyond the right side") <= 2 * 72
    assert float(found[1].attrib["x"]) - text_width("left") >= 0
    assert float(found[2].attrib["y"]) < float(found[3].attrib["y"])


def test_numbers_are_short_and_nothing_has_a_name() -> None:
    drawing = Drawing(2, 1, Axis(0, 3, [(1, "1")], "x", is_ruled=True), Axis(0, 3, [(1, "1")], "y", is_ruled=True))
    drawing.stairs([0, 1, 3], [1, 3], BEFORE)
    drawing.dots([(1, 2)], AFTER, 1, 0.5)
    svg = drawing.svg("x")
    assert not re.search(r"\d\.\d{3}", svg)
    assert not re.search(r'\b(id|class|href)="', svg)
    assert svg == svg.strip()
