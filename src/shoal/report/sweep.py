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
from shoal.utility.tables.definitions import DEFINITIONS

if TYPE_CHECKING:
    from shoal.sweep.sweep import Cell, Sweep

HEADS = {"associations": "assoc.", "suppression": "may leave out"}
WORDS = ("method", "result", "publish", "effort")
STATUS_WORDS = {"holds": "holds", "infeasible": "infeasible", "refused": "not suited", "fails": "FAILS its check"}
_DASHES = (SOLID, DASHED, DOTTED, CHAINED)
_COLOURS = (AFTER, INK, MUTED)
_TICKS = (0.00001, 0.0001, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
FEW = 4
WIDEST_NAME, _NAME = 180.0, 8.0  # of a line: points that it may take, and its size
AXES = {
    "GCP": "certainty lost (GCP)",
    "GCP-person": "certainty lost of a person (GCP)",
    "query-error": "median error of counts",
    "associations": "change of associations",
    "accuracy": "accuracy lost",
    "AUC": "AUC lost",
    "R2": "R² lost",
}
OTHER_MEANINGS = {
    "associations": "Mean change of the strength with which two attributes belong together.",
    "accuracy": "Share of tested originals whose class the best model trained on this release predicts.",
    "AUC": "Chance that the best model trained on this release ranks two records of different classes rightly.",
    "R2": "Share of the target's variance that the best model trained on this release predicts.",
}
SETTING_MEANINGS = {
    "publish": "What stands in a group's place.",
    "effort": "How hard better groups were looked for.",
    "suppression": "Share of the records that may be left out.",
    "l": "Distinct sensitive values that every group must have.",
    "t": "How far a group's sensitive values may be from the whole table's.",
}


def columns_of(sweep: Sweep) -> tuple[str, ...]:
    """Headings of the table: what was tried, the risk, the measures."""
    varied, measures = ([HEADS.get(n, n) for n in names] for names in (sweep.varied, sweep.measures))
    return ("method", *varied, "k", "result", "left out", "risk, worst", "risk, mean", *measures, "seconds")


def table_rows(sweep: Sweep) -> list[tuple[str, ...]]:
    """The cells as text, in the order of `columns_of`; a cell without a release has empty places."""
    frontier = sweep.frontier
    return [_row(sweep, c, c in frontier) for c in sweep.cells]


def _row(sweep: Sweep, cell: Cell, is_best: bool) -> tuple[str, ...]:
    tried = (cell.partition, *(setting(cell, n) for n in sweep.varied), str(cell.k))
    if not cell.holds:
        empty = [""] * (3 + len(sweep.measures))
        return (*tried, STATUS_WORDS[cell.status], *empty, f"{cell.seconds:.2f}")
    return (
        *tried,
        "frontier" if is_best else "holds",
        f"{cell.n_suppressed:,}",
        percent(cell.risk_highest),
        percent(cell.risk_average),
        *(shown(cell, name) for name in sweep.measures),
        f"{cell.seconds:.2f}",
    )


def setting(cell: Cell, name: str) -> str:
    """What was tried, as text."""
    value = getattr(cell, name)
    if value is None:
        return "–"
    return percent(value) if name == "suppression" else value if isinstance(value, str) else f"{value:g}"


def line_of(sweep: Sweep, cell: Cell) -> str:
    """The method with all that varies but k: one line of the picture."""
    names = {"publish": "{}", "effort": "{}", "suppression": "leaving out ≤ {}", "l": "l = {}", "t": "t = {}"}
    parts = [names[n].format(setting(cell, n)) for n in sweep.varied if getattr(cell, n) is not None]
    return ", ".join([cell.partition, *parts])


def shown(cell: Cell, measure: str) -> str:
    """A measure of a cell as text; of a score what the release reaches."""
    if measure in cell.scores:
        value = cell.scores[measure]
        return "–" if value is None else f"{value:.3f}"
    loss = cell.loss(measure)
    if not math.isfinite(loss):
        return "–"
    if measure in DEFINITIONS and DEFINITIONS[measure].is_share:
        return percent(loss)
    return number(loss, 2 if measure == "associations" else 3)


def as_text(sweep: Sweep) -> list[str]:
    """The table as lines for a terminal, then why some cells are empty, then what is proposed."""
    columns = columns_of(sweep)
    rows = [columns, *table_rows(sweep)]
    widths = [max(len(row[i]) for row in rows) for i in range(len(columns))]
    lines = [
        "  ".join(v.ljust(w) if c in WORDS else v.rjust(w) for c, v, w in zip(columns, row, widths, strict=True))
        for row in rows
    ]
    reused = f" ({sweep.n_reused} taken from an earlier run)" if sweep.n_reused else ""
    return [
        f"{count(len(sweep.cells), 'release')} of {sweep.n_rows:,} records tried{reused}; none was published.",
        "",
        *(line.rstrip() for line in lines),
        "",
        *(f"{cells}: {sentence}" for cells, sentence in reasons(sweep) if _same_reason(sweep) is None),
        *learned(sweep),
        verdict(sweep),
    ]


def learned(sweep: Sweep) -> list[str]:
    """One sentence about what models trained on the originals reach, where there is a target."""
    found = next((c.scores_before for c in sweep.cells if c.scores_before), None)
    if sweep.target is None:
        return []
    if not found:
        return [f"No model could be trained to predict “{sweep.target}”."]
    reached = listed([f"{name} {value:.3f}" for name, value in found.items() if value is not None])
    return [f"Trained on as many originals, the best model predicts “{sweep.target}” with {reached}."]


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
        lost = f"{percent(best.gcp)} of certainty lost" if first == "GCP" else f"{first} {shown(best, first)}"
        return (
            f"Of all that was tried, {line_of(sweep, best)} with k = {best.k} loses least while it meets the policy: "
            f"{lost}, an average risk of {percent(best.risk_average)}."
        )
    if any(c.holds for c in sweep.cells):
        if not sweep.measured:
            return f"Nothing that was tried has the measure {sweep.measures[0]}: choose another."
        return (
            f"Nothing that was tried meets the policy, whose groups have at least k = {sweep.k} records: try a k of "
            f"{sweep.k} or more, and what it requires beside."
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
            ("Releases tried", f"{len(sweep.cells):,}", f"of {sweep.n_rows:,} records each"),
            ("Guarantees hold", f"{len(made):,}", f"of {len(sweep.cells):,}"),
            ("On the frontier", f"{len(sweep.frontier):,}", "no other has less risk and less loss"),
        ],
        picture=loss_against_risk(sweep) if sweep.measured else None,
        measure=HEADS.get(sweep.measures[0], sweep.measures[0]),
        n_undrawn=len(made) - len(sweep.measured),
        columns=columns_of(sweep),
        words=WORDS,
        at_result=columns_of(sweep).index("result"),
        meanings=[(HEADS.get(n, n), meaning(n)) for n in sweep.measures],
        settings=[(HEADS.get(n, n), SETTING_MEANINGS[n]) for n in sweep.varied],
        learned=learned(sweep),
        rows=list(zip(sweep.cells, table_rows(sweep), strict=True)),
    )


