"""The page of a sweep: loss against risk as one picture, and the table of all that was tried."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from shoal.check.guarantee import count
from shoal.report.page import render
from shoal.report.svg import AFTER, BEFORE, INK, MUTED, RULE, draw
from shoal.report.words import listed, number, percent

if TYPE_CHECKING:
    from shoal.frontier import Cell, Sweep

COLUMNS = (
    "method",
    "k",
    "result",
    "left out",
    "risk, worst",
    "risk, mean",
    "GCP",
    "C_avg",
    "DM",
    "IL",
    "SSE/SST",
    "assoc.",
    "seconds",
)
WORDS = ("method", "result")
STATUS_WORDS = {"holds": "holds", "infeasible": "infeasible", "refused": "not suited", "fails": "FAILS its check"}
_LINES = ("-", (0, (5, 2)), (0, (1, 1.6)), (0, (7, 2, 1, 2)))
_COLOURS = (AFTER, INK, MUTED)
_TICKS = (0.00001, 0.0001, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
FEW = 4


def table_rows(sweep: Sweep) -> list[tuple[str, ...]]:
    """The cells as text, in the order of `COLUMNS`; a cell without a release has empty places."""
    frontier = sweep.frontier
    return [_row(c, c in frontier) for c in sweep.cells]


def _row(cell: Cell, is_best: bool) -> tuple[str, ...]:
    if not cell.holds:
        return (cell.partition, str(cell.k), STATUS_WORDS[cell.status], *[""] * 9, f"{cell.seconds:.2f}")
    loss = cell.losses.get
    return (
        cell.partition,
        str(cell.k),
        "frontier" if is_best else "holds",
        f"{cell.n_suppressed:,}",
        percent(cell.risk_highest),
        percent(cell.risk_average),
        percent(loss("GCP")),
        number(loss("C_avg")),
        number(loss("DM")),
        number(loss("IL")),
        percent(loss("SSE/SST")),
        number(cell.association_change, 2),
        f"{cell.seconds:.2f}",
    )


def as_text(sweep: Sweep) -> list[str]:
    """The table as lines for a terminal, then why some cells are empty, then what is proposed."""
    rows = [COLUMNS, *table_rows(sweep)]
    widths = [max(len(row[i]) for row in rows) for i in range(len(COLUMNS))]
    lines = [
        "  ".join(v.ljust(w) if c in WORDS else v.rjust(w) for c, v, w in zip(COLUMNS, row, widths, strict=True))
        for row in rows
    ]
    reused = f" ({sweep.n_reused} taken from an earlier run)" if sweep.n_reused else ""
    return [
        f"{count(len(sweep.cells), 'release')} of {sweep.n_rows:,} records tried{reused}; none was published.",
        "",
        *(line.rstrip() for line in lines),
        "",
        *(f"{cells}: {sentence}" for cells, sentence in reasons(sweep)),
        verdict(sweep),
    ]


def reasons(sweep: Sweep) -> list[tuple[str, str]]:
    """Every sentence about cells without a release, with the cells that it is about."""
    about: dict[str, dict[str, list[str]]] = {}
    for c in sweep.cells:
        if not c.holds:
            about.setdefault(c.sentence, {}).setdefault(c.partition, []).append(str(c.k))
    return [
        (listed([f"{method} with k = {listed(sizes)}" for method, sizes in methods.items()]), sentence)
        for sentence, methods in about.items()
    ]


def verdict(sweep: Sweep) -> str:
    """One sentence: what is proposed, and why."""
    best = sweep.proposed
    if best is not None:
        return (
            f"Of all that was tried, {best.partition} with k = {best.k} loses least while it meets the policy: "
            f"{percent(best.gcp)} of certainty lost, an average risk of {percent(best.risk_average)}."
        )
    if any(c.holds for c in sweep.cells):
        return f"Nothing that was tried meets the policy's k = {sweep.k}: try a k of {sweep.k} or more."
    return "Nothing that was tried can be made: ask for less, or allow records to be suppressed."


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
        picture=loss_against_risk(made, sweep.frontier) if made else None,
        columns=COLUMNS,
        words=WORDS,
        rows=list(zip(sweep.cells, table_rows(sweep), strict=True)),
    )


def loss_against_risk(made: Sequence[Cell], frontier: Sequence[Cell]) -> Markup:
    """A line a method and a point a k: diamonds are on the frontier, circles are not."""
    methods = list(dict.fromkeys(c.partition for c in made))
    risks = [c.risk_average or 0.0 for c in made]
    top = max(0.01, *(c.gcp for c in made))

    def paint(axes: Any) -> None:
        from matplotlib.ticker import NullFormatter, NullLocator

        axes.set_xscale("log")
        axes.set_ylim(0, top * 1.12)
        ends = []
        for i, method in enumerate(methods):
            cells = sorted((c for c in made if c.partition == method), key=lambda c: c.k)
            colour, style = _COLOURS[i % len(_COLOURS)], _LINES[i % len(_LINES)]
            axes.plot([c.risk_average for c in cells], [c.gcp for c in cells], color=colour, ls=style, lw=1.1)
            for place in dict.fromkeys((c.risk_average, c.gcp) for c in cells):
                same = [c for c in cells if (c.risk_average, c.gcp) == place]
                _mark(axes, same, same[0] in frontier, colour, len(methods) <= FEW)
            ends.append((cells[0].risk_average, cells[0].gcp, method, colour))
        low, high = min(risks) / 1.25, max(risks) * 1.25
        axes.set_xlim(low, high)
        axes.xaxis.set_minor_locator(NullLocator())
        axes.xaxis.set_minor_formatter(NullFormatter())
        ticks = [t for t in _TICKS if low <= t <= high] or [max(risks)]
        axes.set_xticks(ticks, [percent(t) for t in ticks])
        heights = [t for t in axes.get_yticks() if 0 <= t <= top * 1.12]
        axes.set_yticks(heights, [percent(t) for t in heights])
        axes.grid(axis="y", color=RULE, lw=0.5)
        axes.set_axisbelow(True)
        axes.set_xlabel("average risk of re-identification (prosecutor), logarithmic")
        axes.set_ylabel("certainty lost (GCP)")
        _name_lines(axes, ends, top * 1.12)

    told = "; ".join(
        f"{c.partition} k = {c.k}: risk {percent(c.risk_average)}, loss {percent(c.gcp)}"
        f"{', on the frontier' if c in frontier else ''}"
        for c in made
    )
    return draw(7.2, 3.6, paint, f"Loss against average risk, one line a method and one point a k. {told}.")


def _mark(axes: Any, same: Sequence[Cell], is_best: bool, colour: str, is_labelled: bool) -> None:
    """One point, which may be that of several k."""
    place = (same[0].risk_average, same[0].gcp)
    axes.plot(
        [place[0]],
        [place[1]],
        marker="D" if is_best else "o",
        ms=6.5 if is_best else 5,
        mfc=colour if is_best else BEFORE,
        mec=colour,
        mew=0.9,
        ls="none",
    )
    if is_best or is_labelled:
        sizes = ", ".join(str(c.k) for c in same)
        is_low = place[1] < axes.get_ylim()[1] / 14  # below it stands the axis
        shift, side = ((5, 4), "left") if not is_best else ((-5, 4 if is_low else -10), "right")
        axes.annotate(sizes, place, xytext=shift, textcoords="offset points", ha=side, size=7.5, color=INK)


def _name_lines(axes: Any, ends: list[tuple[Any, float, str, str]], top: float) -> None:
    """Name each line right of its smallest k, names pushed apart where the lines end together."""
    gap = top / 18
    floor = -gap
    for risk, height, method, colour in sorted(ends, key=lambda e: (e[1], e[2])):
        at = max(height, floor + gap)
        floor = at
        axes.annotate(
            method,
            (risk, height),
            xytext=(1.02, at),
            textcoords=axes.get_yaxis_transform(),
            va="center",
            color=colour,
            size=8,
            arrowprops={"arrowstyle": "-", "color": colour, "lw": 0.4, "shrinkA": 2, "shrinkB": 4, "relpos": (0, 0.5)},
        )
