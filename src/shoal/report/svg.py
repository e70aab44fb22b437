"""Pictures as SVG that stands inside a page: small, the same bytes every time, in the page's colours, without a name.

A `Drawing` is a box of two axes; what is put into it is placed by the numbers of the axes. Fonts are the reader's, so
the room that text takes is an estimate on the side of wide ones.
"""

from __future__ import annotations

import math
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from markupsafe import Markup, escape

INK, MUTED, RULE, BEFORE, AFTER = (f"var(--{name})" for name in ("ink", "muted", "rule", "before", "after"))
INCH = 72.0  # points, the unit of all sizes here
SIZE = 8.5
SOLID, DASHED, DOTTED, CHAINED = "", "5 2", "1 1.6", "7 2 1 2"
DEEPEST = 2.0  # what lies far outside is drawn no farther than so many boxes away
_PAD = 2.5
_GAP = 3.0
_SHIFTS = {"start": 0.0, "middle": 0.5, "end": 1.0}
Number = float | None
Place = Sequence[Number]


def clean(text: str, width: int = 24) -> str:
    """Text for a picture: characters that XML forbids, controls and line breaks replaced, cut to a width.

    >>> clean("a\\x00b\\nc"), clean("abcdefgh", 5)
    ('a�b c', 'abcd…')
    """
    shown = "".join(
        " " if c.isspace() else "\ufffd" if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Cn", "Co") else c
        for c in text
    )
    return shown if len(shown) <= width else shown[: width - 1].rstrip() + "…"


def text_width(text: str, size: float = SIZE) -> float:
    """About how wide a text is, in points: a wide font's letters.

    >>> text_width("mill", 10) < text_width("mall", 10) < text_width("漢字漢字", 10)
    True
    """
    return size * sum(_letter(c) for c in text)


def _letter(c: str) -> float:
    if c in "iljI.,:;|!'()[] ftr":
        return 0.38
    if c in "mwMW@%—…" or unicodedata.east_asian_width(c) in "WF":
        return 1.0
    return 0.0 if unicodedata.combining(c) else 0.74 if c.isupper() else 0.64


def fitted(text: str, width: float, size: float = SIZE) -> str:
    """Text for a picture, cut to a width in points.

    >>> fitted("a short one", 100), fitted("something too long for its place", 60)
    ('a short one', 'something…')
    """
    shown = clean(text, 200)
    if text_width(shown, size) <= width:
        return shown
    widths = np.cumsum([size * _letter(c) for c in shown])
    n_kept = int(np.searchsorted(widths, width - size * _letter("…"), side="right"))
    return shown[: max(n_kept, 1)].rstrip() + "…"


def fitted_apart(texts: Sequence[str], width: float, size: float = SIZE) -> list[str]:
    """Texts cut to a width; those that would come out the same are cut in the middle, as their ends may differ.

    >>> fitted_apart(["{divorced, married}", "{divorced, widowed}", "{single}"], 60)
    ['{divo…ried}', '{divo…wed}', '{single}']
    """
    shown = [fitted(text, width, size) for text in texts]
    times = Counter(shown)
    return [
        cut if times[cut] == 1 else _without_middle(clean(text, 200), width, size)
        for text, cut in zip(texts, shown, strict=True)
    ]


def _without_middle(text: str, width: float, size: float) -> str:
    half = (width - size * _letter("…")) / 2
    head, tail = (
        int(np.searchsorted(np.cumsum([size * _letter(c) for c in side]), half)) for side in (text, text[::-1])
    )
    return text if head + tail >= len(text) else f"{text[:head].rstrip()}…{text[len(text) - tail :].lstrip()}"


def round_ticks(low: float, high: float, most: int = 5) -> list[float]:
    """Round numbers between two ends: multiples of 1, 2 or 5 times a power of ten, in at most so many steps.

    >>> round_ticks(0, 97), round_ticks(0.21, 0.29), round_ticks(3, 3)
    ([0.0, 20.0, 40.0, 60.0, 80.0], [0.22, 0.24, 0.26, 0.28], [3.0])
    """
    span = high - low
    if not (math.isfinite(span) and span > 0 and span / most > 1e-300):
        return [float(low)]
    power = math.floor(math.log10(span / most))
    unit = 10.0**power
    step = next(s for s in (1, 2, 5, 10, 20) if span <= most * s * unit * (1 + 1e-9))
    first, last = math.ceil(low / (step * unit) - 1e-6), math.floor(high / (step * unit) + 1e-6)
    # A division by a power of ten gives 0.3 where a multiplication gives 0.30000000000000004.
    return [i * step / 10.0**-power if -300 < power < 0 else i * step * unit for i in range(first, last + 1)]


