"""The pictures of sketches: how many components, and how well products are kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from markupsafe import Markup

from shoal.report.content import picture
from shoal.report.svg import AFTER, BEFORE, MUTED, RULE, draw
from shoal.report.tables.words import compact

WIDE = 7.2  # inches
N_BINS = 40


def components(counts: npt.NDArray[np.int64], alt: str) -> Markup:
    """How many components records have."""
    told = components_picture(counts, alt)
    return component_histogram(told["low"], told["high"], told["edges"], told["shares"], alt)


def components_picture(counts: npt.NDArray[np.int64], alt: str) -> dict[str, Any]:
    """What the picture of the numbers of components is drawn from: shares of records between edges."""
    low, high = int(counts.min()), int(counts.max())
    width = max(1, -(-(high - low + 1) // N_BINS))
    edges = np.arange(low, high + width + 1, width) - 0.5
    shares = (np.histogram(counts, edges)[0] / len(counts)).tolist()
    return picture("component_histogram", low=low, high=high, edges=edges.tolist(), shares=shares, alt=alt)


def component_histogram(low: int, high: int, edges: Sequence[float], shares: Sequence[float], alt: str) -> Markup:
    """Shares of records by the number of their components."""

    def paint(axes: Any) -> None:
        axes.stairs(shares, edges, color=AFTER, fill=True, linewidth=0)
        middle, half = (low + high) / 2, max(high - low + 1, 12) / 2
        axes.set_xlim(middle - half, middle + half)
        places = np.unique(np.round(np.linspace(low, high, 7))).tolist()
        axes.set_xticks(places, [compact(p) for p in places])
        axes.set_xlabel("components of a record")
        axes.set_ylim(bottom=0)
        axes.set_yticks([])
        axes.spines["left"].set_visible(False)

    return draw(WIDE, 1.7, paint, alt)


def product_scatter(true: Sequence[float], estimated: Sequence[float], errors: Sequence[float], alt: str) -> Markup:
    """True against estimated products, with the band of two standard errors around the line of no error."""

    def paint(axes: Any) -> None:
        x, y, spread = (np.asarray(v, dtype=np.float64) for v in (true, estimated, errors))
        order = np.argsort(x, kind="stable")
        edges = np.array_split(order, min(20, max(len(order) // 20, 1)))
        at = [float(x[part].mean()) for part in edges]
        band = [2 * float(np.sqrt((spread[part] ** 2).mean())) for part in edges]
        axes.fill_between(at, np.subtract(at, band), np.add(at, band), color=BEFORE, alpha=0.35, linewidth=0)
        low, high = float(x.min()), float(x.max())
        axes.plot([low, high], [low, high], color=RULE, linewidth=1)
        axes.plot(x, y, ".", color=AFTER, markersize=2, markeredgewidth=0, alpha=0.6)
        axes.set_xlabel("true product")
        axes.set_ylabel("estimated from sketches", color=MUTED)

    return draw(WIDE, 3.2, paint, alt)
