"""Pictures for pages whose content policy allows no style in them: colours become attributes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from shoal.report.svg import AFTER, BEFORE, INK, Axis, Drawing, round_ticks
from shoal.report.tables.words import compact, percent

_STYLE = re.compile(r' style="((?:fill|stroke):[^"]*)"')


def without_styles(picture: str) -> Markup:
    """The same picture with attributes in place of styles; what is no colour of ours is left out.

    >>> without_styles('<g style="fill:var(--ink);stroke:none"></g>')
    Markup('<g fill="var(--ink)" stroke="none"></g>')
    """

    def attributes(found: re.Match[str]) -> str:
        pairs = (part.split(":", 1) for part in found[1].split(";") if ":" in part)
        return "".join(f' {name.strip()}="{value.strip()}"' for name, value in pairs if name in ("fill", "stroke"))

    return Markup(_STYLE.sub(attributes, picture))  # drawn by us, with all text escaped


def risk_and_loss(cells: Sequence[Mapping[str, Any]], risk: str, loss: str) -> Markup:
    """A point for each release that was tried, which leads to its line in the table below."""
    shown = [(i, c) for i, c in enumerate(cells) if c["risk"] is not None and c["loss"] is not None]
    if not shown:
        return Markup("")
    risks, losses = [c["risk"] for _, c in shown], [c["loss"] for _, c in shown]
    right, top = max(*risks, 0.01) * 1.1, max(*losses, 0.01) * 1.12
    left, bottom = min(0.0, *risks), min(0.0, *losses)
    x = Axis(left, right, [(t, percent(t)) for t in round_ticks(left, right, 6)], risk)
    y = Axis(bottom, top, [(t, compact(t)) for t in round_ticks(bottom, top, 6)], loss, is_ruled=True)
    drawing = Drawing(7.2, 3.4, x, y, right=16)
    points = Markup("").join(_point(i, drawing.at(cell["risk"], cell["loss"]), cell) for i, cell in shown)
    whole = str(without_styles(drawing.svg("Loss against risk, a point for each release that was tried")))
    return Markup(whole.replace('role="img"', 'role="group"', 1).replace("</svg>", f"{points}</svg>"))


def _point(index: int, place: tuple[float, float], cell: Mapping[str, Any]) -> Markup:
    colour, radius = (AFTER, 5.5) if cell["frontier"] else (BEFORE, 4.5)
    return Markup(
        '<a href="#cell-{i}" class="point" data-cell="{i}" aria-label="{told}"><title>{told}</title>'
        '<circle cx="{x:.1f}" cy="{y:.1f}" r="{r}" fill="{colour}" stroke="{ink}" stroke-width="1"></circle></a>'
    ).format(i=index, told=cell["told"], x=place[0], y=place[1], r=radius, colour=colour, ink=INK)
