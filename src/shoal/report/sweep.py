"""The page of a sweep: loss against risk as one picture, and the table of all that was tried."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from markupsafe import Markup

from shoal.check.guarantee import count
from shoal.report.page import render
from shoal.report.points import listed
from shoal.report.svg import (
    AFTER,
    BEFORE,
    CHAINED,
    DASHED,
    DOTTED,
    INK,
    MUTED,
    SOLID,
    Axis,
    Drawing,
    fitted,
    round_ticks,
    text_width,
)
from shoal.report.tables.words import compact, number, percent

if TYPE_CHECKING:
    from shoal.sweep.cell import Cell, Figure
    from shoal.sweep.sweep import Sweep

STATUS_WORDS = {"holds": "holds", "infeasible": "infeasible", "refused": "not suited", "fails": "FAILS its check"}
_DASHES = (SOLID, DASHED, DOTTED, CHAINED)
_COLOURS = (AFTER, INK, MUTED)
_TICKS = (0.00001, 0.0001, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
FEW = 4
WIDEST_NAME, _NAME = 180.0, 8.0  # of a line: points that it may take, and its size


def columns_of(sweep: Sweep) -> tuple[str, ...]:
    """Headings of the table: what was tried, the risk, the measures."""
    form = sweep.form
    varied = [form.settings[n].head or n for n in sweep.varied]
    risks = [figure.head or n for n, figure in form.risks.items()]
    return ("method", *varied, "k", "result", "left out", *risks, *(_head(sweep, n) for n in sweep.measures), "seconds")


def words_of(sweep: Sweep) -> tuple[str, ...]:
    """Headings of the columns that hold words, which stand left."""
    held = {n: any(isinstance(getattr(c, n), str) for c in sweep.cells) for n in sweep.varied}
    return ("method", "result", *(sweep.form.settings[n].head or n for n, is_word in held.items() if is_word))


def _head(sweep: Sweep, measure: str) -> str:
    return sweep.form.measures[measure].head or measure


def table_rows(sweep: Sweep) -> list[tuple[str, ...]]:
    """The cells as text, in the order of `columns_of`; a cell without a release has empty places."""
    frontier = sweep.frontier
    return [_row(sweep, c, c in frontier) for c in sweep.cells]


def _row(sweep: Sweep, cell: Cell, is_best: bool) -> tuple[str, ...]:
    tried = (cell.method, *(setting(cell, n) for n in sweep.varied), "–" if cell.k is None else str(cell.k))
    if not cell.holds:
        empty = [""] * (1 + len(cell.risks) + len(sweep.measures))
        return (*tried, STATUS_WORDS[cell.status], *empty, f"{cell.seconds:.2f}")
    return (
        *tried,
        "frontier" if is_best else "holds",
        f"{cell.n_suppressed:,}",
        *(_risk(cell, name) for name in cell.risks),
        *(shown(cell, name) for name in sweep.measures),
        f"{cell.seconds:.2f}",
    )


def _risk(cell: Cell, name: str) -> str:
    value = getattr(cell, name)
    return "–" if value is None else percent(value)


def setting(cell: Cell, name: str) -> str:
    """What was tried, as text."""
    value = getattr(cell, name)
    if value is None:
        return "–"
    return percent(value) if cell.settings[name].is_share else value if isinstance(value, str) else f"{value:g}"


def line_of(sweep: Sweep, cell: Cell) -> str:
    """The method with all that varies but k: one line of the picture."""
    held = [n for n in sweep.varied if getattr(cell, n) is not None]
    return ", ".join([cell.method, *(cell.settings[n].in_words.format(setting(cell, n)) for n in held)])


def shown(cell: Cell, measure: str) -> str:
    """A measure of a cell as text; of a score what the release reaches."""
    if measure in cell.scores:
        value = cell.scores[measure]
        return "–" if value is None else f"{value:.3f}"
    loss = cell.loss(measure)
    if not math.isfinite(loss):
        return "–"
    figure = cell.measures[measure]
    return percent(loss) if figure.is_share else number(loss, figure.digits)


def as_text(sweep: Sweep) -> list[str]:
    """The table as lines for a terminal, then why some cells are empty, then what is proposed."""
    columns, words = columns_of(sweep), words_of(sweep)
    rows = [columns, *table_rows(sweep)]
    widths = [max(len(row[i]) for row in rows) for i in range(len(columns))]
    lines = [
        "  ".join(v.ljust(w) if c in words else v.rjust(w) for c, v, w in zip(columns, row, widths, strict=True))
        for row in rows
    ]
    reused = f" ({sweep.n_reused} taken from an earlier run)" if sweep.n_reused else ""
    return [
        f"{count(len(sweep.cells), 'release')} of {sweep.n_rows:,} {sweep.noun} tried{reused}; none was published.",
        "",
        *(line.rstrip() for line in lines),
        "",
        *(f"{cells}: {sentence}" for cells, sentence in reasons(sweep) if _same_reason(sweep) is None),
        *learned(sweep),
        *([sweep.note] if sweep.note else []),
        verdict(sweep),
    ]


def learned(sweep: Sweep) -> list[str]:
    """One sentence about what models trained on the originals reach, where there is a target."""
    found = next((c.scores_before for c in sweep.cells if c.scores_before), None)
    what = "the class" if sweep.target is None else f"“{sweep.target}”"
    if not found:
        return [] if sweep.target is None else [f"No model could be trained to predict {what}."]
    reached = listed([f"{name} {value:.3f}" for name, value in found.items() if value is not None])
    return [f"Trained on as many originals, the best model predicts {what} with {reached}."]


def reasons(sweep: Sweep) -> list[tuple[str, str]]:
    """Every sentence about cells without a release, with the cells that it is about."""
    about: dict[str, dict[str, list[str]]] = {}
    for c in sweep.cells:
        if not c.holds:
            about.setdefault(c.sentence, {}).setdefault(line_of(sweep, c), []).append(str(c.k))
    return [
        (listed([f"{method} with k = {listed(sizes)}" for method, sizes in methods.items()]), sentence)
        for sentence, methods in about.items()
    ]


def verdict(sweep: Sweep) -> str:
    """One sentence: what is proposed, and why."""
    best = sweep.proposed
    if best is not None:
        first = sweep.measures[0]
        lost = f"{percent(best.loss(first))} of certainty lost" if first == "GCP" else f"{first} {shown(best, first)}"
        risks = "".join(f", {said}" for said in best.risks_in_words(percent))
        return (
            f"Of all that was tried, {line_of(sweep, best)} with k = {best.k} loses least while it meets the policy: "
            f"{lost}{risks}."
        )
    if any(c.holds for c in sweep.cells):
        if not sweep.measured:
            return f"Nothing that was tried has the measure {sweep.measures[0]}: choose another."
        return (
            f"Nothing that was tried meets the policy, whose groups have at least k = {sweep.k} {sweep.noun}: try a "
            f"k of {sweep.k} or more, and what it requires beside."
        )
    if (why := _same_reason(sweep)) is not None:  # such as columns that single out too many, whatever the method
        return f"Nothing that was tried can be made: {why}"
    return "Nothing that was tried can be made: ask for less, or allow records to be suppressed."


def _same_reason(sweep: Sweep) -> str | None:
    """Why no cell has a release, if it is the same for all."""
    found = {"" if c.holds else c.sentence for c in sweep.cells}
    return found.pop() or None if len(found) == 1 else None


def render_sweep(sweep: Sweep) -> str:
    """Write the page of a sweep as one HTML file."""
    made = [c for c in sweep.cells if c.holds]
    return render(
        "sweep.html",
        c=sweep,
        verdict=verdict(sweep),
        command=" ".join(["shoal anonymize …", *sweep.options]) if sweep.options else "",
        facts=[
            ("Releases tried", f"{len(sweep.cells):,}", f"of {sweep.n_rows:,} {sweep.noun} each"),
            ("Guarantees hold", f"{len(made):,}", f"of {len(sweep.cells):,}"),
            ("On the frontier", f"{len(sweep.frontier):,}", "no other has less risk and less loss"),
        ],
        picture=loss_against_risk(sweep) if sweep.measured else None,
        measure=_head(sweep, sweep.measures[0]),
        n_undrawn=len(made) - len(sweep.measured),
        columns=columns_of(sweep),
        words=words_of(sweep),
        at_result=columns_of(sweep).index("result"),
        risks=[(figure.head or n, figure.meaning) for n, figure in sweep.form.risks.items()],
        meanings=[(_head(sweep, n), sweep.form.measures[n].meaning) for n in sweep.measures],
        settings=[(s.head or n, s.meaning) for n in sweep.varied for s in [sweep.form.settings[n]]],
        learned=learned(sweep),
        rows=list(zip(sweep.cells, table_rows(sweep), strict=True)),
    )


def _decides(sweep: Sweep) -> Figure:
    """The risk that decides about the frontier."""
    return sweep.form.risks[sweep.form.decisive()]


def loss_against_risk(sweep: Sweep) -> Markup:
    """A line a method and a point a k: diamonds are on the frontier, circles are not."""
    made, frontier, measure = sweep.measured, sweep.frontier, sweep.measures[0]
    risk, loss = _decides(sweep), sweep.form.measures[measure]
    lines: dict[str, list[Cell]] = {}
    for c in made:
        lines.setdefault(line_of(sweep, c), []).append(c)
    risks = [c.risk or 0.0 for c in made]
    losses = [c.loss(measure) for c in made]
    bottom = min(0.0, *losses)
    top = max(bottom + 0.01, *losses)
    top += (top - bottom) * 0.12
    bottom -= 0.0 if bottom == 0 else (top - bottom) * 0.05
    as_tick = percent if loss.is_share and bottom == 0 else compact
    y = Axis(bottom, top, [(t, as_tick(t)) for t in round_ticks(bottom, top, 9)], loss.axis or measure, is_ruled=True)
    x = _risk_axis(risk, risks)
    names = {name: fitted(name, WIDEST_NAME, _NAME) for name in lines}
    room = max(text_width(name, _NAME) for name in names.values()) + 12
    drawing = Drawing(7.2, max(3.6, 0.8 + 0.16 * len(lines)), x, y, right=room)
    ends = []
    for i, (name, cells) in enumerate(lines.items()):
        cells = sorted(cells, key=lambda c: c.k or 0)
        colour, dash = _COLOURS[i % len(_COLOURS)], _DASHES[i % len(_DASHES)]
        places = [(c.risk or 0.0, c.loss(measure)) for c in cells]
        drawing.line(places, colour, 1.1, dash)
        for place in dict.fromkeys(places):
            same = [c for c, at in zip(cells, places, strict=True) if at == place]
            _mark(drawing, place, same, same[0] in frontier, colour, len(lines) <= FEW)
        ends.append((*places[0], names[name], colour))
    _name_lines(drawing, ends)
    told = "; ".join(
        f"{line_of(sweep, c)} k = {c.k}: risk {percent(c.risk)}, loss {as_tick(c.loss(measure))}"
        f"{', on the frontier' if c in frontier else ''}"
        for c in made
    )
    return drawing.svg(f"Loss against risk, one line a method and one point a k. {told}.")


def _risk_axis(risk: Figure, found: Sequence[float]) -> Axis:
    """Logarithmic, or from where an attacker needs no release."""
    if risk.is_log:
        positive = [r for r in found if r > 0] or [1.0]
        low, high = min(positive) / 1.25, max(positive) * 1.25
        ticks = [t for t in _TICKS if low <= t <= high] or [max(positive)]
        return Axis(low, high, [(t, percent(t)) for t in ticks], f"{risk.axis}, logarithmic", is_log=True)
    low, high = min(risk.lowest, *found), max(risk.lowest + 0.02, *found)
    room = 0.08 * (high - low)
    low, high = low - room, high + room
    return Axis(low, high, [(t, percent(t)) for t in round_ticks(low, high, 6)], risk.axis)


def _mark(
    drawing: Drawing, place: tuple[float, float], same: Sequence[Cell], is_best: bool, colour: str, is_labelled: bool
) -> None:
    """One point, which may be that of several k."""
    drawing.mark(place, *(("diamond", colour, 4.4, colour) if is_best else ("round", colour, 2.6, BEFORE)))
    if is_best or is_labelled:
        sizes = ", ".join(str(c.k) for c in same)
        is_low = drawing.y.share(place[1]) < 1 / 14  # below it stands the axis
        side, dx, dy = ("end", -5, 6 if is_low else -7) if is_best else ("start", 5, 6)
        drawing.text(*place, sizes, INK, 7.5, side, dx, dy)


def _name_lines(drawing: Drawing, ends: list[tuple[float, float, str, str]]) -> None:
    """Name each line right of its smallest k, names pushed apart where the lines end together."""
    bottom, top = drawing.y.low, drawing.y.high
    gap = 1.2 * _NAME / (drawing.bottom - drawing.top) * (top - bottom)
    ends = sorted(ends, key=lambda e: (e[1], e[2]))
    places: list[float] = []
    for _, height, _, _ in ends:
        places.append(max(height, places[-1] + gap if places else bottom))
    for i in reversed(range(len(places))):  # down again from what went beyond the top
        places[i] = min(places[i], places[i + 1] - gap if i + 1 < len(places) else top)
    for (risk, height, name, colour), at in zip(ends, places, strict=True):
        drawing.leader((risk, height), at, colour, 7)
        drawing.text(drawing.x.high, at, name, colour, _NAME, dx=10)
