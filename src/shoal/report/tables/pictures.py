"""The pictures of the report and the datasheet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from markupsafe import Markup

from shoal.report.svg import AFTER, BEFORE, INK, MUTED, RULE, clean, draw
from shoal.report.tables.words import compact, percent

SMALL = 3.3  # inches; a picture is scaled to the width of its column
Shares = Sequence[float]


def class_sizes(before: Mapping[str, int], after: Mapping[str, int]) -> Markup:
    """Records by the size of their class, before and after."""
    shares = [[c / (sum(side.values()) or 1) for c in side.values()] for side in (before, after)]
    told = "; ".join(
        f"{b}: {percent(x)} before, {percent(y)} after" for b, x, y in zip(before, *shares, strict=True) if x or y
    )
    alt = f"Share of records by the number of records in their class. {told}."
    return paired_bars(list(before), shares[0], shares[1], "records in the class", alt=alt)


def paired_bars(bins: Sequence[str], left: Shares, right: Shares, what: str, *, alt: str) -> Markup:
    """Shares in a few bins, two series side by side."""
    shares = (left, right)

    def paint(axes: Any) -> None:
        at = np.arange(len(bins))
        for side, colour, shift in ((0, BEFORE, -0.2), (1, AFTER, 0.2)):
            axes.bar(at + shift, shares[side], 0.38, color=colour)
            for x, share in zip(at + shift, shares[side], strict=True):
                if share > 0:
                    axes.text(x, share + 0.012, percent(share), ha="center", va="bottom", color=INK, size=7)
        axes.set_xticks(at, [b.replace("-", "–") for b in bins])
        axes.set_xlabel(what)
        axes.set_ylim(0, max(0.05, *shares[0], *shares[1]) * 1.12)
        axes.set_yticks([])
        axes.spines["left"].set_visible(False)

    return draw(7.2, 1.9, paint, alt)


def histogram(edges: Sequence[float], before: Shares, after: Shares | None, *, is_date: bool, alt: str) -> Markup:
    """Shares of cells, as areas: bars before, a line after; with one series bars alone."""

    def paint(axes: Any) -> None:
        widths = np.diff(edges)
        heights = [np.asarray(side) / widths for side in (before, after) if side is not None]
        if after is None:
            gap = 0.06 * float(widths.min())
            axes.bar(edges[:-1], heights[0], widths - gap, align="edge", color=AFTER)
        else:
            axes.stairs(heights[0], edges, color=BEFORE, fill=True, linewidth=0)
            axes.stairs(heights[1], edges, color=AFTER, linewidth=1.5, fill=False, baseline=0)
        axes.set_ylim(0, max(float(h.max()) for h in heights) * 1.06 or 1.0)
        axes.set_xlim(edges[0], edges[-1])
        axes.set_yticks([])
        axes.spines["left"].set_visible(False)
        _number_ticks(axes, edges, is_date)

    return draw(SMALL, 1.45, paint, alt)


def bars(labels: Sequence[str], before: Shares, after: Shares | None, *, alt: str) -> Markup:
    """Shares of categories: a wide bar before and a narrow one after; with one series wide bars alone."""

    def paint(axes: Any) -> None:
        at = np.arange(len(labels))
        axes.barh(at, before, 0.74, color=BEFORE if after is not None else AFTER)
        if after is not None:
            axes.barh(at, after, 0.28, color=AFTER)
        top = max(0.01, *before, *(after or ()))
        for y, values in zip(at, zip(before, *([after] if after is not None else []), strict=True), strict=True):
            axes.text(max(values) + 0.02 * top, y, percent(values[-1]), va="center", color=MUTED, size=7.5)
        axes.set_yticks(at, [clean(label, 19) for label in labels])
        axes.set_xlim(0, top * 1.3)
        axes.set_ylim(len(labels) - 0.4, -0.6)
        axes.set_xticks([])
        axes.spines["bottom"].set_visible(False)
        axes.spines["left"].set_color(RULE)

    return draw(SMALL, 0.1 + 0.2 * len(labels), paint, alt, left=0.42)


def _number_ticks(axes: Any, edges: Sequence[float], is_date: bool) -> None:
    from matplotlib.ticker import MaxNLocator

    low, high = float(edges[0]), float(edges[-1])
    if is_date:
        places = np.linspace(low, high, 4)[:-1] + (high - low) / 8
        days = np.clip(np.floor(places), -700_000, 2_900_000).astype("datetime64[D]")
        unit = "Y" if high - low > 3 * 366 else "M" if high - low > 90 else "D"
        axes.set_xticks(days.astype(np.int64), [str(d) for d in days.astype(f"datetime64[{unit}]")])
        return
    ticks = [p for p in MaxNLocator(5, steps=[1, 2, 5, 10]).tick_values(low, high) if low <= p <= high]
    axes.set_xticks(ticks, [compact(p) for p in ticks])
