"""Figures of matplotlib as SVG that stands inside a page: small, the same bytes every time, in the page's colours."""

from __future__ import annotations

import io
import logging
import re
import unicodedata
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from markupsafe import Markup, escape

# Matplotlib wants colours that it knows; in the page they become variables, so that dark mode and print apply to them.
INK, MUTED, RULE, BEFORE, AFTER = "#010101", "#020202", "#030303", "#040404", "#050505"
_VARIABLES = {
    INK: "var(--ink)",
    MUTED: "var(--muted)",
    RULE: "var(--rule)",
    BEFORE: "var(--before)",
    AFTER: "var(--after)",
}
_STYLE: dict[Any, Any] = {
    "font.size": 8.5,
    "font.family": "DejaVu Sans",
    "svg.fonttype": "none",
    "svg.hashsalt": "shoal",
    "text.parse_math": False,
    "text.color": INK,
    "axes.edgecolor": RULE,
    "axes.labelcolor": MUTED,
    "axes.unicode_minus": False,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.labelcolor": MUTED,
    "ytick.labelcolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
}


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


@contextmanager
def _quiet() -> Iterator[None]:
    """Matplotlib warns of every letter that its own font lacks; the page uses the reader's fonts."""
    logger = logging.getLogger("matplotlib")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.setLevel(level)


def draw(width: float, height: float, paint: Callable[[Any], None], alt: str, left: float | None = None) -> Markup:
    """Paint one set of axes, of a size in inches, and give back an ``<svg>`` element with a text alternative.

    With ``left``, the axes begin at that share of the width in every picture, so that pictures line up.
    """
    import matplotlib
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    with _quiet(), matplotlib.rc_context(_STYLE):
        figure = Figure(figsize=(width, height))
        FigureCanvasSVG(figure)
        axes = figure.add_subplot()
        axes.tick_params(length=0, pad=3)
        paint(axes)
        for artist in axes.get_children():
            artist.set_clip_on(False)  # everything lies inside; clips need names that must differ across a page
        if left is None:
            figure.tight_layout(pad=0.3)
        else:
            figure.subplots_adjust(left, 0.02, 0.99, 0.98)
        buffer = io.StringIO()
        figure.savefig(buffer, format="svg", metadata=dict.fromkeys(("Date", "Creator", "Format", "Type")))
    return _embed(buffer.getvalue(), alt)


def _embed(text: str, alt: str) -> Markup:
    """Cut matplotlib's file down to the element; names in it are taken away unless something refers to them."""
    body = text[text.index("<svg") :]
    for pattern in (
        r"<!--.*?-->",
        r"<metadata>.*?</metadata>",
        r"<style[^>]*>.*?</style>",
        r"<defs>\s*</defs>",
    ):
        body = re.sub(pattern, "", body, flags=re.DOTALL)
    used = set(re.findall(r"(?:url\(#|href=\"#)([^)\"]+)", body))
    body = re.sub(r"<[^>]+>", lambda tag: _restyle(tag[0], used), body)
    body = re.sub(r">\s+<", "><", body)
    box = re.search(r'viewBox="[^"]*"', body)
    opening = f'<svg {box[0] if box else ""} role="img" aria-label="{escape(alt)}">'
    return Markup(opening + body[body.index(">") + 1 :].strip())


def _restyle(tag: str, used: set[str]) -> str:
    """Colours, fonts and digits of one tag; what stands between tags is the data's and stays untouched."""
    tag = re.sub(r' id="([^"]*)"', lambda m: m[0] if m[1] in used else "", tag)
    for colour, variable in _VARIABLES.items():
        tag = tag.replace(colour, variable)
    tag = re.sub(r"'DejaVu Sans'(?:, [^;\"]*)?", "inherit", tag)
    return re.sub(r"(\d\.\d{2})\d+", r"\1", tag)
