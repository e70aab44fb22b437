"""The pictures of the reproductions of sketches, one for each group of figures of the paper."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from reproductions.sparse_findings import (
    DIMENSION_DELTAS,
    DIMENSIONS,
    Findings,
    Scale,
    basket_names,
    dimension_name,
)
from reproductions.sparse_readings import DEFAULT, PRINTED, READINGS
from reproductions.sparse_sets import COUNTS, TEXTS

STYLES = dict(zip((r.name for r in READINGS), ("s--", "o-", "^-"), strict=True))


def draw_all(found: Findings, scale: Scale, folder: Path) -> None:
    """Write all pictures into a folder."""
    import matplotlib as mpl

    mpl.rcParams.update({"svg.hashsalt": "shoal", "svg.fonttype": "path", "font.size": 9})
    drawn = {
        "classes": _against_k(found, scale, "accuracy", "accuracy"),
        "clusters": _against_k(found, scale, "cosine", "mean cosine to the centroid"),
        "delta": _against_delta(found),
        "dimensions": _dimensions(found, scale),
        "times": _times(found),
    }
    for name, figure in drawn.items():
        figure.savefig(folder / f"sparse-{name}.svg", metadata={"Date": None})


def _panels(rows: int, columns: int, width: float, height: float) -> tuple[Any, list[Any]]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, list(figure.subplots(rows, columns).flat)


def _against_k(found: Findings, scale: Scale, field: str, label: str) -> Any:
    names = (*TEXTS, *basket_names(scale.baskets))
    figure, panels = _panels(1, len(names), 14, 3.2)
    for axes, name in zip(panels, names, strict=True):
        axes.axhline(getattr(found.original(name), field), color="grey", label="originals")
        for colour, (reading, style) in enumerate(STYLES.items()):
            some = found.curve(name, reading)
            look = {"color": f"C{colour}", "label": reading, "markersize": 4}
            axes.plot([r.k for r in some], [getattr(r, field) for r in some], style, **look)
        axes.set(title=name, xlabel="k", xscale="log", ylim=(0, None))
        axes.set_xticks(scale.ks, [str(k) for k in scale.ks])
        axes.minorticks_off()
    panels[0].set_ylabel(label)
    panels[0].legend(frameon=False, fontsize=7)
    return figure


def _against_delta(found: Findings) -> Any:
    figure, panels = _panels(1, 2, 10, 3.5)
    name = COUNTS
    for axes, field, number in zip(panels, ("accuracy", "cosine"), (6, 10), strict=True):
        axes.axhline(getattr(found.original(name), field), color="grey", label="originals")
        for reading, label in ((PRINTED, "delta alone"), (DEFAULT, "with the recovery cap and coarse counts")):
            some = found.by_delta(name, reading.name)
            style = STYLES[reading.name]
            axes.plot([r.delta for r in some], [getattr(r, field) for r in some], style, label=label, markersize=4)
        axes.set(title=f"{name} (Fig. {number})", xlabel="delta", ylabel=field, ylim=(0, None))
    panels[0].legend(frameon=False, fontsize=7)
    return figure


def _dimensions(found: Findings, scale: Scale) -> Any:
    figure, panels = _panels(1, 2, 10, 3.5)
    names = [dimension_name(scale.dimensions, g) for g in DIMENSIONS]
    for axes, field, number in zip(panels, ("accuracy", "cosine"), (11, 12), strict=True):
        lines = [(PRINTED, delta, f"delta {delta:g}") for delta in DIMENSION_DELTAS]
        for reading, delta, label in (*lines, (DEFAULT, DEFAULT.delta, "defaults, delta alone")):
            ratios = [
                getattr(next(r for r in found.by_delta(n, reading.name) if r.delta == delta), field)
                / getattr(found.original(n), field)
                for n in names
            ]
            axes.plot(DIMENSIONS, ratios, STYLES[reading.name], label=label, markersize=4)
        axes.set(title=f"{field} (Fig. {number})", xlabel="attributes", ylabel="ratio to the originals", ylim=(0, 1.05))
    panels[0].legend(frameon=False, fontsize=7, loc="lower left")
    return figure


def _times(found: Findings) -> Any:
    figure, panels = _panels(1, 2, 10, 3.5)
    for axes, number, unit, label in zip(
        panels, (13, 14), (1, 1000), ("non-zeros of a record", "thousand records"), strict=True
    ):
        some = found.times(number)
        axes.plot([r.x / unit for r in some], [r.cpu_seconds for r in some], "o-")
        axes.set(title=f"Fig. {number}", xlabel=label, ylabel="CPU seconds, both cores", ylim=(0, None), xlim=(0, None))
    return figure