def meaning(measure: str) -> str:
    """What a measure says, for the page."""
    return DEFINITIONS[measure].meaning if measure in DEFINITIONS else OTHER_MEANINGS[measure]


def loss_against_risk(sweep: Sweep) -> Markup:
    """A line a method and a point a k: diamonds are on the frontier, circles are not."""
    made, frontier, measure = sweep.measured, sweep.frontier, sweep.measures[0]
    lines: dict[str, list[Cell]] = {}
    for c in made:
        lines.setdefault(line_of(sweep, c), []).append(c)
    risks = [c.risk_average or 0.0 for c in made]
    losses = [c.loss(measure) for c in made]
    bottom = min(0.0, *losses)
    top = max(bottom + 0.01, *losses)
    top += (top - bottom) * 0.12
    bottom -= 0.0 if bottom == 0 else (top - bottom) * 0.05
    is_share = measure not in DEFINITIONS or DEFINITIONS[measure].is_share
    as_tick = percent if is_share and bottom == 0 else compact

    positive = [r for r in risks if r > 0] or [1.0]
    low, high = min(positive) / 1.25, max(positive) * 1.25
    ticks = [t for t in _TICKS if low <= t <= high] or [max(positive)]
    title = "average risk of re-identification (prosecutor), logarithmic"
    x = Axis(low, high, [(t, percent(t)) for t in ticks], title, is_log=True)
    y = Axis(
        bottom, top, [(t, as_tick(t)) for t in round_ticks(bottom, top, 9)], AXES.get(measure, measure), is_ruled=True
    )
    names = {name: fitted(name, WIDEST_NAME, _NAME) for name in lines}
    room = max(text_width(name, _NAME) for name in names.values()) + 12
    drawing = Drawing(7.2, max(3.6, 0.8 + 0.16 * len(lines)), x, y, right=room)
    ends = []
    for i, (name, cells) in enumerate(lines.items()):
        cells = sorted(cells, key=lambda c: c.k)
        colour, dash = _COLOURS[i % len(_COLOURS)], _DASHES[i % len(_DASHES)]
        places = [(c.risk_average or 0.0, c.loss(measure)) for c in cells]
        drawing.line(places, colour, 1.1, dash)
        for place in dict.fromkeys(places):
            same = [c for c, at in zip(cells, places, strict=True) if at == place]
            _mark(drawing, place, same, same[0] in frontier, colour, len(lines) <= FEW)
        ends.append((*places[0], names[name], colour))
    _name_lines(drawing, ends)
    told = "; ".join(
        f"{line_of(sweep, c)} k = {c.k}: risk {percent(c.risk_average)}, loss {as_tick(c.loss(measure))}"
        f"{', on the frontier' if c in frontier else ''}"
        for c in made
    )
    return drawing.svg(f"Loss against average risk, one line a method and one point a k. {told}.")


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
