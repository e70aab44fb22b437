"""The pictures of strings: composition, lengths, verbatim runs, distances."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from markupsafe import Markup

from shoal.arrays import Ints
from shoal.report.content import picture
from shoal.report.svg import AFTER, BEFORE, RULE, Axis, Drawing, clean, round_ticks
from shoal.report.tables.pictures import WIDE, Shares, bars, spread_axis
from shoal.report.tables.words import compact, percent

N_BINS = 40
LONGEST_SIGN = 2
FEWEST_BARS = 12  # fewer are not drawn wider


def composition(symbols: Sequence[str], before: Shares | None, after: Shares, alt: str) -> Markup:
    """Shares of symbols, beside those of the original where they are given."""
    if any(len(s) > LONGEST_SIGN for s in symbols):
        first = after if before is None else before
        return bars(symbols, first, None if before is None else after, alt=alt)

    top = max(0.01, *(before or ()), *after)
    y = Axis(0.0, top, [(t, percent(t)) for t in round_ticks(0.0, top)])
    middle, half = (len(symbols) - 1) / 2, max(len(symbols), FEWEST_BARS) / 2 + 0.2
    x = Axis(middle - half, middle + half, [(i, clean(s)) for i, s in enumerate(symbols)])
    drawing = Drawing(WIDE, 1.9, x, y)
    if before is not None:
        drawing.bars([(i - 0.4, i + 0.4, 0.0, share) for i, share in enumerate(before)], BEFORE)
    width = 0.4 if before is None else 0.15
    drawing.bars([(i - width, i + width, 0.0, share) for i, share in enumerate(after)], AFTER)
    return drawing.svg(alt)


def length_edges(*lengths: Ints) -> list[float]:
    """Edges of equal ratio where lengths span more than a factor of eight, else of equal width."""
    low, high = min(int(n.min()) for n in lengths), max(int(n.max()) for n in lengths)
    if high - low <= N_BINS:
        return [i - 0.5 for i in range(low, high + 2)]
    edges = np.geomspace(low, high + 1, N_BINS + 1) if high > 8 * low else np.linspace(low, high + 1, N_BINS + 1)
    return [float(e) for e in np.unique(np.round(edges))]


def lengths(before: Ints | None, after: Ints, alt: str) -> Markup | None:
    """How long strings are; nothing where all have one length."""
    told = lengths_picture(before, after, alt)
    return None if told is None else length_histogram(told["edges"], told["before"], told["after"], alt)


def lengths_picture(before: Ints | None, after: Ints, alt: str) -> dict[str, Any] | None:
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
    is_log = len(edges) > 2 and edges[-1] > 8 * max(edges[0], 1)
    low, high = max(edges[0], 0.5), edges[-1]
    places = [p for d in range(7) for p in (10**d, 2 * 10**d, 5 * 10**d) if low <= p <= high] if is_log else []
    if not places:
        places = np.unique(np.floor(np.linspace(np.ceil(low), high, 6))).tolist()
    x = Axis(low, high, [(p, compact(p)) for p in places], "length, in symbols", is_log=is_log)
    return _bars_and_line(x, edges, before, after, alt)


def longest_runs(ours: Sequence[int], control: Sequence[int], alt: str) -> Markup:
    """How long the longest verbatim run is: of the control as bars, of pseudo-strings as a line."""
    top = max(len(ours), len(control), 2)
    edges = np.unique(np.round(np.geomspace(1, top, min(top, N_BINS)))).tolist()
    edges = [0.0, *[e for e in edges if e > 0], float(top + 1)] if edges[-1] < top + 1 else [0.0, *edges]
    shares = []
    for counts in (control, ours):
        whole = np.asarray(counts, dtype=np.float64)
        held, _ = np.histogram(np.arange(len(whole)), edges, weights=whole)
        shares.append((held / (whole.sum() or 1)).tolist())
    ticks = [(i, compact(edges[i])) for i in range(1, len(edges) - 1, max(1, len(edges) // 12))]
    x = Axis(0.0, len(edges) - 1, ticks, "longest run that stands in an original, in symbols")
    return _bars_and_line(x, range(len(edges)), shares[0], shares[1], alt)


def distance_scatter(before: Shares, after: Shares, alt: str) -> Markup:
    """Distances between groups, before and after; the line is where nothing has changed."""
    low, high = min(*before, *after), max(*before, *after)
    x, y = (spread_axis([low, high], f"between {of}") for of in ("groups of originals", "their pseudo-strings"))
    drawing = Drawing(3.6, 3.4, x, y)
    drawing.line([(low, low), (high, high)], RULE, 1)
    drawing.dots(zip(before, after, strict=True), AFTER, 1.5)
    return drawing.svg(alt)


def _bars_and_line(x: Axis, edges: Shares, before: Shares | None, after: Shares, alt: str) -> Markup:
    """Shares of two sides as an area and a line, or of one as an area."""
    drawing = Drawing(WIDE, 1.9, x, Axis(0.0, max(*(before or ()), *after), has_line=False))
    drawing.stairs(edges, after if before is None else before, AFTER if before is None else BEFORE)
    if before is not None:
        drawing.stairs(edges, after, AFTER, 1.4)
    return drawing.svg(alt)
