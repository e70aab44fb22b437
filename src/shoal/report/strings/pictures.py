"""The pictures of strings: composition, lengths, verbatim runs, distances."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from markupsafe import Markup

from shoal.report.content import picture
from shoal.report.svg import AFTER, BEFORE, MUTED, RULE, clean, draw
from shoal.report.tables import pictures
from shoal.report.tables.words import compact, percent

WIDE = 7.2  # inches
N_BINS = 40
LONGEST_SIGN = 2
FEWEST_BARS = 12  # fewer are not drawn wider
Shares = Sequence[float]


def composition(symbols: Sequence[str], before: Shares | None, after: Shares, alt: str) -> Markup:
    """Shares of symbols, beside those of the original where they are given."""
    if any(len(s) > LONGEST_SIGN for s in symbols):
        first = after if before is None else before
        return pictures.bars(symbols, first, None if before is None else after, alt=alt)

    def paint(axes: Any) -> None:
        at = np.arange(len(symbols))
        if before is not None:
            axes.bar(at, before, 0.8, color=BEFORE)
        axes.bar(at, after, 0.8 if before is None else 0.3, color=AFTER)
        axes.set_xticks(at, [clean(s) for s in symbols])
        top = max(0.01, *(before or ()), *after)
        step = 0.05 if top > 0.12 else 0.02
        ticks = np.arange(0, top * 1.05, step if top < 0.4 else 0.2)
        axes.set_yticks(ticks, [percent(t) for t in ticks.tolist()])
        middle, half = (len(symbols) - 1) / 2, max(len(symbols), FEWEST_BARS) / 2
        axes.set_xlim(middle - half - 0.2, middle + half + 0.2)

    return draw(WIDE, 1.9, paint, alt)


def length_edges(*lengths: npt.NDArray[np.int64]) -> list[float]:
    """Edges of equal ratio where lengths span more than a factor of eight, else of equal width."""
    low, high = min(int(n.min()) for n in lengths), max(int(n.max()) for n in lengths)
    if high - low <= N_BINS:
        return [i - 0.5 for i in range(low, high + 2)]
    edges = np.geomspace(low, high + 1, N_BINS + 1) if high > 8 * low else np.linspace(low, high + 1, N_BINS + 1)
    return [float(e) for e in np.unique(np.round(edges))]


def lengths(before: npt.NDArray[np.int64] | None, after: npt.NDArray[np.int64], alt: str) -> Markup | None:
    """How long strings are; nothing where all have one length."""
    told = lengths_picture(before, after, alt)
    return None if told is None else length_histogram(told["edges"], told["before"], told["after"], alt)


def lengths_picture(
    before: npt.NDArray[np.int64] | None, after: npt.NDArray[np.int64], alt: str
) -> dict[str, Any] | None:
    """What the picture of lengths is drawn from: shares of strings between edges."""
    sides = [n for n in (before, after) if n is not None]
    if len({int(n.min()) for n in sides} | {int(n.max()) for n in sides}) == 1:
        return None
    edges = length_edges(*sides)
    shares = [(np.histogram(n, edges)[0] / len(n)).tolist() for n in sides]
    return picture(
        "length_histogram", edges=edges, before=None if before is None else shares[0], after=shares[-1], alt=alt
    )


def length_histogram(edges: Shares, before: Shares | None, after: Shares, alt: str) -> Markup:
    """How long strings are: bars before and a line after, or bars alone."""
    shares = [side for side in (before, after) if side is not None]
    is_log = len(edges) > 2 and edges[-1] > 8 * max(edges[0], 1)

    def paint(axes: Any) -> None:
        axes.stairs(shares[0], edges, color=BEFORE if before is not None else AFTER, fill=True, linewidth=0)
        if before is not None:
            axes.stairs(shares[1], edges, color=AFTER, linewidth=1.4, fill=False, baseline=0)
        if is_log:
            axes.set_xscale("log")
            axes.minorticks_off()
        low, high = max(edges[0], 0.5), edges[-1]
        places = [p for d in range(7) for p in (10**d, 2 * 10**d, 5 * 10**d) if low <= p <= high] if is_log else []
        if not places:
            places = np.unique(np.round(np.linspace(low, high, 6))).tolist()
        axes.set_xticks(places, [compact(p) for p in places])
        axes.set_xlim(low, high)
        axes.set_xlabel("length, in symbols")
        _no_numbers(axes)

    return draw(WIDE, 1.9, paint, alt)


def longest_runs(ours: Sequence[int], control: Sequence[int], alt: str) -> Markup:
    """How long the longest verbatim run is: of the control as bars, of pseudo-strings as a line."""
    top = max(len(ours), len(control), 2)
    edges = np.unique(np.round(np.geomspace(1, top, min(top, N_BINS)))).tolist()
    edges = [0.0, *[e for e in edges if e > 0], float(top + 1)] if edges[-1] < top + 1 else [0.0, *edges]
    shares = []
    for counts in (control, ours):
        whole = np.asarray(counts, dtype=np.float64)
        held, _ = np.histogram(np.arange(len(whole)), edges, weights=whole)
        shares.append(held / (whole.sum() or 1))
    at = np.arange(len(edges))

    def paint(axes: Any) -> None:
        axes.stairs(shares[0], at, color=BEFORE, fill=True, linewidth=0)
        axes.stairs(shares[1], at, color=AFTER, linewidth=1.4, fill=False, baseline=0)
        shown = list(range(1, len(edges) - 1, max(1, len(edges) // 12)))
        axes.set_xticks([at[i] for i in shown], [compact(edges[i]) for i in shown])
        axes.set_xlim(0, len(edges) - 1)
        axes.set_xlabel("longest run that stands in an original, in symbols")
        _no_numbers(axes)

    return draw(WIDE, 1.9, paint, alt)


def distance_scatter(before: Shares, after: Shares, alt: str) -> Markup:
    """Distances between groups, before and after; the line is where nothing has changed."""

    def paint(axes: Any) -> None:
        low, high = min(*before, *after), max(*before, *after)
        margin = 0.05 * (high - low or 1)
        axes.plot([low, high], [low, high], color=RULE, linewidth=1)
        axes.plot(before, after, "o", color=AFTER, markersize=3, markeredgewidth=0)
        axes.set_xlim(low - margin, high + margin)
        axes.set_ylim(low - margin, high + margin)
        axes.set_xlabel("between groups of originals")
        axes.set_ylabel("between their pseudo-strings", color=MUTED)
        axes.set_aspect("equal")

    return draw(3.6, 3.4, paint, alt)


def _no_numbers(axes: Any) -> None:
    axes.set_ylim(bottom=0)
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
