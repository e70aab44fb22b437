"""The pictures of the report and the datasheet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from markupsafe import Markup

from shoal.report.svg import AFTER, BEFORE, INK, MUTED, SIZE, Axis, Drawing, fitted_apart, round_ticks, text_width
from shoal.report.tables.words import compact, percent

WIDE, SMALL = 7.2, 2.9  # inches; a picture is scaled to the width of its column
LABELS = 96.0  # points for labels beside bars, so that pictures line up
FEW_DAYS = 90
MOST_DATES = 4
Shares = Sequence[float]


def class_sizes(before: Mapping[str, int], after: Mapping[str, int], unit: str = "record") -> Markup:
    """Records, or persons, by the size of their class, before and after."""
    shares = [[c / (sum(side.values()) or 1) for c in side.values()] for side in (before, after)]
    told = "; ".join(
        f"{b}: {percent(x)} before, {percent(y)} after" for b, x, y in zip(before, *shares, strict=True) if x or y
    )
    alt = f"Share of {unit}s by the number of {unit}s in their class. {told}."
    return paired_bars(list(before), shares[0], shares[1], f"{unit}s in the class", alt=alt)


def paired_bars(bins: Sequence[str], left: Shares, right: Shares, what: str, *, alt: str) -> Markup:
    """Shares in a few bins, two series side by side."""
    ticks = [(i, b.replace("-", "–")) for i, b in enumerate(bins)]
    x = Axis(-0.6, len(bins) - 0.4, ticks, what)
    drawing = Drawing(WIDE, 1.9, x, _heights(0.05, left, right), above=SIZE + 3)
    for side, colour, shift in ((left, BEFORE, -0.2), (right, AFTER, 0.2)):
        drawing.bars([(i + shift - 0.19, i + shift + 0.19, 0.0, share) for i, share in enumerate(side)], colour)
        for i, share in enumerate(side):
            if share:
                drawing.text(i + shift, share, percent(share), INK, 7, "middle", dy=6)
    return drawing.svg(alt)


def histogram(edges: Sequence[float], before: Shares, after: Shares | None, *, is_date: bool, alt: str) -> Markup:
    """Shares of cells, as areas: bars before, a line after; with one series bars alone."""
    widths = np.diff(edges)
    heights = [(np.asarray(side, dtype=np.float64) / widths).tolist() for side in (before, after) if side is not None]
    low, high = float(edges[0]), float(edges[-1])
    ticks = date_ticks(low, high) if is_date else number_ticks(low, high)
    drawing = Drawing(SMALL, 1.3, Axis(low, high, ticks), _heights(0.0, *heights))
    if after is None:
        gap = min(0.06 * float(widths.min()), 0.01 * (high - low))
        cells = zip(edges, edges[1:], heights[0], strict=False)
        drawing.bars([(start, end - gap, 0.0, height) for start, end, height in cells], AFTER)
    else:
        drawing.stairs(edges, heights[0], BEFORE)
        drawing.stairs(edges, heights[1], AFTER, 1.5)
    return drawing.svg(alt)


def bars(labels: Sequence[str], before: Shares, after: Shares | None, *, alt: str) -> Markup:
    """Shares of categories: a wide bar before and a narrow one after; with one series wide bars alone."""
    ticks = list(enumerate(fitted_apart(labels, LABELS - SIZE / 2)))
    sides = [before] if after is None else [before, after]
    top = _heights(0.01, *sides).high
    room = text_width(">99.9 %", 7.5) + 3
    y = Axis(len(labels) - 0.5, -0.5, ticks)
    x = Axis(0.0, top, has_line=False)
    drawing = Drawing(SMALL, 0.08 + 0.195 * len(labels), x, y, left=LABELS, right=room)
    for side, colour, half in zip(sides, (AFTER,) if after is None else (BEFORE, AFTER), (0.37, 0.14), strict=False):
        drawing.bars([(0.0, share, i - half, i + half) for i, share in enumerate(side)], colour)
    for i, values in enumerate(zip(*sides, strict=True)):
        drawing.text(max(v or 0.0 for v in values), i, percent(values[-1]), MUTED, 7.5, dx=3)
    return drawing.svg(alt)


def spread_axis(values: Sequence[float | None], title: str) -> Axis:
    """A side for points: a little beyond the values, of which those count that are numbers."""
    known = [v for v in values if v is not None and np.isfinite(v)] or [0.0]
    low, high = min(known), max(known)
    margin = 0.05 * (high - low or 1.0)
    low, high = low - margin, high + margin
    return Axis(low, high, number_ticks(low, high, 8), title)


def number_ticks(low: float, high: float, most: int = 5) -> list[tuple[float, str]]:
    """Round numbers with their labels, none of which stands twice."""
    labels: dict[str, float] = {}
    for place in round_ticks(low, high, most):
        labels.setdefault(compact(place), place)
    return [(place, label) for label, place in labels.items()]


def date_ticks(low: float, high: float) -> list[tuple[float, str]]:
    """First days of years or months, or days, between two days since 1970.

    >>> date_ticks(18262, 18628)
    [(18262.0, '2020-01'), (18444.0, '2020-07'), (18628.0, '2021-01')]
    """
    first, last = np.clip([np.ceil(low), np.floor(high)], -700_000, 2_900_000).astype("datetime64[D]")
    span = high - low
    unit, steps = (
        ("Y", (1, 2, 5)) if span > 3 * 366 else ("M", (1, 2, 3, 6, 12)) if span > FEW_DAYS else ("D", (1, 2, 5))
    )
    starts = np.arange(first.astype(f"datetime64[{unit}]"), last.astype(f"datetime64[{unit}]") + 1)
    starts = starts[starts.astype("datetime64[D]") >= first]
    counts = starts.astype(np.int64) + (1970 if unit == "Y" else 0)
    step = next((s for s in (f * 10**e for e in range(6) for f in steps) if np.sum(counts % s == 0) <= MOST_DATES), 1)
    return [(float(s.astype("datetime64[D]").astype(np.int64)), str(s)) for s in starts[counts % step == 0]]


def _heights(least: float, *sides: Sequence[float | None]) -> Axis:
    """An axis from zero to the greatest height, without line and labels."""
    top = max([least, *(h for side in sides for h in side if h is not None and np.isfinite(h))])
    return Axis(0.0, top or 1.0, has_line=False)
