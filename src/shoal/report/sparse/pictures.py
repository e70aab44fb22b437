"""The pictures of sketches: how many components, and how well products are kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from markupsafe import Markup

from shoal.arrays import Ints
from shoal.report.content import picture
from shoal.report.svg import AFTER, MUTED, RULE, Axis, Drawing
from shoal.report.tables.pictures import WIDE, spread_axis
from shoal.report.tables.words import compact

N_BINS = 40


def components(counts: Ints, alt: str) -> Markup:
    """How many components records have."""
    told = components_picture(counts, alt)
    return component_histogram(told["low"], told["high"], told["edges"], told["shares"], alt)


def components_picture(counts: Ints, alt: str) -> dict[str, Any]:
    """What the picture of the numbers of components is drawn from: shares of records between edges."""
    low, high = int(counts.min()), int(counts.max())
    width = max(1, -(-(high - low + 1) // N_BINS))
    edges = np.arange(low, high + width + 1, width) - 0.5
    shares = (np.histogram(counts, edges)[0] / len(counts)).tolist()
    return picture("component_histogram", low=low, high=high, edges=edges.tolist(), shares=shares, alt=alt)


def component_histogram(low: int, high: int, edges: Sequence[float], shares: Sequence[float], alt: str) -> Markup:
    """Shares of records by the number of their components."""
    middle, half = (low + high) / 2, max(high - low + 1, 12) / 2
    places = np.unique(np.round(np.linspace(low, high, 7))).tolist()
    x = Axis(middle - half, middle + half, [(p, compact(p)) for p in places], "components of a record")
    drawing = Drawing(WIDE, 1.7, x, Axis(0.0, max(shares), has_line=False))
    drawing.stairs(edges, shares, AFTER)
    return drawing.svg(alt)


def product_scatter(true: Sequence[float], estimated: Sequence[float], errors: Sequence[float], alt: str) -> Markup:
    """True against estimated products, with the band of two standard errors around the line of no error."""
    x, y, spread = (np.asarray(v, dtype=np.float64) for v in (true, estimated, errors))
    order = np.argsort(x, kind="stable")
    parts = np.array_split(order, min(20, max(len(order) // 20, 1)))
    at = np.array([x[part].mean() for part in parts])
    band = np.array([2 * np.sqrt((spread[part] ** 2).mean()) for part in parts])
    low, high = float(x.min()), float(x.max())
    drawing = Drawing(
        WIDE,
        3.2,
        spread_axis([low, high], "true product"),
        spread_axis([*y, *(at - band), *(at + band)], "estimated from sketches"),
    )
    upper, lower = zip(at, at + band, strict=True), zip(at, at - band, strict=True)
    drawing.line([*upper, *reversed([*lower])], RULE, 0.0)
    drawing.line([(low, low), (high, high)], MUTED, 0.8)
    drawing.dots(zip(x.tolist(), y.tolist(), strict=True), AFTER, 1.2, 0.6)
    return drawing.svg(alt)
