"""The map of trajectories: how dense points are in cells, before and after, without tiles from anywhere."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from shoal.report.svg import AFTER, BEFORE, MUTED, RULE, Axis, Drawing, round_ticks

WIDTH = 7.2
GAP = 0.06  # of a map, between the two


def heat_maps(
    cells: Sequence[Sequence[float]], before: Sequence[float] | None, after: Sequence[float], cell: float, alt: str
) -> Markup:
    """Cells of a map as squares, the larger the more points they hold; two maps side by side, or one.

    Parameters
    ----------
    cells : sequence of (south, west)
        In degrees.
    before, after : sequence of float
        Shares of the points in each.
    """
    souths, wests = [c[0] for c in cells], [c[1] for c in cells]
    low, high, left, right = min(souths), max(souths) + cell, min(wests), max(wests) + cell
    width = (right - left) * (1 + GAP) + cell
    sides = [(before, BEFORE, "before"), (after, AFTER, "after")] if before is not None else [(after, AFTER, "")]
    end = left + width * len(sides)
    height = min(max(WIDTH * 1.25 * (high - low) / (end - left), 1.6), 5.0)
    ticks = [(t, f"{t:g}°") for t in round_ticks(low, high, 3)]
    places = round_ticks(left, right, 2)
    bottom = [(t + i * width, f"{t:g}°") for i in range(len(sides)) for t in places]
    drawing = Drawing(WIDTH, height, Axis(left, end, bottom), Axis(low, high, ticks), above=14)
    for i, (shares, colour, title) in enumerate(sides):
        top = max(shares, default=0.0) or 1.0
        squares = []
        for (south, west), share in zip(cells, shares, strict=True):
            if share > 0:
                half = cell / 2 * max((share / top) ** 0.5, 0.18)
                y, x = south + cell / 2, west + cell / 2 + i * width
                squares.append((x - half, x + half, y - half, y + half))
        drawing.bars(squares, colour)
        west, east = left + i * width, right + i * width
        drawing.line([(west, low), (west, high), (east, high), (east, low), (west, low)], RULE, 0.6)
        drawing.text(left + i * width, high, title, MUTED, dy=8)
    return drawing.svg(alt)