class Axis(NamedTuple):
    """One side of a drawing: the numbers that it spans and what stands beside it.

    Attributes
    ----------
    low, high : float
        Numbers at its ends, from left to right or from bottom to top; low may be the larger one.
    ticks : sequence of (number, text)
        Labels; at the bottom, one that would run into the one before it is left out.
    title : str
        What the numbers are.
    is_log : bool
        Whether equal ratios take equal room; what is not positive lies at the low end.
    has_line, is_ruled : bool
        Whether it is drawn as a line, and whether faint lines cross the drawing at its ticks.
    """

    low: float
    high: float
    ticks: Sequence[tuple[float, str]] = ()
    title: str = ""
    is_log: bool = False
    has_line: bool = True
    is_ruled: bool = False

    def share(self, value: float) -> float:
        """How far along a number stands: 0 at the low end, 1 at the high end."""
        low, high = self.low, self.high
        if self.is_log:
            low, high, value = math.log(low), math.log(high), math.log(value) if value > 0 else math.log(low)
        share = (value - low) / (high - low) if high != low else 0.5
        return min(max(share, -DEEPEST), DEEPEST)


class Drawing:
    """A picture in the making, of a size in inches; what is not a number is not drawn.

    Parameters
    ----------
    x, y : Axis
        The bottom and the left side.
    left : float, optional
        Points that labels at the left have, so that pictures line up; by default as many as they need.
    right, above : float
        Points that are left free there, for text.
    """

    def __init__(
        self,
        width: float,
        height: float,
        x: Axis,
        y: Axis,
        *,
        left: float | None = None,
        right: float = 0.0,
        above: float = 0.0,
    ) -> None:
        self.width, self.height, self.x, self.y = width * INCH, height * INCH, x, y
        self._parts: list[str] = []
        line = SIZE + _GAP
        beside = [text_width(part) + _GAP + 1 for _, label in y.ticks for part in label.split("\n")]
        if left is None:
            left = max(beside, default=0.0) + (line if y.title else 0.0)
        # A label at an end of the axis below may stand out half of its width.
        wide = self.width - 2 * _PAD - left - right
        out = [(text_width(label) / 2, x.share(at)) for at, label in x.ticks]
        self.left = _PAD + max([left, *(half - share * wide for half, share in out)])
        self.right = self.width - _PAD - max([right, *(half - (1 - share) * wide for half, share in out)])
        self.top = _PAD + max(above, SIZE / 2 if y.ticks else 0.0)
        self.bottom = self.height - _PAD - (line if x.ticks else 0.0) - (line + 1 if x.title else 0.0)
        self._sides()

    def at(self, x: float, y: float) -> tuple[float, float]:
        """Where two numbers of the axes stand, in points from the upper left corner."""
        wide, high = self.right - self.left, self.bottom - self.top
        return self.left + self.x.share(x) * wide, self.bottom - self.y.share(y) * high

    def _sides(self) -> None:
        """Lines, labels and titles of both axes."""
        x, y, corner = self.x, self.y, f"M{_short(self.left)} {_short(self.bottom)}"
        for places in (
            [(at, end) for at, _ in x.ticks for end in (y.low, y.high, None)] if x.is_ruled else [],
            [(end, at) for at, _ in y.ticks for end in (x.low, x.high, None)] if y.is_ruled else [],
        ):
            self.line(places, RULE, 0.6)
        lines = (f"H{_short(self.right)}" if x.has_line else "", f"{corner}V{_short(self.top)}" if y.has_line else "")
        self._path(corner + "".join(lines) if any(lines) else "", RULE, 0.8)
        end = -math.inf
        for place, label in sorted((self.at(at, y.low)[0], label) for at, label in x.ticks):
            half = text_width(label) / 2
            if place - half >= end:
                self._write(place, self.bottom + _GAP + SIZE, label, MUTED, anchor="middle")
                end = place + half + _GAP
        for at, label in y.ticks:
            self.text(x.low, at, label, anchor="end", dx=-_GAP)
        if x.title:
            middle = (self.left + self.right) / 2
            self._write(middle, self.height - _PAD - 1.5, x.title, MUTED, anchor="middle")
        if y.title:
            middle, turn = (self.top + self.bottom) / 2, ' transform="rotate(-90)"'
            self._write(-middle, _PAD + SIZE - 1, y.title, MUTED, anchor="middle", turn=turn)

    def bars(self, boxes: Iterable[Sequence[Number]], colour: str) -> None:
        """Filled boxes: left, right, bottom and top of each."""
        drawn = []
        for left, right, bottom, top in filter(None, map(_known, boxes)):
            (a, b), (c, d) = self.at(left, bottom), self.at(right, top)
            drawn.append(f"M{_short(a)} {_short(b)}H{_short(c)}V{_short(d)}H{_short(a)}Z")
        self._path("".join(drawn), colour)

    def stairs(self, edges: Sequence[float], heights: Sequence[Number], colour: str, width: float = 0.0) -> None:
        """A height between each edge and the next: the area below, or with a width its outline."""
        steps = [(edge, h or 0.0) for i, h in enumerate(heights) for edge in edges[i : i + 2]]
        self.line([(edges[0], 0.0), *steps, (edges[-1], 0.0)], colour, width)

    def line(self, places: Iterable[Place], colour: str, width: float = 1.2, dash: str = SOLID) -> None:
        """A line through places, broken where one is not known; with no width, the area that it encloses."""
        drawn, sign = [], "M"
        for place in map(_known, places):
            if place is not None:
                drawn.append(f"{sign}{_pair(self.at(*place))}")
            sign = "M" if place is None else "L"
        self._path("".join(drawn), colour, width, dash)

    def leader(self, place: tuple[float, float], y: float, colour: str, room: float) -> None:
        """A thin line from a place to text that stands so many points right of the box, at a height of its own."""
        end = (self.right + room, self.at(place[0], y)[1])
        self._path(f"M{_pair(self.at(*place))}L{_pair(end)}", colour, 0.4)

    def dots(self, places: Iterable[Place], colour: str, radius: float, opacity: float = 1.0) -> None:
        """Many points of one kind; where they lie on each other it is darker."""
        self._parts.append(f'<g style="fill:{colour}" fill-opacity="{_short(opacity)}">')
        for place in filter(None, map(_known, places)):
            x, y = self.at(*place)
            self._parts.append(f'<circle cx="{_short(x)}" cy="{_short(y)}" r="{_short(radius)}"/>')
        self._parts.append("</g>")

    def mark(self, place: Place, shape: str, colour: str, radius: float = 3.0, fill: str = "") -> None:
        """One point: "round", "square", "diamond" or a "tick"; with a fill, its colour is that of its edge."""
        known, r, d = _known(place), _short(radius), _short(2 * radius)
        if known is not None:
            outline = {
                "round": f"m-{r} 0a{r} {r} 0 1 0 {d} 0a{r} {r} 0 1 0-{d} 0Z",
                "square": f"m-{r}-{r}h{d}v{d}h-{d}Z",
                "diamond": f"m-{r} 0l{r}-{r}l{r} {r}l-{r} {r}Z",
                "tick": f"m0-{r}v{d}",
            }[shape]
            path = f"M{_pair(self.at(*known))}{outline}"
            self._path(path, colour, 1.2 if shape == "tick" else 0.9 if fill else 0.0, fill=fill)

    def text(
        self,
        x: Number,
        y: Number,
        text: str,
        colour: str = INK,
        size: float = SIZE,
        anchor: str = "start",
        dx: float = 0.0,
        dy: float = 0.0,
    ) -> None:
        """Lines of text at the middle of a place, moved right and up by some points; never beyond the sides."""
        known, lines = _known((x, y)), text.split("\n")
        if known is None:
            return
        place, height = self.at(*known)
        for i, line in enumerate(lines):
            width = text_width(line, size)
            shift = _SHIFTS[anchor] * width
            start = max(min(place + dx - shift, self.width - _PAD - width), _PAD)
            below = size * (0.35 + 1.15 * (i - (len(lines) - 1) / 2))
            self._write(start + shift, height - dy + below, line, colour, size, anchor)

    def _write(
        self, x: float, y: float, text: str, colour: str, size: float = SIZE, anchor: str = "start", turn: str = ""
    ) -> None:
        look = f'text-anchor="{anchor}" font-size="{_short(size)}" style="fill:{colour}"'
        self._parts.append(f'<text x="{_short(x)}" y="{_short(y)}" {look}{turn}>{escape(text)}</text>')

    def _path(self, path: str, colour: str, width: float = 0.0, dash: str = SOLID, fill: str = "") -> None:
        """A filled shape, or with a width a line."""
        if path:
            dashes = f' stroke-dasharray="{dash}"' if dash else ""
            stroke = f'style="fill:{fill or "none"};stroke:{colour}" stroke-width="{_short(width)}"{dashes}'
            look = stroke if width else f'style="fill:{colour}"'
            self._parts.append(f'<path d="{path}" {look}/>')

    def svg(self, alt: str) -> Markup:
        """The element, with a text that says the same to those who do not see it."""
        box = f"0 0 {_short(self.width)} {_short(self.height)}"
        opening = f'<svg viewBox="{box}" role="img" aria-label="{escape(alt)}">'
        return Markup(opening + "".join(self._parts) + "</svg>")


def _known(values: Sequence[Number]) -> list[float] | None:
    known = [float(v) for v in values if v is not None and math.isfinite(v)]
    return known if len(known) == len(values) else None


def _short(value: float) -> str:
    """A number with two digits behind the point at most.

    >>> _short(1.5), _short(-0.001), _short(2.0)
    ('1.5', '0', '2')
    """
    return f"{round(value, 2) + 0.0:.2f}".rstrip("0").rstrip(".")


def _pair(place: tuple[float, float]) -> str:
    return f"{_short(place[0])} {_short(place[1])}"
